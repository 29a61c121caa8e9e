import { expect, it } from 'vitest';
import { rounded } from '../../../../pipelines/measure/rounding.ts';
import type { Measurement, Result } from '../../../../pipelines/result/envelope.ts';
import { weeksAndDays } from '../../../../pipelines/result/render/obstetric/shared.ts';
import { renderStatement } from '../../../../pipelines/result/render/render.ts';
import type { Statement } from '../../../../pipelines/result/statement.ts';
import { interpreted } from '../../echo/interpret-sample.ts';
import { interpretReadings, MEDIAN_28_WEEKS } from '../../obstetric/evidence-sample.ts';

/** Matches a number in a sentence: `-1.5`, `28+3`. */
const NUMBER = /(?<![\w.])-?\d+(?:[.+]\d+)*/g;
const numbersIn = (text: string): string[] => text.match(NUMBER) ?? [];

const shifted = (value: number | null) => (value === null ? null : value * 1.137 + 0.0371);

/**
 * Returns the measurement with every number changed, so that a sentence about it shows other
 * values.
 */
function changed(one: Measurement): Measurement {
  const { reference } = one;
  return {
    ...one,
    value: one.value * 1.137 + 0.0371,
    uncertainty: shifted(one.uncertainty),
    reference: reference && {
      ...reference,
      low: shifted(reference.low),
      high: shifted(reference.high),
      centile: shifted(reference.centile),
      z_score: shifted(reference.z_score),
    },
  };
}

/**
 * Returns true if a number belongs to a measurement, in the unit of its concept or in ten times
 * that unit.
 */
function isOf({ value, uncertainty, reference }: Measurement, printed: string): boolean {
  const numbers = [value, uncertainty, ...Object.values(reference ?? {})];
  const decimals = printed.split('.')[1]?.length ?? 0;
  return numbers.some(
    (one) =>
      typeof one === 'number' &&
      (weeksAndDays(one) === printed ||
        [one, one / 10, one * 10].some((v) => rounded(v, decimals) === Number(printed))),
  );
}

const statementsIn = (result: Result): Statement[] => [
  ...result.sections.flatMap(({ statements = [] }) => statements),
  ...result.findings.flatMap(({ statement }) => statement ?? []),
  ...result.guidance.flatMap(({ statement }) => statement ?? []),
];

/**
 * Returns the numbers in a statement that change when measurements change, but belong to none of
 * those that it cites.
 */
function unsupported(statement: Statement, measurements: readonly Measurement[]): string[] {
  const of = (some: readonly Measurement[]) => new Map(some.map((one) => [one.id, one]));
  const fixed = new Set(numbersIn(renderStatement(statement, of(measurements.map(changed)))));
  const about = measurements.filter(({ id }) => statement.about.includes(id));
  return numbersIn(renderStatement(statement, of(measurements))).filter(
    (printed) => !fixed.has(printed) && !about.some((one) => isOf(one, printed)),
  );
}

const ECHO_VALUES = {
  'av-vmax': 420,
  'av-mean-gradient': 44,
  'tr-vmax': 340,
  'ivc-diameter': 24,
  tapse: 16,
  'lvef-biplane': 44,
  'mitral-e': 90,
  'mitral-a': 60,
} as const;

it.each([
  [
    'obstetric',
    () => interpretReadings({ readings: MEDIAN_28_WEEKS(), options: { dating: { ga_days: 196 } } }),
  ],
  ['echo', () => interpreted(ECHO_VALUES).result],
] as const)(
  '%s: every number in a statement is a value that the statement is about',
  (_, study) => {
    const result = study();
    const statements = statementsIn(result);
    expect(statements.length).toBeGreaterThan(3);
    const found = statements.flatMap((one) =>
      unsupported(one, result.measurements).map((number) => `${number} in ${one.code}`),
    );
    expect(found).toEqual([]);
  },
);
