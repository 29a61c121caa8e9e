import type { Measurement } from '../../result/envelope.ts';
import { say } from '../../result/render/obstetric/anomaly-screen.ts';
import { weeksAndDays } from '../../result/render/obstetric/shared.ts';
import { notAssessed } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { ifPlausible } from '../shared/measurement.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { ScreenEvidence } from './evidence.ts';
import { SCREEN_DAYS } from './guideline.ts';
import {
  ANOMALY_SECTION,
  checkItems,
  concludeSizes,
  countingSizes,
  SCREENED,
  withChart,
  withSizes,
} from './judge.ts';
import { brainGaps, measureBrain } from './measure.ts';

const WINDOW = `${weeksAndDays(SCREEN_DAYS.from)} to ${weeksAndDays(SCREEN_DAYS.to)} weeks`;
const NEEDS = ['one image per item of the checklist', `gestational age of ${WINDOW}`];

/**
 * Returns the machine-reported values and those measured on the images. The nuchal fold comes only
 * from the machine.
 */
function measurementsOf(evidence: ScreenEvidence, several: boolean): Measurement[] {
  const machine = evidence.machine.values(ANOMALY_SECTION, SCREENED);
  const frames = evidence.views.fetalBrain?.frames ?? [];
  const ours = measureBrain(frames, evidence.uncertainty.brain ?? null, several);
  return [...machine.map(ifPlausible), ...ours];
}

/**
 * Returns the outcome without a gestational age: sizes are shown, but neither charted nor
 * classified (obstetric 0.5).
 */
function withoutAge(sizes: readonly Measurement[], several: boolean): SectionOutcome {
  const gap = say.gap('screen.no-age', {});
  const outcome = notAssessed('no_gestational_age', gap, NEEDS);
  const counting = countingSizes(sizes, several);
  if (counting.length === 0) return outcome;
  const shown = say.value('screen.measured-not-judged', {}, counting);
  return { ...outcome, statements: [gap, shown], measurements: [...sizes] };
}

/**
 * Returns the outcome if the checklist cannot be used. The sizes are still compared with their
 * limits.
 */
function sizesAlone(
  code: string,
  gap: Statement,
  needs: readonly string[],
  sizes: readonly Measurement[],
  gaDays: number,
  several: boolean,
): SectionOutcome {
  const outcome = notAssessed(code, gap, needs);
  const counting = countingSizes(sizes, several);
  if (counting.length === 0) return { ...outcome, measurements: [...sizes] };
  const { classifications, findings, uncertain } = concludeSizes(sizes, gaDays, several);
  return {
    ...outcome,
    status: 'partial',
    statements: [
      gap,
      say.value('screen.measured', {}, counting),
      ...findings.flatMap(({ statement }) => statement ?? []),
      ...uncertain,
    ],
    data: { sizes: counting.length },
    measurements: [...sizes],
    classifications,
    findings,
  };
}

function run(evidence: ScreenEvidence, before: readonly Measurement[]): SectionOutcome {
  const gaDays = evidence.options.dating?.ga_days;
  const several = evidence.severalFetuses;
  const sizes = measurementsOf(evidence, several !== null);
  if (gaDays === undefined) return withoutAge(sizes, several !== null);
  const measurements = sizes.map((one) => withChart(one, gaDays));
  if (several !== null) {
    // Items of different fetuses are not combined into one checklist.
    const gap = say.gap('screen.several-fetuses', { source: several });
    const needs = ['a study of each fetus by itself'];
    return sizesAlone('several_fetuses', gap, needs, measurements, gaDays, true);
  }
  if (gaDays < SCREEN_DAYS.from || gaDays > SCREEN_DAYS.to) {
    const gap = say.gap('screen.outside-weeks', SCREEN_DAYS);
    return sizesAlone('outside_window', gap, NEEDS, measurements, gaDays, false);
  }
  const { classifications, findings, uncertain } = concludeSizes(measurements, gaDays, false);
  const known = [
    ...countingSizes(measurements, false),
    ...before.filter(({ quality }) => quality === 'accepted'),
  ];
  const items = withSizes(checkItems(evidence), known, findings);
  const seen = items.filter(({ status }) => status !== 'not-examined');
  if (seen.length === 0 && measurements.length === 0) {
    return notAssessed('view_missing', say.gap('screen.no-view', {}), NEEDS);
  }
  const mandatory = items.filter((one) => one.mandatory);
  const missing = mandatory.filter(({ status }) => status === 'not-examined');
  const sized = items.filter(({ status }) => status === 'measured' || status === 'abnormal');
  const found = mandatory.length - missing.length;
  const counted = say.value('screen.found', { found, expected: mandatory.length });
  const notJudged = say.limitation('screen.not-judged', { sized: sized.length > 0 });
  const notExamined = say.gap('screen.not-examined', { items: missing.map(({ text }) => text) });
  const unmeasured = brainGaps(evidence.views.fetalBrain?.frames ?? null, measurements);
  return {
    status: 'partial',
    reason: {
      code: 'items_missing',
      gaps: [notJudged, notExamined, ...unmeasured],
      needs: NEEDS,
    },
    statements: [
      counted,
      notJudged,
      ...findings.flatMap(({ statement }) => statement ?? []),
      ...uncertain,
      ...unmeasured,
    ],
    data: {
      checklist: items,
      found,
      expected: mandatory.length,
      sizes: sized.length,
    },
    measurements,
    classifications,
    findings,
  };
}

/**
 * Section on the mid-trimester anomaly screen: the status of each item of the checklist, by region
 * (obstetric 8).
 */
export const anomalyScreen: ObstetricSection<ScreenEvidence> = {
  id: ANOMALY_SECTION,
  title: 'Anomaly screen',
  needs: NEEDS,
  reads: ['fetalBrain'],
  run,
};
