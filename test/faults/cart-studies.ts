import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { derivedUid, writeUltrasound } from '../../models/phantom/dicom.ts';
import { simulateFrame } from '../../models/phantom/frame.ts';
import { sizesAt } from '../../models/phantom/sizes.ts';
import { decodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { PATIENT } from '../gateway/phantom.ts';

export interface CartObject {
  path: string;
  sopInstanceUid: string;
  studyUid: string;
  /**
   * Digest of the data set only, because the data set must be found again in whichever file
   * contains it.
   */
  dataSetSha256: string;
}

export interface CartStudies {
  studies: CartObject[][];
  remove(): Promise<void>;
}

const PLANES = ['transthalamic', 'abdominal'] as const;

/**
 * Writes small studies of one patient, each with two stills, which is enough for a report and for
 * an SR document.
 */
export async function cartStudies(label: string, count: number): Promise<CartStudies> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-cart-'));
  const sizes = sizesAt(168);
  const frames = PLANES.map((plane, n) => simulateFrame({ plane, sizes, seed: 11 + n }));
  const studies: CartObject[][] = [];
  for (let study = 0; study < count; study += 1) {
    const objects: CartObject[] = [];
    for (const [index, frame] of frames.entries()) {
      const name = `${label} ${study} ${index}`;
      const studyUid = derivedUid(`${label} ${study}`);
      const bytes = await writeUltrasound(
        [frame],
        {
          ...PATIENT,
          patientAge: '032Y',
          patientSizeMetres: 1.68,
          patientWeightKg: 70,
          lastMenstrualDate: '20250731',
          studyInstanceUid: studyUid,
          seriesInstanceUid: derivedUid(`${label} ${study} series`),
          studyId: String(study),
          studyDate: '20260115',
          studyTime: '101500',
          accessionNumber: `ACC${study}`,
          studyDescription: 'Obstetric ultrasound',
        },
        {
          sopInstanceUid: derivedUid(name),
          instanceNumber: index + 1,
          encoding: { compression: 'native', colour: 'grey' },
        },
      );
      const path = join(folder, `${study}-${index}.dcm`);
      await writeFile(path, bytes);
      objects.push({
        path,
        sopInstanceUid: derivedUid(name),
        studyUid,
        dataSetSha256: await dataSetSha256(path),
      });
    }
    studies.push(objects);
  }
  return { studies, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Returns the SHA-256 of the data set, which follows the file meta information. */
export async function dataSetSha256(path: string): Promise<string> {
  const file = await readFile(path);
  const { dataSetOffset } = decodeFileMeta(file);
  return createHash('sha256').update(file.subarray(dataSetOffset)).digest('hex');
}
