import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Job } from '../../../pipelines/contract/job.ts';
import {
  cartFile,
  dcm,
  echoFindings,
  echoReport,
  ln,
  modifier,
  sct,
  value,
} from '../input/cart-sr/cart-report.ts';

/**
 * Returns a machine's report of a complete adult study of a fictional patient: TID 5200 with codes
 * from TID 5300.
 */
export function adultReport(): Buffer {
  const twoDimensional = sct('399064001', '2D mode');
  const lv = echoFindings(sct('87878005', 'Left ventricle'), twoDimensional, [
    value(ln('29436-3', 'LVIDd'), 48, 'mm'),
    value(ln('29438-9', 'LVIDs'), 3.2, 'cm'),
    value(ln('18154-5', 'IVSd'), 1.4, 'cm'),
    value(ln('18152-9', 'LVPWd'), 1.2, 'cm'),
    value(ln('79996-5', 'LVEDV biplane'), 118, 'ml'),
    value(ln('80001-1', 'LVESV biplane'), 66, 'ml'),
  ]);
  const mitral = echoFindings(sct('91134007', 'Mitral valve'), twoDimensional, [
    value(ln('18037-2', 'E'), 0.9, 'm/s'),
    value(ln('17978-8', 'A'), 60, 'cm/s'),
    value(ln('79911-4', "septal e'"), 5, 'cm/s'),
    value(ln('80054-0', "lateral e'"), 6, 'cm/s'),
  ]);
  const aortic = echoFindings(sct('34202007', 'Aortic Valve'), twoDimensional, [
    value(ln('11726-7', 'Peak Systolic Velocity'), 4.2, 'm/s', [
      modifier(sct('260674002', 'Flow Direction'), sct('263677008', 'Antegrade Flow')),
    ]),
    value(ln('79962-7', 'AV mean gradient'), 44, 'mm[Hg]'),
    value(ln('79965-0', 'AV VTI'), 90, 'cm'),
  ]);
  const right = echoFindings(sct('53085002', 'Right ventricle'), twoDimensional, [
    value(ln('77903-3', 'TAPSE'), 1.6, 'cm'),
    value(ln('79921-3', 'TR Vmax'), 340, 'cm/s'),
    value(ln('79967-6', 'IVC'), 2.4, 'cm'),
    value(ln('18050-5', 'IVC collapse'), 20, '%'),
    value(ln('80075-5', 'RA area'), 21, 'cm2'),
  ]);
  const outflow = echoFindings(sct('13418002', 'LVOT'), twoDimensional, [
    value(ln('80028-4', 'LVOT diameter'), 2.0, 'cm'),
    value(ln('80030-0', 'LVOT VTI'), 20, 'cm'),
    value(dcm('125202', 'LV Wall Motion Score Index'), 1.5, '1'),
    value(ln('79983-3', 'LA volume'), 70, 'ml'),
  ]);
  return cartFile(echoReport(lv, mitral, aortic, right, outflow));
}

/** Creates a work folder with these files and a job for the echo endpoint. */
export async function workFolder(
  files: Readonly<Record<string, Buffer>>,
  given: Partial<Pick<Job, 'options' | 'clinicalContext'>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'echo-'));
  await mkdir(join(folder, 'files'));
  await mkdir(join(folder, 'artifacts'));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, 'files', name), content);
  }
  const job: Job = {
    endpoint: 'us/echo/interpret',
    version: '1.0.0',
    files: Object.keys(files),
    priorFiles: [],
    options: given.options ?? {},
    clinicalContext: given.clinicalContext ?? {},
    models: { allow: 'permissive', provider: 'cpu', threads: 1 },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  return folder;
}
