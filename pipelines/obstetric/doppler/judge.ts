import type { Measurement } from '../../result/envelope.ts';
import { remarkOfDoppler, say } from '../../result/render/obstetric/doppler.ts';
import type {
  ClassificationDraft,
  FindingDraft,
  GuidanceDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  atCutOff,
  createMeasurement,
  isChosen,
  uncertaintyOfRatio,
} from '../shared/measurement.ts';
import {
  ANGLE_NOT_GIVEN,
  anaemiaWithin,
  certainAnaemia,
  classify,
  ductusFindings,
  flowFindings,
  flowOfArtery,
  flowStatements,
  ISUOG,
  machineFindings,
  rankFindings,
  rankOf,
  rankWithin,
} from './findings.ts';
import { ductusWave, pairStatements, statedFlow, umbilicalFlow, withoutCorrected } from './flow.ts';
import {
  ANAEMIA_MOM,
  CHARTED_RATE,
  cerebroplacentalRatio,
  ciobanuReference,
  type DopplerState,
  type DopplerSummary,
  dopplerSummary,
  type EndDiastolicFlow,
  isAnaemiaFlag,
  MCA_ANGLE,
  mcaPeakMedian,
  rank,
  umbilicalReference,
  uterineReference,
} from './guideline.ts';
import { DOPPLER_SECTION, type TracedReading, traceProblem } from './measure.ts';

interface Judged {
  gaDays: number | null;
  /** Concepts of the values that may be charted. */
  charts: readonly string[];
  /** Angle set on the machine for the MCA, in degrees; null if unknown. */
  angle: number | null;
  /** True if the fetal heart rate is within the range for which the fetal charts are valid. */
  rateHolds: boolean;
  /** End-diastolic flow in the umbilical artery; null if it was not assessed. */
  flow: EndDiastolicFlow | null;
}

/**
 * Reports the values at an age outside their chart. They are never charted at the nearest covered
 * age (obstetric 0.5).
 */
function outsideChart(
  measurements: readonly Measurement[],
  charts: readonly string[],
): Statement[] {
  const outside = measurements.filter(
    (one) =>
      isChosen(one) &&
      charts.includes(one.concept.key) &&
      one.quality === 'accepted' &&
      one.reference === null,
  );
  return outside.length > 0 ? [say.gap('doppler.outside-chart', {}, outside)] : [];
}

/**
 * Returns why the peak velocity of the MCA has no multiple of the median. A missing age is reported
 * separately.
 */
function withoutMultiple(measurements: readonly Measurement[], judged: Judged): Statement[] {
  const { gaDays, angle, rateHolds } = judged;
  const psv = acceptedValue(measurements, 'middle-cerebral-artery-psv');
  if (!psv) {
    const held = measurements.some(
      (one) =>
        isChosen(one) &&
        one.concept.key === 'middle-cerebral-artery-psv' &&
        one.quality === 'review',
    );
    return acceptedValue(measurements, 'middle-cerebral-artery-pi')
      ? [say.gap('doppler.no-peak-velocity', { held })]
      : [];
  }
  if (gaDays === null || !rateHolds) return [];
  if (acceptedValue(measurements, 'middle-cerebral-artery-psv-mom')) {
    return angle === null ? [say.gap('doppler.angle-unknown', { limit: MCA_ANGLE })] : [];
  }
  return [
    angle !== null && angle > MCA_ANGLE
      ? say.gap('doppler.angle-too-large', { limit: MCA_ANGLE })
      : say.gap('doppler.peak-outside-chart', {}),
  ];
}

const uterineSides = (measurements: readonly Measurement[]) =>
  measurements.some(
    ({ concept, quality }) => concept.key === 'uterine-artery-pi' && quality === 'accepted',
  ) && !acceptedValue(measurements, 'uterine-artery-mean-pi')
    ? [say.gap('doppler.no-uterine-mean', {})]
    : [];

/** Values classified by their centile. */
const RANKED = [
  'umbilical-artery-pi',
  'middle-cerebral-artery-pi',
  'cerebroplacental-ratio',
  'uterine-artery-mean-pi',
] as const;

/**
 * Reports the values whose interval includes a cut-off. They have no category, because the trace is
 * not precise enough to show on which side of the cut-off they are.
 */
function nearCutOff(measurements: readonly Measurement[]): Statement[] {
  const mom = acceptedValue(measurements, 'middle-cerebral-artery-psv-mom');
  return [
    ...RANKED.flatMap((key) => {
      const one = acceptedValue(measurements, key);
      const { between } = one ? rankWithin(one) : { between: null };
      const [low, high] = between ?? [null, null];
      return one && low && high ? atCutOff(one, { between: [low, high] }) : [];
    }),
    ...(mom ? atCutOff(mom, anaemiaWithin(mom)) : []),
  ];
}

/** Values that make the summary abnormal if they are low. */
const REDISTRIBUTED = ['middle-cerebral-artery-pi', 'cerebroplacental-ratio'] as const;

