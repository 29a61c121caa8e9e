import { describe, expect, it } from 'vitest';
import { intergrowthSizeAt } from '../../../../pipelines/obstetric/growth/charts.ts';
import {
  type Charted,
  chart,
  type GrowthSince,
  isCharted,
} from '../../../../pipelines/obstetric/growth/measure.ts';
import { smallFetus } from '../../../../pipelines/obstetric/growth/small-fetus.ts';
import { createMeasurement } from '../../../../pipelines/obstetric/shared/measurement.ts';

const GA_DAYS = 252;

/** Returns an AC with this z-score at 36+0 weeks, without an interval. */
function abdomen(z: number): Charted {
  const value = intergrowthSizeAt('ac', GA_DAYS / 7, z) ?? Number.NaN;
  const ac = createMeasurement('ac', value, 'ac-ellipse', { section: 'biometry' });
  const charted = chart(ac, GA_DAYS / 7);
  if (!isCharted(charted)) throw new Error('The AC is not on the chart.');
  return charted;
}

/** Normal Doppler indices. */
const NORMAL_DOPPLER = (['umbilical-artery-pi', 'cerebroplacental-ratio'] as const).map((key) =>
  createMeasurement(key, 1, 'doppler-envelope', {
    section: 'doppler',
    interpretation: 'N',
    reference: { low: null, high: null, centile: 50, z_score: 0, chart: 'c' },
  }),
);

/** Assesses an AC after a fall of its centile whose interval ends at these points. */
function fallenBy(ends: readonly [least: number, most: number], z = -1.5) {
  const now = abdomen(z);
  const [atLeast, atMost] = ends.map((points) => points > 50);
  const fall: GrowthSince['fall'] = {
    ...{ key: 'ac', points: (ends[0] + ends[1]) / 2, ends, daysBefore: 28, before: now, now },
    crosses: atLeast === atMost ? atLeast === true : null,
  };
  return smallFetus({
    charted: [now],
    gaDays: GA_DAYS,
    since: { earlier: [], change: null, fall, statements: [] },
    datingInDoubt: false,
    measurements: NORMAL_DOPPLER,
    classified: [],
    centileText: (centile) => centile.toFixed(0),
  });
}

const formOf = ({ data: { form, form_between } }: ReturnType<typeof smallFetus>) =>
  form ?? form_between;

describe('a small fetus with normal Doppler and a fall of its centile (obstetric 3.9)', () => {
  it.each([
    [[30, 50], 'sga-not-fgr'],
    [
      [30, 51],
      ['late-fgr', 'sga-not-fgr'],
    ],
    [
      [50, 70],
      ['late-fgr', 'sga-not-fgr'],
    ],
    [[51, 70], 'late-fgr'],
  ] as const)('by %j points: %j', (ends, form) => {
    expect(formOf(fallenBy(ends))).toEqual(form);
  });

  it('has no category while the fall may meet the criterion, but says so', () => {
    const { classifications, findings, guidance, data } = fallenBy([45, 60]);
    expect([...classifications, ...findings]).toEqual([]);
    expect(data.criteria_at_cut_off).toEqual(['growth since an earlier scan']);
    expect(guidance[0]?.statements?.[0]?.params).toMatchObject({
      form: 'sga-not-fgr',
      sizeIsOpen: false,
      fallIsOpen: true,
    });
  });
});
