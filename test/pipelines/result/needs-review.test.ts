import { describe, expect, it } from 'vitest';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { NO_FRAME } from '../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../pipelines/result/measurement.ts';
import { reviewOf, withReview } from '../../../pipelines/result/needs-review.ts';
import { sayOfRun } from '../../../pipelines/result/render/shared.ts';
import type { SectionOutcome } from '../../../pipelines/result/section-outcome.ts';

const SETTING = {
  accept: 'real',
  gaDays: 224,
  models: new Set(['fetal-head', 'fetal-abdomen', 'uterine-structures']),
} as const;

const pocket = createMeasurement(
  'deepest-vertical-pocket',
  'deepest-vertical-pocket',
  62,
  'vertical-pocket',
  { section: 'amniotic-fluid' },
);
const abdomen = (mm: number) =>
  createMeasurement('ac', 'ac', mm, 'ac-ellipse', { section: 'biometry' });
const weight = createMeasurement('efw', 'efw', 1700, 'hadlock-1985-efw-ac-fl', {
  section: 'biometry',
  inputs: ['ac', 'fl'],
});
const ofMachine = createMeasurement(
  'deepest-vertical-pocket',
  'deepest-vertical-pocket',
  58,
  'cart-sr',
  {
    section: 'amniotic-fluid',
    source: { ...NO_FRAME, provenance: 'cart-sr' },
  },
);

const nothing: SectionOutcome = {
  status: 'not_assessed',
  reason: { code: 'view_missing', gaps: [sayOfRun.gap('run.mock', {})], needs: ['a view'] },
  statements: [sayOfRun.gap('run.mock', {})],
};
const outcome = (...measurements: Measurement[]): SectionOutcome => ({
  status: 'complete',
  reason: null,
  statements: [sayOfRun.value('run.mock', {}, measurements)],
  measurements,
  findings: [
    {
      id: 'a-finding',
      concept: null,
      statement: sayOfRun.conclusion('run.mock', {}, measurements),
      severity: 'critical',
      confidence: null,
      evidence: measurements.map(({ id }) => id),
    },
  ],
  classifications: [
    {
      id: 'a-category',
      concept: null,
      name: 'n',
      value: 'v',
      scheme: 's',
      criteria: [],
    },
  ],
  guidance: [{ id: 'advice', statement: sayOfRun.advice('run.mock', {}), source: 's' }],
});

const joined = (counting: SectionOutcome, whole: SectionOutcome) => {
  const [one] = withReview([whole], [counting], SETTING);
  if (!one) throw new Error('no outcome');
  return one;
};

describe('why a value needs a review', () => {
  it.each([
    ['shown on simulated images only', pocket, 'simulated-only'],
    ['shown on real images', abdomen(262), null],
    ['a size outside those of the evidence', abdomen(110), 'outside-domain'],
    ['from the report of the machine', ofMachine, null],
    ['given with the request', { ...pocket, origin: 'request' as const }, null],
    ['confirmed by a person', { ...pocket, origin: 'person' as const }, null],
    ['by a method without an entry', weight, 'no-evidence'],
  ] as const)('%s', (_, one, reason) => {
    expect(reviewOf(one, SETTING)).toBe(reason);
  });

  it('is null in the research setting', () => {
    expect(reviewOf(pocket, { ...SETTING, accept: 'simulated' })).toBeNull();
  });
});

describe('a section whose values need a review', () => {
  it('concludes nothing, and lists the values as proposals with the reason', () => {
    const one = joined(nothing, outcome(pocket));
    expect(one).toMatchObject({
      status: 'not_assessed',
      reason: { code: 'needs_review' },
      measurements: [
        {
          id: 'deepest-vertical-pocket',
          quality: 'review',
          standing: 'proposed',
          reference: null,
          interpretation: null,
          remarks: [{ code: 'value.needs-review', params: { reason: 'simulated-only' } }],
        },
      ],
    });
    expect(one.statements).toEqual([
      sayOfRun.gap('run.needs-review', { reason: 'simulated-only' }, [pocket]),
    ]);
    expect([one.findings, one.classifications, one.guidance]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('does not repeat that there is no view, because the images show one', () => {
    expect(joined(nothing, outcome(pocket)).statements.map(({ code }) => code)).not.toContain(
      'run.mock',
    );
  });

  it("uses the machine's value, and proposes ours next to it under another id", () => {
    const one = joined(outcome(ofMachine), outcome(pocket));
    expect(one.status).toBe('partial');
    expect(one.findings).toHaveLength(1);
    expect(one.measurements?.map(({ id, value, quality }) => [id, value, quality])).toEqual([
      ['deepest-vertical-pocket', 58, 'accepted'],
      ['deepest-vertical-pocket-review', 62, 'review'],
    ]);
  });

  it('states for a calculated value that it is based on one that needs a review', () => {
    const one = joined(nothing, outcome(weight));
    expect(one.measurements?.[0]?.remarks).toEqual([
      { code: 'value.needs-review', params: { reason: 'rests-on-review' } },
    ]);
  });

  it('states that readings need review if only a conclusion rests on them', () => {
    const [counting, whole] = [outcome(ofMachine), outcome(ofMachine)];
    const statements = [...whole.statements, sayOfRun.conclusion('run.section-failed', {})];
    const one = joined(counting, { ...whole, statements });
    expect(one.status).toBe('partial');
    expect(one.statements).toEqual([
      ...counting.statements,
      sayOfRun.gap('run.rests-on-review', {}),
    ]);
  });

  it('is unchanged if both runs agree', () => {
    const same = outcome(abdomen(262));
    expect(joined(same, same)).toEqual(same);
  });

  it('keeps the reason why a value was withheld in the run with all values', () => {
    const low: Measurement = { ...pocket, quality: 'low', standing: 'withheld' };
    const whole: SectionOutcome = {
      status: 'inadequate',
      reason: { code: 'low_confidence', gaps: [sayOfRun.gap('run.section-failed', {})], needs: [] },
      statements: [sayOfRun.gap('run.section-failed', {})],
      measurements: [low],
    };
    const one = joined(nothing, whole);
    expect(one.reason?.code).toBe('low_confidence');
    expect(one.measurements).toEqual([low]);
  });
});