function mayBeAbnormal(measurements: readonly Measurement[], mom: Measurement | null): boolean {
  const mayBeLow = REDISTRIBUTED.some((key) => {
    const one = acceptedValue(measurements, key);
    return one !== null && rankWithin(one).between?.includes('L');
  });
  return mayBeLow || ((mom && anaemiaWithin(mom).between?.some(isAnaemiaFlag)) ?? false);
}

/**
 * Returns the gap if there is an umbilical PI but the flow was not assessed. A PI reflects the
 * resistance, but not whether there is flow at the end of diastole.
 */
function withoutFlow(measurements: readonly Measurement[], flow: Judged['flow']): Statement[] {
  const pi = acceptedValue(measurements, 'umbilical-artery-pi');
  if (!pi || flow !== null) return [];
  const within = rankWithin(pi).category === 'N';
  return [say.gap('doppler.no-flow', { within })];
}

function dopplerGaps(measurements: readonly Measurement[], judged: Judged): Statement[] {
  return [
    ...(judged.gaDays === null ? [] : outsideChart(measurements, judged.charts)),
    ...withoutMultiple(measurements, judged),
    ...uterineSides(measurements),
    ...nearCutOff(measurements),
    ...withoutFlow(measurements, judged.flow),
  ];
}

export interface DopplerJudgement {
  measurements: Measurement[];
  category: DopplerSummary;
  classifications: ClassificationDraft[];
  findings: FindingDraft[];
  guidance: GuidanceDraft[];
  statements: Statement[];
  /**
   * What could not be assessed. `code` is set if the age is missing or the heart rate is outside
   * the charts; otherwise it is null.
   */
  gaps: Statement[];
  code: string | null;
}

type Reference = Measurement['reference'];

function withReference(measurement: Measurement, reference: Reference): Measurement {
  if (!reference) return measurement;
  const one = { ...measurement, reference };
  // If the interval includes a cut-off, the value may be on either side, so it is not interpreted.
  return { ...one, interpretation: rankWithin(one).between === null ? rank(reference) : null };
}

/**
 * Reports that the heart rate on a fetal artery is outside the range for which the fetal charts are
 * valid; null if no heart rate is outside it.
 */
function rateProblem(traced: readonly TracedReading[]): Statement | null {
  const outside = traced.find(
    ({ vessel, waveform }) =>
      (vessel === 'umbilical-artery' || vessel === 'middle-cerebral-artery') &&
      (waveform.beatsPerMinute < CHARTED_RATE.slowest ||
        waveform.beatsPerMinute > CHARTED_RATE.fastest),
  );
  if (!outside) return null;
  return say.gap('doppler.rate-outside-chart', CHARTED_RATE);
}

function cpr(measurements: readonly Measurement[]): Measurement[] {
  const mca = acceptedValue(measurements, 'middle-cerebral-artery-pi');
  const ua = acceptedValue(measurements, 'umbilical-artery-pi');
  if (!mca || !ua) return [];
  const value = cerebroplacentalRatio(mca.value, ua.value);
  const inputs = [mca.id, ua.id];
  return [
    createMeasurement('cerebroplacental-ratio', value, 'ratio', {
      section: DOPPLER_SECTION,
      fetus: ua.fetus,
      uncertainty: uncertaintyOfRatio(value, [mca, ua]),
      inputs,
    }),
  ];
}

function uncertaintyOfMean(parts: readonly Measurement[]): number | null {
  const known = parts.flatMap(({ uncertainty }) => uncertainty ?? []);
  return known.length === 0 ? null : Math.hypot(...known) / parts.length;
}

function uterineMean(measurements: readonly Measurement[]): Measurement[] {
  const [left, right] = (['left', 'right'] as const).map((side) =>
    measurements.find(
      ({ concept, laterality, quality, standing }) =>
        concept.key === 'uterine-artery-pi' &&
        laterality === side &&
        quality === 'accepted' &&
        standing !== 'repeat',
    ),
  );
  if (!left || !right) return [];
  const value = (left.value + right.value) / 2;
  return [
    createMeasurement('uterine-artery-mean-pi', value, 'mean-of-sides', {
      section: DOPPLER_SECTION,
      derivation: 'mean',
      uncertainty: uncertaintyOfMean([left, right]),
      inputs: [left.id, right.id],
    }),
  ];
}

/** Returns the angle in degrees set on the machine for the MCA peak velocity; null if unknown. */
function angleOfPeak(
  traced: readonly TracedReading[],
  measured: readonly Measurement[],
): number | null {
  const psv = acceptedValue(measured, 'middle-cerebral-artery-psv');
  const angle = traced.find(({ file }) => file === psv?.source.file)?.correctionAngle ?? null;
  return angle === null ? null : Math.abs(angle);
}

