import type { Measurement } from '../result/envelope.ts';
import { acrossCutOff } from './cut-off.ts';
import { type EndDiastolicFlow, MCA_ANGLE, rank } from './doppler-categories.ts';
import { ANGLE_UNKNOWN } from './doppler-findings.ts';
import { standing } from './measurement.ts';

interface Judged {
  gaDays: number | null;
  /** Ids of the values whose charts may be used. */
  charts: readonly string[];
  /** Degrees set on the machine for the MCA; null: not said. */
  angle: number | null;
  /** Whether the fetal heart rate is one at which fetal charts hold. */
  rateHolds: boolean;
  /** End-diastolic flow of the umbilical artery; null: not assessed. */
  flow: EndDiastolicFlow | null;
}

/** Values that a chart would judge at another age (obstetric reference 0.5: never clamped). */
function outsideChart(measurements: readonly Measurement[], charts: readonly string[]): string[] {
  const labels = measurements
    .filter(
      ({ id, quality, reference }) =>
        charts.includes(id) && quality === 'accepted' && reference === null,
    )
    .map(({ label }) => label);
  return labels.length > 0
    ? [`The gestational age is outside the chart of: ${labels.join(', ')}.`]
    : [];
}

/** Why the peak velocity of the MCA has no multiple of the median; a missing age is said elsewhere. */
function withoutMultiple(measurements: readonly Measurement[], judged: Judged): string[] {
  const { gaDays, angle, rateHolds } = judged;
  const psv = standing(measurements, 'middle-cerebral-artery-psv');
  if (!psv) {
    return standing(measurements, 'middle-cerebral-artery-pi')
      ? ['MCA peak velocity in cm/s was not supplied: signs of anaemia were not assessed.']
      : [];
  }
  if (gaDays === null || !rateHolds) return [];
  if (standing(measurements, 'middle-cerebral-artery-psv-mom')) {
    return angle === null ? [`MCA peak velocity: ${ANGLE_UNKNOWN}.`] : [];
  }
  return [
    angle !== null && angle > MCA_ANGLE
      ? `MCA peak velocity was not compared with its median: the angle set on the machine is above ${MCA_ANGLE} degrees.`
      : 'MCA peak velocity was not compared with its median: the gestational age is outside its chart.',
  ];
}

const uterineSides = (measurements: readonly Measurement[]) =>
  measurements.some(
    ({ concept, quality }) => concept.key === 'uterine-artery-pi' && quality === 'accepted',
  ) && !standing(measurements, 'uterine-artery-mean-pi')
    ? [
        'The mean PI of both uterine arteries was not assessed: one side, or the name of a side, is missing.',
      ]
    : [];

/** Values so near to the centile that makes them abnormal that the trace cannot tell the side. */
function nearCutOff(measurements: readonly Measurement[]): string[] {
  const umbilical = standing(measurements, 'umbilical-artery-pi');
  const cerebral = standing(measurements, 'middle-cerebral-artery-pi');
  const near = (one: Measurement | null, limit: number | null | undefined) =>
    one !== null && limit != null && acrossCutOff(one.value, one.uncertainty, [limit], '') !== null;
  return [
    ...(near(umbilical, umbilical?.reference?.high)
      ? [
          'The interval of the umbilical artery PI reaches across its 95th centile: measure by hand.',
        ]
      : []),
    ...(near(cerebral, cerebral?.reference?.low)
      ? ['The interval of the MCA PI reaches across its 5th centile: measure by hand.']
      : []),
  ];
}

/** A PI tells the resistance, and not whether there is flow at the end of diastole. */
function withoutFlow(measurements: readonly Measurement[], flow: Judged['flow']): string[] {
  const pi = standing(measurements, 'umbilical-artery-pi');
  if (!pi || flow !== null) return [];
  const within = pi.reference?.centile != null && rank(pi.reference) === 'N';
  const lead = within
    ? 'Umbilical artery PI is between its 5th and its 95th centile'
    : 'Of the umbilical artery the PI is known';
  return [`${lead}; end-diastolic flow was not assessed.`];
}

/** What could not be judged of the values, and why: one sentence each. */
export function dopplerGaps(measurements: readonly Measurement[], judged: Judged): string[] {
  return [
    ...(judged.gaDays === null ? [] : outsideChart(measurements, judged.charts)),
    ...withoutMultiple(measurements, judged),
    ...uterineSides(measurements),
    ...nearCutOff(measurements),
    ...withoutFlow(measurements, judged.flow),
  ];
}
