import { describe, expect, it } from 'vitest';
import { centileOf, zOf } from '../../../../pipelines/measure/statistics.ts';
import {
  INTERGROWTH_WEIGHT_2017,
  INTERGROWTH_WEIGHT_2020,
  type IntergrowthMeasure,
  intergrowthSize,
  intergrowthSizeAt,
  intergrowthSizeZ,
  intergrowthWeightAt,
  intergrowthWeightZ,
} from '../../../../pipelines/obstetric/growth/charts.ts';
import { chart } from '../../../../pipelines/obstetric/growth/measure.ts';
import { whoCentile, whoQuantile } from '../../../../pipelines/obstetric/growth/other-charts.ts';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';

const MEASURES: readonly IntergrowthMeasure[] = ['hc', 'bpd', 'ofd', 'ac', 'fl'];

describe('INTERGROWTH-21st size (Papageorghiou 2014)', () => {
  it.each([
    ['hc', 31.428571, 280, -1.05456],
    ['bpd', 20, 47, -0.629146],
    ['ofd', 24, 75, -0.711369],
    ['ac', 36, 290, -1.34122],
    ['fl', 33.142857, 66, 1.8035],
  ] as const)('%s at %f weeks: %f mm is z %f', (measure, weeks, mm, z) => {
    expect(intergrowthSizeZ(measure, weeks, mm)).toBeCloseTo(z, 4);
  });

  it('takes exact, not completed weeks: 27+6 is 8 mm of HC above 27+0', () => {
    const exact = intergrowthSizeAt('hc', 195 / 7, 0) ?? 0;
    const completed = intergrowthSizeAt('hc', 27, 0) ?? 0;
    expect(exact - completed).toBeGreaterThan(7);
  });

  it.each(MEASURES)('%s has no value at 13+6 and at 40+1, and one at both ends', (measure) => {
    expect(intergrowthSize(measure, 97 / 7)).toBeNull();
    expect(intergrowthSize(measure, 14)).not.toBeNull();
    expect(intergrowthSize(measure, 40)).not.toBeNull();
    expect(intergrowthSize(measure, 281 / 7)).toBeNull();
  });

  it.each(MEASURES)(
    '%s grows with age and with centile, and its z-score can be inverted',
    (measure) => {
      let before = 0;
      for (let days = 98; days <= 280; days += 1) {
        const values = [3, 10, 50, 90, 97].map(
          (centile) => intergrowthSizeAt(measure, days / 7, zOf(centile)) ?? Number.NaN,
        );
        expect(values.toSorted((a, b) => a - b)).toEqual(values);
        expect(values[2]).toBeGreaterThan(before);
        before = values[2] ?? 0;
        const z = intergrowthSizeZ(measure, days / 7, values[0] ?? 0) ?? 0;
        expect(intergrowthSizeAt(measure, days / 7, z)).toBeCloseTo(values[0] ?? 0, 9);
      }
    },
  );
});

describe('INTERGROWTH-21st weight', () => {
  it('2017 and 2020 are two standards: 40 g apart in the median at 32 weeks', () => {
    const older = intergrowthWeightAt(INTERGROWTH_WEIGHT_2017, 32, 0) ?? 0;
    const newer = intergrowthWeightAt(INTERGROWTH_WEIGHT_2020, 32, 0) ?? 0;
    expect(newer - older).toBeCloseTo(40, 0);
  });

  it.each([
    [INTERGROWTH_WEIGHT_2017, 22, 40],
    [INTERGROWTH_WEIGHT_2020, 18, 41],
  ])('returns the value from its z-score, but only within its weeks', (standard, from, to) => {
    for (let weeks = from; weeks <= to; weeks += 0.5) {
      for (const z of [-2.5, -1, 0, 1.3, 2.5]) {
        const grams = intergrowthWeightAt(standard, weeks, z) ?? Number.NaN;
        expect(intergrowthWeightZ(standard, weeks, grams)).toBeCloseTo(z, 8);
      }
    }
    expect(intergrowthWeightZ(standard, from - 1 / 7, 500)).toBeNull();
    expect(intergrowthWeightZ(standard, to + 1 / 7, 3500)).toBeNull();
  });

  it('has no z-score for a weight of 0 g', () => {
    expect(intergrowthWeightZ(INTERGROWTH_WEIGHT_2020, 30, 0)).toBeNull();
    expect(intergrowthWeightZ(INTERGROWTH_WEIGHT_2020, 30, Number.NaN)).toBeNull();
  });
});

describe('WHO 2017', () => {
  const LEVELS = [0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975];

  it.each(['efw', 'hc', 'ac', 'bpd', 'fl', 'hl'] as const)(
    'quantiles of %s never cross from 14 to 40 weeks',
    (measure) => {
      for (let days = 98; days <= 280; days += 1) {
        const curve = LEVELS.map((level) => whoQuantile(measure, days / 7, level) ?? Number.NaN);
        expect(curve.toSorted((a, b) => a - b)).toEqual(curve);
      }
    },
  );

  it('returns for a quantile its own centile and z-score', () => {
    const tenth = whoQuantile('efw', 30, 0.1) ?? Number.NaN;
    const found = whoCentile('efw', 30, tenth);
    expect(found?.centile).toBeCloseTo(10, 9);
    expect(centileOf(found?.z ?? Number.NaN)).toBeCloseTo(10, 9);
  });

  it('returns nothing beyond its last quantile or its weeks', () => {
    expect(whoCentile('efw', 30, 200)).toBeNull();
    expect(whoCentile('efw', 30, 9000)).toBeNull();
    expect(whoCentile('efw', 40.2, 3500)).toBeNull();
  });
});

describe('a weight with its interval', () => {
  const weight = (value: number, uncertainty: number) =>
    ({
      concept: { key: 'efw' },
      method: 'hadlock-1985-efw-hc-ac-fl',
      value,
      uncertainty,
    }) as Measurement;

  it('has the z-scores of the ends of its interval', () => {
    const charted = chart(weight(1500, 225), 30);
    expect(charted).toMatchObject({
      ends: [
        intergrowthWeightZ(INTERGROWTH_WEIGHT_2020, 30, 1275),
        intergrowthWeightZ(INTERGROWTH_WEIGHT_2020, 30, 1725),
      ],
    });
  });

  it('has no category if one end cannot be charted', () => {
    const charted = chart(weight(1500, 1500), 30);
    expect(charted).toMatchObject({ ends: [Number.NEGATIVE_INFINITY, expect.any(Number)] });
    expect(charted).toMatchObject({ interpretation: null });
  });
});
