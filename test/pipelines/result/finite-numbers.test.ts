import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resultSchema } from '../../../pipelines/result/envelope.ts';
import { sectionOf } from '../../../pipelines/result/render/render.ts';
import { RESULT } from '../artifacts/example-result.ts';
import { run, spectrum } from '../obstetric/doppler/doppler-sample.ts';

type Path = readonly (string | number)[];

/** Returns the paths of all numbers in a value. */
function numbersIn(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'number') return [path];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, part]) => numbersIn(part, [...path, key]));
}

function replaced(value: unknown, [key, ...rest]: Path, by: number): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((part, i) => (i === key ? replaced(part, rest, by) : part));
  }
  const record: Record<string, unknown> = { ...(value as object) };
  return { ...record, [key]: replaced(record[key], rest, by) };
}

const NOT_FINITE = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

describe('a result', () => {
  const [first, ...others] = RESULT.sections;
  const data = { area: 12.5, curve: [{ at: 0, areas: [1, 2] }], none: null };
  const result = { ...RESULT, sections: [{ ...first, data }, ...others] };

  it('with a number that JSON cannot represent is refused, wherever the number is', () => {
    const places = numbersIn(result);
    expect(places).toContainEqual(['sections', 0, 'data', 'curve', 0, 'areas', 1]);
    expect(resultSchema.safeParse(result).success).toBe(true);
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.constantFrom(...NOT_FINITE), (place, number) => {
        expect(resultSchema.safeParse(replaced(result, place, number)).success).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  it("contains null wherever a section's data have no finite number", () => {
    const { data: kept } = sectionOf(
      { id: 'lvef', title: 'LVEF' },
      {
        status: 'complete',
        reason: null,
        statements: [],
        summary: '',
        data: { ratio: 1 / 0, curve: [{ at: 3, area: Number.NaN }], kept: 'Infinity' },
        findings: [],
        measurements: [],
        classifications: [],
        guidance: [],
      },
    );
    expect(kept).toEqual({ ratio: null, curve: [{ at: 3, area: null }], kept: 'Infinity' });
  });
});

describe('Doppler indices of any velocities', () => {
  const velocity = fc.oneof(
    fc.constantFrom(0, -0, Number.MIN_VALUE, -Number.MIN_VALUE),
    fc.double({ min: -300, max: 300, noNaN: true }),
  );

  it('are finite, and without end-diastolic flow there is a finding instead of an S/D', () => {
    fc.assert(
      fc.property(velocity, velocity, velocity, (psv, edv, tamx) => {
        const { measurements, findings } = run([spectrum('umbilical-artery', { psv, edv, tamx })]);
        const values = measurements ?? [];
        expect(
          JSON.parse(JSON.stringify(values)).map(({ value }: { value: unknown }) => value),
        ).toEqual(values.map(({ value }) => (Object.is(value, -0) ? 0 : value)));
        if (edv > 0) return;
        expect(values.some(({ concept }) => concept.key === 'umbilical-artery-sd')).toBe(false);
        const codes = (findings ?? []).map(({ concept }) => concept?.key);
        if (values.length > 0) expect(codes).toContain('end-diastolic-flow');
      }),
    );
  });
});
