import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DiagnosticReport, Observation } from '@medplum/fhirtypes';
import { describe, expect, it } from 'vitest';
import { buildAnonymousBundle } from '../../../fhir/resources/bundle.ts';
import type { ContentItem } from '../../../pipelines/artifacts/sr/content-item.ts';
import { TRANSLATE_ENDPOINT } from '../../../pipelines/contract/translate.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { pipeline } from '../../../pipelines/translate/pipeline.ts';
import {
  biometryGroup,
  cartFile,
  echoFindings,
  echoReport,
  fetalBiometry,
  fetus,
  ln,
  obstetricReport,
  sct,
  value,
} from '../input/cart-sr/cart-report.ts';
import { onDisk } from '../input/on-disk.ts';

const HC = ln('11984-2', 'Head Circumference');
const LVEF = ln('18043-0', 'Left Ventricular Ejection Fraction');
const REAL = '../shared/data/sr';

async function translate(paths: readonly string[]) {
  const folder = join(dirname(paths[0] ?? ''), `job-${Math.random().toString(36).slice(2)}`);
  await mkdir(join(folder, 'files'), { recursive: true });
  const files = paths.map((_, index) => `object-${index + 1}.dcm`);
  for (const [index, path] of paths.entries()) {
    await copyFile(path, join(folder, 'files', files[index] ?? ''));
  }
  const job = {
    endpoint: TRANSLATE_ENDPOINT,
    version: '1.0.0',
    files,
    priorFiles: [],
    options: {},
    clinicalContext: {},
    models: { allow: 'all', provider: 'cpu', threads: 1 },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  const end = await pipeline(folder, () => {}, new AbortController().signal);
  if (end.type === 'rejected') return end;
  return resultSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));
}

const reportOf = async (...trees: ContentItem[]): Promise<Result> => {
  const named = Object.fromEntries(trees.map((tree, index) => [`${index}.dcm`, cartFile(tree)]));
  const result = await translate((await onDisk(named)).map(({ path }) => path));
  if ('type' in result) throw new Error(result.detail);
  return result;
};

const bundleOf = (result: Result) => {
  const { entry = [] } = buildAnonymousBundle(result, {
    requestId: 'req_1',
    identity: null,
    instances: [],
    dating: null,
  });
  const resources = entry.flatMap(({ resource }) => resource ?? []);
  const report = resources.find((one) => one.resourceType === 'DiagnosticReport');
  const observations = resources.filter((one) => one.resourceType === 'Observation');
  return { report: report as DiagnosticReport, observations: observations as Observation[] };
};

describe('the report of a machine', () => {
  it('becomes Observations with its values, separately for each fetus, without any model', async () => {
    const result = await reportOf(
      obstetricReport(
        fetalBiometry(...fetus('A'), biometryGroup(value(HC, 265, 'mm'))),
        fetalBiometry(...fetus('B'), biometryGroup(value(HC, 250, 'mm'))),
      ),
    );
    expect(result.models).toEqual([]);
    const { report, observations } = bundleOf(result);
    const values = observations.filter(({ valueQuantity }) => valueQuantity);
    expect(
      values.map(({ valueQuantity, code }) => [valueQuantity?.value, code.coding?.[0]?.code]),
    ).toEqual([
      [265, '11984-2'],
      [250, '11984-2'],
    ]);
    expect(report).toMatchObject({
      status: 'preliminary',
      conclusion:
        'Values of the structured report of the ultrasound machine, not reviewed: 2; withheld as implausible: 0.',
    });
    // No AI asserted any of these values.
    expect(JSON.stringify([report, observations])).not.toMatch(/AIAST|AI draft/);
  });

  it("keeps a quantity that is not in our table, with the machine's code and unit", async () => {
    const odd = { scheme: '99PHANTOM', code: 'x-17', meaning: 'Odd index' };
    const result = await reportOf(
      echoReport(
        echoFindings(sct('87878005'), sct('399064001'), [
          value(LVEF, 61, '%'),
          value(odd, 3.2, '1'),
        ]),
      ),
    );
    const named = result.measurements.map(({ label, value: number, origin }) => [
      label,
      number,
      origin,
    ]);
    expect(named).toContainEqual(['Odd index', 3.2, 'machine']);
    expect(result.measurements.map(({ value: number }) => number)).toContain(61);
  });

  it('withholds an impossible value, which is stated', async () => {
    const result = await reportOf(
      obstetricReport(fetalBiometry(biometryGroup(value(HC, 26_500, 'mm')))),
    );
    const { report, observations } = bundleOf(result);
    expect(report.conclusion).toMatch(/not reviewed: 0; withheld as implausible: 1/);
    expect(observations.some(({ valueQuantity }) => valueQuantity)).toBe(false);
  });

  it('is refused if it has no value', async () => {
    const [{ path } = { path: '' }] = await onDisk({ 'a.dcm': cartFile(obstetricReport()) });
    expect(await translate([path])).toMatchObject({ type: 'rejected', code: 'no_machine_report' });
  });

  it.skipIf(!existsSync(REAL))(
    'of another modality is refused with its reason: real CT and PET reports',
    async () => {
      const ended = await translate([`${REAL}/sr-tid1500-petct.dcm`, `${REAL}/sr_document.dcm`]);
      expect(ended).toMatchObject({
        type: 'rejected',
        detail: expect.stringContaining('not of ultrasound images'),
      });
    },
  );
});
