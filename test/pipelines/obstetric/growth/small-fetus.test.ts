import { describe, expect, it } from 'vitest';
import { intergrowthSizeAt } from '../../../../pipelines/obstetric/growth/charts.ts';
import { restrictionCriteria } from '../../../../pipelines/obstetric/growth/guideline.ts';
import {
  type Charted,
  chart,
  type GrowthSince,
  isCharted,
} from '../../../../pipelines/obstetric/growth/measure.ts';
import { smallFetus } from '../../../../pipelines/obstetric/growth/small-fetus.ts';
import { createMeasurement } from '../../../../pipelines/obstetric/shared/measurement.ts';
import { renderOutcome } from '../../../../pipelines/result/render/render.ts';

const GA_DAYS = 252;

/** Returns an AC with this z-score, by default at 36+0 weeks, without an interval. */
function abdomen(z: number, gaDays = GA_DAYS): Charted {
  const value = intergrowthSizeAt('ac', gaDays / 7, z) ?? Number.NaN;
  const ac = createMeasurement('ac', value, 'ac-ellipse', { section: 'biometry' });
  const charted = chart(ac, gaDays / 7);
  if (!isCharted(charted)) throw new Error('The AC is not on the chart.');
  return charted;
}

const index = (key: 'umbilical-artery-pi' | 'cerebroplacental-ratio', centile: number) =>
  createMeasurement(key, 1, 'doppler-envelope', {
    section: 'doppler',
    interpretation: centile > 95 ? 'H' : 'N',
    reference: { low: null, high: null, centile, z_score: null, chart: 'c' },
  });
const NORMAL_DOPPLER = [index('umbilical-artery-pi', 50), index('cerebroplacental-ratio', 50)];

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

  it('lists the fall as at its cut-off if another criterion decides the form', () => {
    const { classifications } = fallenBy([45, 60], -2);
    expect(classifications[0]?.value).toBe('late-fgr');
    const outcomes = classifications[0]?.criteria.map(({ name, outcome }) => [name, outcome]);
    expect(Object.fromEntries(outcomes ?? [])).toMatchObject({
      'EFW below centile 3': 'not_available',
      'AC below centile 3': 'met',
      'AC or EFW fallen by more than 50 centile points': 'at_cut_off',
    });
  });
});

describe('a single criterion of growth restriction', () => {
  it.each([
    [32 * 7 - 1, true],
    [32 * 7, false],
  ])('at %i days is one of the early form: %s', (gaDays, early) => {
    const { findings } = smallFetus({
      charted: [abdomen(0, gaDays)],
      gaDays,
      since: { earlier: [], change: null, fall: null, statements: [] },
      datingInDoubt: false,
      measurements: [index('umbilical-artery-pi', 96)],
      classified: [],
      centileText: (centile) => centile.toFixed(0),
    });
    expect(findings).toMatchObject([
      { id: 'growth-restriction-criterion', statement: { params: { early } } },
    ]);
  });

  it.each([
    ['forward', false],
    ['absent', true],
    ['reversed', true],
  ] as const)('is %s end-diastolic flow: %s', (endDiastolicFlow, met) => {
    const unknown = { efwCentile: null, acCentile: null, uaPiCentile: null, utaPiCentile: null };
    const rest = { ...unknown, cprCentile: null, centileFall: null, endDiastolicFlow };
    for (const gaWeeks of [30, 36]) {
      const criteria = restrictionCriteria({ ...rest, gaWeeks });
      expect(criteria.find(({ kind }) => kind === 'flow')).toMatchObject({ met });
      expect(criteria.filter((one) => one.met)).toHaveLength(met ? 1 : 0);
    }
  });
});

describe('a criterion of a small fetus (obstetric 3.9)', () => {
  const classified = (measurements: readonly ReturnType<typeof index>[], flow: string) => {
    const { classifications, data } = smallFetus({
      charted: [abdomen(-1.5)],
      gaDays: GA_DAYS,
      since: { earlier: [], change: null, fall: null, statements: [] },
      datingInDoubt: false,
      measurements,
      classified: [
        {
          id: 'end-diastolic-flow',
          concept: null,
          name: '',
          value: flow,
          scheme: '',
          criteria: [],
        },
      ],
      centileText: (centile) => centile.toFixed(0),
    });
    const criteria = classifications[0]?.criteria ?? [];
    return { data, of: (name: string) => criteria.find((one) => one.name === name) };
  };
  const undecided = { ...index('cerebroplacental-ratio', 6), interpretation: null };

  it('is at its cut-off if the interval of a Doppler index includes it', () => {
    const { of, data } = classified([index('umbilical-artery-pi', 50), undecided], 'forward');
    expect(of('cerebroplacental ratio below centile 5')).toMatchObject({
      value: 'centile 6',
      outcome: 'at_cut_off',
    });
    expect(data.criteria_at_cut_off).toEqual(['cerebroplacental ratio']);
    expect(data.criteria_not_available).not.toContain('cerebroplacental ratio');
  });

  it('is not available if the Doppler index was not measured', () => {
    const { of } = classified([index('umbilical-artery-pi', 50)], 'forward');
    expect(of('cerebroplacental ratio below centile 5')).toMatchObject({
      value: null,
      outcome: 'not_available',
    });
  });

  it('has the end-diastolic flow in words', () => {
    const { of } = classified([index('umbilical-artery-pi', 50)], 'intermittent-absent');
    const value = of(
      'absent or reversed umbilical end-diastolic flow, which counts as a PI above centile 95',
    )?.value;
    const criteria = [{ name: 'flow', value: value ?? null, outcome: 'not_met' as const }];
    const one = { id: 'a', concept: null, name: '', value: '', scheme: '', criteria };
    const outcome = { status: 'complete', reason: null, statements: [] } as const;
    const rendered = renderOutcome('growth', { ...outcome, classifications: [one] });
    expect(rendered.classifications[0]?.criteria[0]?.value).toBe('absent in some beats');
  });
});