function peakMoM(
  traced: readonly TracedReading[],
  measurements: readonly Measurement[],
  gaDays: number,
): Measurement[] {
  const psv = acceptedValue(measurements, 'middle-cerebral-artery-psv');
  const median = mcaPeakMedian(gaDays / 7);
  if (!psv || median === null) return [];
  const angle = angleOfPeak(traced, measurements);
  if (angle !== null && angle > MCA_ANGLE) return [];
  const remarks = [
    ...(angle === null ? [ANGLE_NOT_GIVEN] : []),
    ...(gaDays >= 35 * 7 ? [remarkOfDoppler('doppler.late', {})] : []),
  ];
  const key = 'middle-cerebral-artery-psv-mom';
  const uncertainty = psv.uncertainty === null ? null : psv.uncertainty / median;
  const value = psv.value / median;
  const mom = createMeasurement(key, value, 'multiple-of-median', {
    section: DOPPLER_SECTION,
    uncertainty,
    inputs: [psv.id],
    reference: {
      low: null,
      high: ANAEMIA_MOM.moderate,
      centile: null,
      z_score: null,
      chart: 'mari-2000-mca-psv',
    },
    fetus: psv.fetus,
    remarks,
  });
  // Taken from the finished measurement, because a person may have typed its value.
  const band = certainAnaemia(mom);
  return [{ ...mom, interpretation: band === null ? null : isAnaemiaFlag(band) ? 'H' : 'N' }];
}

type Chart = (gaDays: number, value: number) => Reference;

const FETAL_CHARTS: Readonly<Record<string, Chart>> = {
  'umbilical-artery-pi': umbilicalReference,
  'middle-cerebral-artery-pi': (gaDays, value) => ciobanuReference('mca-pi', gaDays, value),
  'cerebroplacental-ratio': (gaDays, value) => ciobanuReference('cpr', gaDays, value),
};
/** Charts of maternal vessels. They do not depend on the fetal heart rate. */
const MATERNAL_CHARTS: Readonly<Record<string, Chart>> = {
  'uterine-artery-mean-pi': uterineReference,
};

const charted = (
  measurements: readonly Measurement[],
  gaDays: number,
  charts: Readonly<Record<string, Chart>>,
): Measurement[] =>
  measurements.map((one) => {
    const chart = isChosen(one) && one.quality === 'accepted' ? charts[one.concept.key] : undefined;
    return chart ? withReference(one, chart(gaDays, one.value)) : one;
  });

const ADVICE = ['redf', 'aedf', 'anaemia-flag'] as const satisfies readonly DopplerSummary[];

/**
 * Assesses the traces and their values: charts, categories, findings and gaps.
 * @param unnamed true if there are several fetuses and the fetal vessels cannot be assigned to one.
 */
export function judgeDoppler(
  traced: readonly TracedReading[],
  measured: readonly Measurement[],
  gaDays: number | null,
  unnamed = false,
): DopplerJudgement {
  const good = traced.filter(({ waveform }) => traceProblem(waveform) === null);
  const of = (vessel: string) => traced.filter((reading) => reading.vessel === vessel);
  const loops = withoutCorrected(of('umbilical-artery'), measured);
  const umbilical = flowOfArtery(umbilicalFlow(loops), statedFlow(measured), { gaDays, unnamed });
  const ductus = ductusWave(of('ductus-venosus'));
  const rates = rateProblem(good);
  const derived = [...measured, ...cpr(measured), ...uterineMean(measured)];
  const charts = { ...MATERNAL_CHARTS, ...(rates === null ? FETAL_CHARTS : {}) };
  const multiples = gaDays === null || rates ? [] : peakMoM(good, derived, gaDays);
  const measurements =
    gaDays === null ? derived : charted([...derived, ...multiples], gaDays, charts);
  const { flow, usual } = umbilical;
  const mom = acceptedValue(measurements, 'middle-cerebral-artery-psv-mom');
  const state: DopplerState = {
    flow: usual ? null : flow,
    suspected: umbilical.traces.suspected !== null || ductus.suspected !== null,
    umbilicalPi: rankOf(measurements, 'umbilical-artery-pi'),
    cerebralPi: rankOf(measurements, 'middle-cerebral-artery-pi'),
    cpr: rankOf(measurements, 'cerebroplacental-ratio'),
    aWave: ductus.lead,
    anaemia: mom && certainAnaemia(mom),
    atCutOff: mayBeAbnormal(measurements, mom),
  };
  const category = dopplerSummary(state);
  const advised = ADVICE.find((one) => one === category);
  const noAge = gaDays === null ? [say.gap('doppler.no-age', {})] : [];
  return {
    measurements,
    category,
    classifications: classify(measurements, state, category),
    findings: [
      ...flowFindings(umbilical, measurements),
      ...rankFindings(measurements, state),
      ...machineFindings(measurements),
      ...ductusFindings(ductus, measurements, unnamed),
    ],
    guidance: advised
      ? [
          {
            id: `doppler-${advised}`,
            statement: say.advice('doppler.advice', { category: advised }),
            source: ISUOG,
          },
        ]
      : [],
    statements: flowStatements(umbilical),
    gaps: [
      ...noAge,
      ...(rates ? [rates] : []),
      ...dopplerGaps(measurements, {
        gaDays,
        charts: Object.keys(charts),
        angle: angleOfPeak(good, measurements),
        rateHolds: rates === null,
        flow,
      }),
      ...pairStatements(measurements),
    ],
    code: gaDays === null ? 'ga_missing' : rates ? 'heart_rate_outside_chart' : null,
  };
}
