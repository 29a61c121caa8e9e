import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { simulateObstetricStudy } from '../../../models/phantom/study.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { interpret } from '../../../src/app/cli/interpret.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { measurementOf, sectionOf } from './evidence-sample.ts';

describe('npx sonogate interpret on a phantom study with known sizes', () => {
  const gaDays = 196;
  let result: Result;
  let sizes: Record<'hcMm' | 'acMm' | 'flMm', number>;
  let out: string;

  beforeAll(async () => {
    const { files, truth } = await simulateObstetricStudy({ seed: 3, gaDays });
    const folder = await temporaryFolder();
    await Promise.all(files.map(({ name, bytes }) => writeFile(join(folder, name), bytes)));
    out = join(folder, 'out');
    sizes = truth.sizes as typeof sizes;
    expect(await interpret('us/obstetric', [folder], { gaDays, out })).toBe(0);
    result = resultSchema.parse(JSON.parse(await readFile(join(out, 'result.json'), 'utf8')));
  });

  it.each([
    ['hc', 'hcMm', 0.03],
    ['ac', 'acMm', 0.08],
    ['fl', 'flMm', 0.06],
  ] as const)('%s is measured near its true size', (key, size, share) => {
    const measured = measurementOf(result, key).value;
    expect(Math.abs(measured / sizes[size] - 1)).toBeLessThan(share);
  });

  it('calculates age, weight and centiles from them', () => {
    expect(measurementOf(result, 'ga-by-hc-ac-fl').value).toBeGreaterThan(gaDays - 21);
    expect(measurementOf(result, 'ga-by-hc-ac-fl').value).toBeLessThan(gaDays + 21);
    expect(measurementOf(result, 'efw').reference?.chart).toBe('intergrowth-2020-efw');
    // The interval of the weight contains the 10th centile.
    expect(sectionOf(result, 'growth')).toMatchObject({
      status: 'partial',
      reason: { code: 'at_cut_off' },
    });
  });

  it('lists the models that ran, with licence and checksum', async () => {
    const ids = result.models.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['fetal-plane', 'fetal-head', 'fetal-femur']));
    // The study has no transperineal image.
    expect(ids).not.toContain('symphysis-head');
    for (const { sha256, licence } of result.models) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(licence).not.toBe('');
    }
  });

  it('writes the FHIR bundle next to the documents', async () => {
    const bundle = JSON.parse(await readFile(join(out, 'artifacts/fhir-bundle.json'), 'utf8'));
    expect(bundle).toMatchObject({ resourceType: 'Bundle', type: 'transaction' });
  });

  it('contains no identity of the phantom', async () => {
    const text = await readFile(join(out, 'result.json'), 'utf8');
    expect(text).not.toMatch(/PatientName|phantom\^|20260115|20250703/i);
  });
});
