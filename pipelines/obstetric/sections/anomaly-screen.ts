import { centileOf } from '../../measure/statistics.ts';
import { cartMeasurements } from '../../result/cart-measurements.ts';
import { type FindingConceptKey, findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import {
  BRAIN_DAYS,
  cisternaMagnaCategory,
  nuchalFoldCategory,
  SCREEN_DAYS,
  SCREEN_MM,
} from '../anomaly-checklist.ts';
import { brainGaps, measureBrain } from '../brain-lengths.ts';
import {
  type BrainStructure,
  brainStructureAt,
  VENTRICULOMEGALY_MM,
  ventricleCategory,
} from '../charts/brain-structures.ts';
import { weeksAndDays } from '../charts/dates.ts';
import { checkItems, SCREENED, type ScreenKey, withSizes } from '../checked-items.ts';
import { acrossCutOff } from '../cut-off.ts';
import { format } from '../measurement.ts';
import { implausibleNote, isPlausible } from '../plausibility.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';

const ID = 'anomaly-screen';
const NEEDS = ['one image per item of the checklist', 'gestational age of 18+0 to 24+0 weeks'];

const keyOf = ({ concept }: Measurement) => SCREENED.find((name) => name === concept.key);

/** Values of the machine's report, and ours from the images; the nuchal fold is the machine's only. */
function measurementsOf(evidence: ObstetricEvidence): Measurement[] {
  const values = cartMeasurements(evidence.study.cart ?? [], ID, SCREENED);
  const machine = values.map((one): Measurement => {
    const key = keyOf(one);
    if (!key || isPlausible(key, one.value)) return one;
    const note = [one.note, implausibleNote(key)].filter(Boolean).join('; ');
    return { ...one, quality: 'inadequate', note };
  });
  const ours = measureBrain(
    evidence.views.fetalBrain?.frames ?? [],
    evidence.uncertainty.brain ?? null,
  );
  return [...machine, ...ours];
}

const ofMachine = ({ source }: Measurement) => source.provenance === 'cart-sr';

/** What is judged: of a quantity the machine's values, which a person placed, before ours. */
function judgedOf(measurements: readonly Measurement[]): Measurement[] {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  return accepted.filter(
    (one) =>
      ofMachine(one) ||
      (one.id === one.concept.key &&
        !accepted.some((other) => ofMachine(other) && keyOf(other) === keyOf(one))),
  );
}

const CHART_OF: Partial<Record<ScreenKey, { structure: BrainStructure; chart: string }>> = {
  'atrial-width': { structure: 'posterior-horn', chart: 'intergrowth-2020-brain' },
  'cisterna-magna': { structure: 'cisterna-magna', chart: 'intergrowth-2020-brain' },
  'transcerebellar-diameter': { structure: 'cerebellum', chart: 'intergrowth-2021-tcd' },
};

/** z-score by the chart's own curves at z 0 and 1; the cisterna magna's are those of ln(mm). */
function zScore(structure: BrainStructure, weeks: number, mm: number): number | null {
  const mean = brainStructureAt(structure, weeks, 0);
  const above = brainStructureAt(structure, weeks, 1);
  if (mean === null || above === null) return null;
  return structure === 'cisterna-magna'
    ? Math.log(mm / mean) / Math.log(above / mean)
    : (mm - mean) / (above - mean);
}

function withChart(measurement: Measurement, gaDays: number): Measurement {
  const key = keyOf(measurement);
  const entry = key && CHART_OF[key];
  if (!entry || measurement.quality !== 'accepted') return measurement;
  const z = zScore(entry.structure, gaDays / 7, measurement.value);
  if (z === null) return measurement;
  const centile = centileOf(z);
  return {
    ...measurement,
    reference: { low: null, high: null, centile, z_score: z, chart: entry.chart },
  };
}

interface Judgement {
  key: ScreenKey;
  concept: FindingConceptKey;
  name: string;
  scheme: string;
  category: string;
  /** What is looked at, and whether it holds. */
  criterion: { name: string; met: boolean };
  /** As a finding says it; null: within its limits. */
  finding: string | null;
  /** Millimetres. */
  limits: readonly number[];
}

function judge(measurement: Measurement, gaDays: number): Judgement | null {
  const key = keyOf(measurement);
  const { value } = measurement;
  const inRange = gaDays >= BRAIN_DAYS.from && gaDays <= BRAIN_DAYS.to;
  if (key === 'atrial-width' && inRange) {
    const category = ventricleCategory(value);
    return {
      key,
      concept: 'ventriculomegaly',
      name: 'Width of the lateral ventricle',
      scheme: 'ISUOG 2020 CNS part 1; SMFM 2018, Fox et al., AJOG 219:B2-B9',
      category,
      criterion: { name: `at least ${VENTRICULOMEGALY_MM} mm`, met: category !== 'normal' },
      finding: category === 'normal' ? null : `${category} ventriculomegaly`,
      limits: [VENTRICULOMEGALY_MM],
    };
  }
  if (key === 'cisterna-magna' && inRange) {
    const category = cisternaMagnaCategory(value);
    return {
      key,
      concept: 'cisterna-magna',
      name: 'Cisterna magna',
      scheme: 'ISUOG 2020 CNS part 1',
      category,
      criterion: {
        name: `from ${SCREEN_MM.cisternaMagna.low} to ${SCREEN_MM.cisternaMagna.high} mm`,
        met: category === 'normal',
      },
      finding: category === 'normal' ? null : `${category} cisterna magna`,
      limits: Object.values(SCREEN_MM.cisternaMagna),
    };
  }
  const fold = key === 'nuchal-fold' ? nuchalFoldCategory(value, gaDays) : null;
  if (key !== 'nuchal-fold' || fold === null) return null;
  return {
    key,
    concept: 'nuchal-fold',
    name: 'Nuchal fold',
    scheme: 'Benacerraf 1985; ISUOG',
    category: fold,
    criterion: { name: `at least ${SCREEN_MM.nuchalFold} mm`, met: fold === 'thick' },
    finding: fold === 'thick' ? 'thick nuchal fold' : null,
    limits: [SCREEN_MM.nuchalFold],
  };
}

function conclude(measurements: readonly Measurement[], gaDays: number) {
  const classifications: Result['classifications'] = [];
  const findings: Finding[] = [];
  const unsure: string[] = [];
  for (const measurement of judgedOf(measurements)) {
    const judged = judge(measurement, gaDays);
    if (!judged) continue;
    const value = format(judged.key, measurement.value);
    classifications.push({
      id: `${judged.concept}-${measurement.id}`,
      section: ID,
      concept: findingConcept(judged.concept),
      name: judged.name,
      value: judged.category,
      scheme: judged.scheme,
      criteria: [{ ...judged.criterion, value }],
    });
    const near = acrossCutOff(measurement.value, measurement.uncertainty, judged.limits);
    if (near) unsure.push(`${judged.name} ${value}. ${near}`);
    if (!judged.finding || near) continue;
    findings.push({
      id: `${judged.concept}-${measurement.id}`,
      section: ID,
      concept: findingConcept(judged.concept),
      text: `${judged.name} ${value}: ${judged.finding} (${ofMachine(measurement) ? 'value of the ultrasound machine' : 'measured on the image'}).`,
      severity: 'abnormal',
      confidence: measurement.confidence,
      evidence: [measurement.id],
    });
  }
  return { classifications, findings, unsure };
}

function notAssessed(code: string, detail: string): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs: NEEDS }, summary: detail };
}

