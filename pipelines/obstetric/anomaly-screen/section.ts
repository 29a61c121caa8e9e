import type { Measurement } from '../../result/envelope.ts';
import { weeksAndDays } from '../../result/gestational-age.ts';
import { notAssessed } from '../../result/section-outcome.ts';
import { ifPlausible } from '../shared/machine-values.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { ScreenEvidence } from './evidence.ts';
import { SCREEN_DAYS } from './guideline.ts';
import {
  ANOMALY_SECTION,
  checkItems,
  concludeSizes,
  SCREENED,
  sizeText,
  standingSizes,
  withChart,
  withSizes,
} from './judge.ts';
import { brainGaps, measureBrain } from './measure.ts';

const WINDOW = `${weeksAndDays(SCREEN_DAYS.from)} to ${weeksAndDays(SCREEN_DAYS.to)} weeks`;
const NEEDS = ['one image per item of the checklist', `gestational age of ${WINDOW}`];

/** Values of the machine's report, and ours from the images; the nuchal fold is the machine's only. */
function measurementsOf(evidence: ScreenEvidence, several: boolean): Measurement[] {
  const machine = evidence.machine.values(ANOMALY_SECTION, SCREENED);
  const frames = evidence.views.fetalBrain?.frames ?? [];
  const ours = measureBrain(frames, evidence.uncertainty.brain ?? null, several);
  return [...machine.map(ifPlausible), ...ours];
}

const WITHOUT_AGE = 'The mid-trimester checklist was not assessed: gestational age was not given.';

const OUTSIDE_WINDOW = `The mid-trimester checklist was not assessed: it is looked at from ${WINDOW}.`;

/** Sizes without an age: shown, neither put on a chart nor judged (obstetric 0.5). */
function withoutAge(sizes: readonly Measurement[], several: boolean): SectionOutcome {
  const outcome = notAssessed('no_gestational_age', WITHOUT_AGE, NEEDS);
  const shown = standingSizes(sizes, several).flatMap(sizeText);
  if (shown.length === 0) return outcome;
  const summary = `${outcome.summary} Measured and not judged: ${shown.join(', ')}.`;
  return { ...outcome, summary, measurements: [...sizes] };
}

/** Without the checklist the sizes are judged all the same: their limits hold on. */
function sizesAlone(
  outcome: SectionOutcome,
  sizes: readonly Measurement[],
  gaDays: number,
  several: boolean,
): SectionOutcome {
  const standing = standingSizes(sizes, several);
  if (standing.length === 0) return { ...outcome, measurements: [...sizes] };
  const { classifications, findings, unsure } = concludeSizes(sizes, gaDays, several);
  const shown = `Measured: ${standing.flatMap(sizeText).join(', ')}.`;
  const said = [outcome.summary, shown, ...findings.map(({ text }) => text), ...unsure];
  return {
    ...outcome,
    status: 'partial',
    summary: said.join(' '),
    data: { sizes: standing.length },
    measurements: [...sizes],
    classifications,
    findings,
  };
}

/** Items of several fetuses are not put together into one checklist. */
function ofSeveral(why: string): SectionOutcome {
  const detail = `The mid-trimester checklist was not assessed: ${why}.`;
  return notAssessed('several_fetuses', detail, ['a study of each fetus by itself']);
}

function run(evidence: ScreenEvidence, before: readonly Measurement[]): SectionOutcome {
  const gaDays = evidence.options.dating?.ga_days;
  const several = evidence.severalFetuses;
  const sizes = measurementsOf(evidence, several !== null);
  if (gaDays === undefined) return withoutAge(sizes, several !== null);
  const measurements = sizes.map((one) => withChart(one, gaDays));
  if (several !== null) return sizesAlone(ofSeveral(several), measurements, gaDays, true);
  if (gaDays < SCREEN_DAYS.from || gaDays > SCREEN_DAYS.to) {
    const outcome = notAssessed('outside_window', OUTSIDE_WINDOW, NEEDS);
    return sizesAlone(outcome, measurements, gaDays, false);
  }
  const { classifications, findings, unsure } = concludeSizes(measurements, gaDays, false);
  const known = [
    ...standingSizes(measurements, false),
    ...before.filter(({ quality }) => quality === 'accepted'),
  ];
  const items = withSizes(checkItems(evidence), known, findings);
  const seen = items.filter(({ status }) => status !== 'not-examined');
  if (seen.length === 0 && measurements.length === 0) {
    return notAssessed(
      'view_missing',
      'The mid-trimester checklist was not assessed: none of its planes was found.',
      NEEDS,
    );
  }
  const mandatory = items.filter((one) => one.mandatory);
  const missing = mandatory.filter(({ status }) => status === 'not-examined');
  const sized = items.filter(({ status }) => status === 'measured' || status === 'abnormal');
  const judged =
    sized.length > 0
      ? 'Beyond the sizes given, whether what they show is normal was not judged.'
      : 'Whether what they show is normal was not judged.';
  const found = mandatory.length - missing.length;
  const counted = `A plane or a value that shows it was found for ${found} of ${mandatory.length} items of the checklist.`;
  const gaps = `Not examined: ${missing.map(({ text }) => text).join(', ')}.`;
  const unmeasured = brainGaps(evidence.views.fetalBrain?.frames ?? null, measurements);
  return {
    status: 'partial',
    reason: {
      code: 'items_missing',
      detail: [judged, gaps, ...unmeasured].join(' '),
      needs: NEEDS,
    },
    summary: [counted, judged, ...findings.map(({ text }) => text), ...unsure, ...unmeasured].join(
      ' ',
    ),
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

/** Completion of the mid-trimester checklist by region (obstetric 8). */
export const anomalyScreen: ObstetricSection<ScreenEvidence> = {
  id: ANOMALY_SECTION,
  title: 'Anomaly screen',
  needs: NEEDS,
  reads: ['fetalBrain'],
  run,
};
