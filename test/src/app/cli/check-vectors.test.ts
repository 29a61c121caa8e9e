import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkVectors } from '../../../../src/app/cli/check-vectors.ts';
import { UsageError } from '../../../../src/app/cli/exit-status.ts';

const REFERENCES = [
  { name: 'obstetric', path: '../shared/reference/obstetric-checks.json', vectors: 316 },
  { name: 'echo', path: '../shared/reference/echo-checks.json', vectors: 231 },
];
for (const { path } of REFERENCES) {
  if (!existsSync(path)) console.warn(`${path} is absent: its vectors are not checked`);
}

async function check(...vectors: object[]) {
  const folder = await mkdtemp(join(tmpdir(), 'vectors-'));
  const path = join(folder, 'checks.json');
  await writeFile(path, JSON.stringify(vectors));
  return checkVectors(path);
}

const INFLOW = { eOverA: 1.2, eCmS: 80, trVmaxMS: 2.5 };

const vector = {
  id: 'v1',
  formula: 'cpr',
  inputs: { mcaPi: 1.8, uaPi: 1 },
  expected: 1.8,
  tolerance: 1e-9,
};

describe('check-vectors', () => {
  it('accepts a vector within its tolerance and rejects one outside', async () => {
    expect(await check(vector, { ...vector, expected: 1.9, tolerance: 0.1000001 })).toMatchObject({
      passed: 2,
      failed: 0,
    });
    const { failed, lines } = await check({ ...vector, expected: 1.9, tolerance: 0.01 });
    expect(failed).toBe(1);
    expect(lines[0]).toMatch(/^v1: cpr returned 1\.8, expected 1\.9/);
  });

  it.each([
    ['{', 'is not JSON'],
    ['{}', 'is not a list of test vectors: /: Invalid input: expected array, received object'],
    ['[{}]', 'is not a list of test vectors: /0/id: '],
  ])('refuses a file with %s as an invalid argument, by its name', async (text, said) => {
    const path = join(await mkdtemp(join(tmpdir(), 'vectors-')), 'checks.json');
    await writeFile(path, text);
    const refused = checkVectors(path);
    await expect(refused).rejects.toBeInstanceOf(UsageError);
    await expect(refused).rejects.toThrow(`${path} ${said}`);
  });

  it('rejects an unknown formula, a missing input, and an input of another kind', async () => {
    const { failed, lines } = await check(
      { ...vector, formula: 'toString' },
      { ...vector, inputs: { mcaPi: 1.8 } },
      { ...vector, inputs: { mcaPi: 1.8, uaPi: 'one' } },
    );
    expect(failed).toBe(3);
    expect(lines.join('\n')).toMatch(
      /unknown formula "toString"[\s\S]*uaPi is missing[\s\S]*is not a number/,
    );
  });

  it('rejects an input that the formula does not have', async () => {
    const { failed, lines } = await check({ ...vector, inputs: { ...vector.inputs, sex: 'F' } });
    expect(failed).toBe(1);
    expect(lines[0]).toBe('v1: cpr does not use input sex');
  });

  it.each<[string, object, unknown]>([
    ['doppler_indices', { psv: 40, edv: 10, out: 'SD' }, 4],
    ['intergrowth_ua_zscore', { index: 'SD', gaWeeks: 30, value: 2.9 }, 0.1],
    ['mari2000_mca_psv_median_table_cm_s', { gaWeeks: 24, interpolation: 'ln' }, 30.7],
    [
      'diastolic.ase2016.algorithmB',
      { ...INFLOW, eOverEprimeAverage: 16, lvefReduced: true, pulmonaryVeinSD: 0.8 },
      'grade II, elevated LAP',
    ],
    [
      'diastolic.ase2025.lap',
      { ...INFLOW, septalEprimeCmS: 5, lateralEprimeCmS: 6, pulmonaryVeinSD: 0.5 },
      'grade 2, elevated LAP',
    ],
  ])('accepts the alternative names of inputs for %s', async (formula, inputs, expected) => {
    const tolerance = typeof expected === 'number' ? 1 : 'exact';
    const { lines } = await check({ ...vector, formula, inputs, expected, tolerance });
    expect(lines).toEqual([]);
  });

  it('compares words exactly', async () => {
    const size = { ...vector, formula: 'size_category', inputs: { efwCentile: 9.999 } };
    expect(await check({ ...size, expected: 'sga', tolerance: 'exact' })).toMatchObject({
      failed: 0,
    });
    expect(await check({ ...size, expected: 'aga', tolerance: 'exact' })).toMatchObject({
      failed: 1,
    });
  });

  it.each(REFERENCES.filter(({ path }) => existsSync(path)))(
    'agrees with every vector of the $name reference',
    async ({ path, vectors }) => {
      const { passed, lines } = await checkVectors(path);
      expect(lines).toEqual([]);
      expect(passed).toBe(vectors);
    },
  );

  it('compares lists and truth values', async () => {
    const territory = {
      ...vector,
      formula: 'segments.territory.aha2002',
      inputs: { artery: 'LCx' },
      tolerance: 'exact',
    };
    expect(await check({ ...territory, expected: [5, 6, 11, 12, 16] })).toMatchObject({
      failed: 0,
    });
    expect(await check({ ...territory, expected: [5, 6, 11, 12] })).toMatchObject({ failed: 1 });
    const sparing = { ...territory, formula: 'relaps.apicalSparing', inputs: { relaps: 1 } };
    expect(await check({ ...sparing, expected: true })).toMatchObject({ failed: 0 });
    expect(await check({ ...sparing, expected: false })).toMatchObject({ failed: 1 });
  });
});