const WITHOUT_AGE = 'The mid-trimester checklist was not assessed: gestational age was not given.';

const OUTSIDE_WINDOW = `The mid-trimester checklist was not assessed: it is looked at from ${weeksAndDays(SCREEN_DAYS.from)} to ${weeksAndDays(SCREEN_DAYS.to)} weeks.`;

const valueText = (one: Measurement) => {
  const key = keyOf(one);
  return key ? [`${one.label} ${format(key, one.value)}`] : [];
};

/** Sizes without an age: shown, neither put on a chart nor judged (obstetric reference 0.5). */
function withoutAge(sizes: readonly Measurement[]): SectionOutcome {
  const outcome = notAssessed('no_gestational_age', WITHOUT_AGE);
  const shown = judgedOf(sizes).flatMap(valueText);
  if (shown.length === 0) return outcome;
  const summary = `${outcome.summary} Measured and not judged: ${shown.join(', ')}.`;
  return { ...outcome, summary, measurements: [...sizes] };
}

/** Earlier or later than the checklist the sizes are judged all the same: their limits hold on. */
function outsideWindow(sizes: readonly Measurement[], gaDays: number): SectionOutcome {
  const outcome = notAssessed('outside_window', OUTSIDE_WINDOW);
  const judged = judgedOf(sizes);
  if (judged.length === 0) return { ...outcome, measurements: [...sizes] };
  const { classifications, findings, unsure } = conclude(sizes, gaDays);
  const shown = `Measured: ${judged.flatMap(valueText).join(', ')}.`;
  const summary = [OUTSIDE_WINDOW, shown, ...findings.map(({ text }) => text), ...unsure].join(' ');
  return {
    ...outcome,
    status: 'partial',
    summary,
    data: { sizes: judged.length },
    measurements: [...sizes],
    classifications,
    findings,
  };
}

function run(evidence: ObstetricEvidence, before: readonly Measurement[]): SectionOutcome {
  const gaDays = evidence.options.dating?.ga_days;
  if (gaDays === undefined) return withoutAge(measurementsOf(evidence));
  const measurements = measurementsOf(evidence).map((one) => withChart(one, gaDays));
  if (gaDays < SCREEN_DAYS.from || gaDays > SCREEN_DAYS.to) {
    return outsideWindow(measurements, gaDays);
  }
  const { classifications, findings, unsure } = conclude(measurements, gaDays);
  const known = [
    ...judgedOf(measurements),
    ...before.filter(({ quality }) => quality === 'accepted'),
  ];
  const items = withSizes(checkItems(evidence), known, findings);
  const seen = items.filter(({ status }) => status !== 'not-examined');
  if (seen.length === 0 && measurements.length === 0) {
    return notAssessed(
      'view_missing',
      'The mid-trimester checklist was not assessed: none of its planes was found.',
    );
  }
  const mandatory = items.filter((one) => one.mandatory);
  const missing = mandatory.filter(({ status }) => status === 'not-examined');
  const sizes = items.filter(({ status }) => status === 'measured' || status === 'abnormal');
  const judged =
    sizes.length > 0
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
      sizes: sizes.length,
    },
    measurements,
    classifications,
    findings,
  };
}

/** Completion of the mid-trimester checklist by region (obstetric reference 8). */
export const anomalyScreen: ObstetricSection = {
  id: ID,
  title: 'Anomaly screen',
  needs: NEEDS,
  reads: ['fetalBrain'],
  run,
};
