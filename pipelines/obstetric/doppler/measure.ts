import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import { mean } from '../../measure/statistics.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import { isConfirmed, isRejected, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import {
  remarkOfDoppler,
  say,
  type TraceProblem,
  type VesselGap,
} from '../../result/render/obstetric/doppler.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import { distinctStatements, type Statement } from '../../result/statement.ts';
import { acceptedValue, createMeasurement } from '../shared/measurement.ts';
import {
  type BeatVelocities,
  type DopplerVessel,
  type DopplerWaveform,
  type SpectrumReading,
  VESSEL_OF,
} from './evidence.ts';
import {
  pulsatilityIndex,
  resistanceIndex,
  systolicDiastolicRatio,
  WALL_FILTER_LIMIT,
} from './guideline.ts';

export const DOPPLER_SECTION = 'doppler';

/** Minimum trace quality for a category (obstetric 13.1). */
const TRACE = {
  beats: 3,
  /** Maximum coefficient of variation of the cycle lengths. */
  variation: 0.1,
  confidence: 0.5,
} as const;

/**
 * Half width of the 95 % interval as a share of the value, or as an absolute value for RI. Measured
 * on simulated spectra; see the card in docs/doppler.md.
 */
const TRACE_UNCERTAINTY = { pi: 0.1, ri: 0.03, sd: 0.15, psv: 0.07, edv: 0.15 } as const;

/** Minimum peak velocity of the main stem of a uterine artery, cm/s (obstetric 13.2). */
const UTERINE_STEM_PSV = 60;

type Property = keyof typeof TRACE_UNCERTAINTY;
type Traced = Extract<DopplerWaveform, { status: 'traced' }>;
export type TracedReading = SpectrumReading & { waveform: Traced };

export const isTraced = (reading: SpectrumReading): reading is TracedReading =>
  reading.waveform.status === 'traced';

function valuesOf(beats: readonly BeatVelocities[]): Record<Property, number | null> {
  const ratios = beats.map((beat) => systolicDiastolicRatio(beat.peak, beat.endDiastolic));
  const forward = ratios.filter((ratio) => ratio !== null);
  return {
    pi: mean(beats.map((beat) => pulsatilityIndex(beat.peak, beat.endDiastolic, beat.average))),
    ri: mean(beats.map((beat) => resistanceIndex(beat.peak, beat.endDiastolic))),
    sd: forward.length === beats.length ? mean(forward) : null,
    psv: mean(beats.map(({ peak }) => peak)),
    edv: mean(beats.map(({ endDiastolic }) => endDiastolic)),
  };
}

/**
 * Returns true if a beat is consistent: the time-averaged maximum velocity is below PSV and, in
 * forward flow, above EDV (obstetric 13.1).
 */
const isConsistent = ({ peak, endDiastolic, average }: BeatVelocities) =>
  average > 0 && average < peak && (endDiastolic <= 0 || average > endDiastolic);

function calipersOf({ side, beats, spectrum }: Traced): { peak: Caliper; end: Caliper } | null {
  const beat = beats[beats.length >> 1];
  if (!beat) return null;
  const { left, top, zeroRow, velocityPerRow } = spectrum;
  const upwards = side === 'above' ? -1 : 1;
  const line = (column: number, velocity: number): Caliper => ({
    type: 'line',
    points: [
      [left + column, top + zeroRow],
      [left + column, top + zeroRow + (upwards * velocity) / velocityPerRow],
    ],
  });
  return {
    peak: line(beat.peakColumn, beat.peak),
    end: line(beat.to, beat.endDiastolic),
  };
}

/**
 * Returns the source of a value. A velocity has a caliper where it was read; a calculated index has
 * only the frame.
 */
function sourceOf(reading: TracedReading, shown: 'peak' | 'end' | null): Measurement['source'] {
  const calipers = shown && calipersOf(reading.waveform);
  return measuredOn(reading, reading.frame, 'image-analysis', calipers ? [calipers[shown]] : []);
}

/** Returns why a trace is too poor for a category; null if it is good enough. */
export function traceProblem({ beats, variation, confidence }: Traced): TraceProblem | null {
  if (!beats.every(isConsistent)) return 'contradictory';
  if (variation > TRACE.variation) return 'irregular';
  if (beats.length < TRACE.beats) return 'few-beats';
  if (confidence < TRACE.confidence) return 'noise';
  return null;
}

/** Returns true if the wall filter removes so much that missing flow cannot be called absent. */
export function isFiltered({ velocities, waveform: { vanishesAt } }: TracedReading): boolean {
  const limit = velocities ? WALL_FILTER_LIMIT.cmPerSecond : WALL_FILTER_LIMIT.hertz;
  return vanishesAt !== null && vanishesAt > limit;
}

export function uncertaintyOf(property: Property, value: number): number {
  const share = TRACE_UNCERTAINTY[property];
  return property === 'ri' ? share : share * Math.abs(value);
}

/**
 * Returns true for uterine arteries, because both sides of them are used. For other vessels, only
 * the better trace is used.
 */
export const sidesApart = (vessel: string | null) => vessel === 'uterine-artery';

/**
 * Returns the id of a value, such as `umbilical-artery-pi`. The side is appended if both sides are
 * used, and a number for the second and later traces.
 */
export function idOf(
  key: string,
  { vessel, laterality }: { vessel: string | null; laterality: Measurement['laterality'] },
  rank: number,
): string {
  const side = sidesApart(vessel) ? laterality : null;
  return [key, side, rank > 0 ? rank + 1 : null].filter((part) => part !== null).join('-');
}

/**
 * Returns true if a PI is plausible. The wider limit for the umbilical artery applies only to
 * reversed flow (obstetric 0.6).
 */
function isPlausiblePi(
  key: ObstetricConcept,
  value: number,
  beats: readonly BeatVelocities[],
): boolean {
  const reversed = beats.some(({ endFlow }) => endFlow === 'reversed');
  return isPlausible(key, value) && (reversed || isPlausible('unnamed-vessel-pi', value));
}

/**
 * Plausible peak velocities of each vessel in cm/s. Except for the MCA (obstetric 0.6), they were
 * chosen by this project. Other peaks suggest another vessel or a misread scale.
 */
const PEAKS = {
  'umbilical-artery': { low: 5, high: 150 },
  'middle-cerebral-artery': { low: 5, high: 200 },
  'uterine-artery': { low: 5, high: 300 },
} as const satisfies Partial<Record<DopplerVessel, { low: number; high: number }>>;

function isPlausiblePeak({ vessel, velocities, waveform }: TracedReading): boolean {
  if (!velocities || vessel === null || vessel === 'ductus-venosus') return true;
  const peak = mean(waveform.beats.map((beat) => beat.peak));
  return peak >= PEAKS[vessel].low && peak <= PEAKS[vessel].high;
}

function onTrace(
  reading: TracedReading,
  rank: number,
  key: ObstetricConcept,
  value: number,
  given: Pick<Measurement, 'source' | 'uncertainty' | 'quality' | 'remarks'>,
): Measurement {
  const { vessel, laterality, fetus, waveform } = reading;
  return createMeasurement(key, value, 'doppler-envelope', {
    ...given,
    id: idOf(key, reading, rank),
    section: DOPPLER_SECTION,
    derivation: 'mean',
    ...(sidesApart(vessel) ? { laterality } : { fetus }),
    confidence: waveform.confidence,
    ...(rank > 0 && { standing: 'repeat' as const }),
  });
}

/**
 * Returns PI, RI, S/D, PSV and EDV of one spectrum. The ids of the values contain no number if
 * `rank` is 0. If the header does not identify the vessel or, in a twin pregnancy, the fetus, the
 * spectrum may show anything, even the outflow tract of an adult heart. Its values are then shown
 * but not used.
 */
export function measureSpectrum(reading: TracedReading, rank: number): Measurement[] {
  const { waveform, vessel } = reading;
  if (vessel === 'ductus-venosus') return [];
  const values = valuesOf(waveform.beats);
  const peakHolds = isPlausiblePeak(reading);
  const problem = traceProblem(waveform);
  const measured = (['pi', 'ri', 'sd', 'psv', 'edv'] as const).flatMap((property) => {
    const value = values[property];
    // Without flow, the index would be a division by zero.
    if (value === null || !Number.isFinite(value)) return [];
    const key = `${vessel ?? 'unnamed-vessel'}-${property}` as const;
    const velocity = property === 'psv' || property === 'edv';
    if (velocity && !reading.velocities) return [];
    const own =
      property === 'pi' ? isPlausiblePi(key, value, waveform.beats) : isPlausible(key, value);
    const plausible = own && peakHolds;
    const branch = key === 'uterine-artery-psv' && value <= UTERINE_STEM_PSV;
    const { laterality, correctionAngle: angle } = reading;
    const limits = isPlausible(key, value) ? 'unnamed-vessel-pi' : key;
    const remarks = [
      remarkOfDoppler('doppler.beats', { count: waveform.beats.length }),
      ...(laterality && !sidesApart(vessel)
        ? [remarkOfDoppler('doppler.side', { side: laterality })]
        : []),
      ...(problem ? [remarkOfDoppler('doppler.trace-problem', { problem })] : []),
      ...(vessel === null ? [remarkOfDoppler('doppler.vessel-not-named', {})] : []),
      ...(own ? [] : [remark('obstetric.implausible-by', { key: limits })]),
      ...(peakHolds ? [] : [remarkOfDoppler('doppler.peak-implausible', {})]),
      ...(velocity && angle !== null
        ? [remarkOfDoppler('doppler.angle', { degrees: Math.round(Math.abs(angle)) })]
        : []),
      ...(branch ? [remarkOfDoppler('doppler.branch', { limit: UTERINE_STEM_PSV })] : []),
      ...(reading.velocities ? [] : [remarkOfDoppler('doppler.scale-in-hz', {})]),
      remark('method.simulated-only', {}),
    ];
    return [
      onTrace(reading, rank, key, value, {
        source: sourceOf(reading, property === 'psv' ? 'peak' : property === 'edv' ? 'end' : null),
        uncertainty: uncertaintyOf(property, value),
        quality: !plausible ? 'inadequate' : problem || vessel === null ? 'low' : 'accepted',
        remarks,
      }),
    ];
  });
  return withoutStaleIndices(measured);
}

/**
 * Withholds the indices of a spectrum if a person corrected one of the velocities from which they
 * were calculated. An index that a person confirmed is not withheld.
 */
function withoutStaleIndices(measured: readonly Measurement[]): Measurement[] {
  const isVelocity = ({ unit }: Measurement) => unit === 'cm/s';
  const keys = measured
    .filter((one) => isVelocity(one) && one.origin === 'person')
    .map(({ concept }) => concept.key);
  return measured.map((one) => {
    if (keys.length === 0 || isVelocity(one) || isConfirmed(one) || one.quality !== 'accepted') {
      return one;
    }
    const why = remarkOfDoppler('doppler.velocity-corrected', { keys });
    return { ...one, quality: 'inadequate', remarks: [...one.remarks, why] };
  });
}

/**
 * Returns the PI for veins, (S - a) / TAMX. No chart could be confirmed for it (obstetric 13.7).
 */
export function measureDuctus(reading: TracedReading, rank: number): Measurement[] {
  const { waveform } = reading;
  const value = mean(
    waveform.beats.map(({ peak, lowest, average }) => pulsatilityIndex(peak, lowest, average)),
  );
  if (!Number.isFinite(value)) return [];
  const problem = traceProblem(waveform);
  const key = 'ductus-venosus-piv';
  const plausible = isPlausiblePi(key, value, waveform.beats);
  return [
    onTrace(reading, rank, key, value, {
      source: sourceOf(reading, 'peak'),
      uncertainty: uncertaintyOf('pi', value),
      quality: !plausible ? 'inadequate' : problem ? 'low' : 'accepted',
      remarks: [
        remarkOfDoppler('doppler.beats', { count: waveform.beats.length }),
        ...(problem ? [remarkOfDoppler('doppler.trace-problem', { problem })] : []),
        ...(plausible ? [] : [remark('obstetric.implausible-by', { key: 'unnamed-vessel-pi' })]),
        remarkOfDoppler('doppler.no-chart', {}),
        remark('method.simulated-only', {}),
      ],
    }),
  ];
}

export const FETAL_ARTERIES = [
  'umbilical-artery',
  'middle-cerebral-artery',
] as const satisfies readonly DopplerVessel[];

/** Reports why spectra were not measured, each reason once per vessel. */
export function refusals(readings: readonly SpectrumReading[]): Statement[] {
  return distinctStatements(
    readings.flatMap(({ vessel, fetus: of, waveform }) =>
      waveform.status === 'refused'
        ? [say.gap('doppler.refused', { vessel, of, reason: waveform.reason })]
        : [],
    ),
  );
}

/**
 * Spectra and values that are assessed together: all those of a study with one fetus, those of one
 * of several fetuses, or those of the mother.
 */
interface Supplied {
  /** All spectra, traced or not. */
  readings: readonly SpectrumReading[];
  /** Spectra that need review, of any fetus. */
  held: readonly SpectrumReading[];
  measurements: readonly Measurement[];
  /** All machine values, used or not. */
  cart: readonly Measurement[];
  /** Vessels with spectra that are not assigned to a fetus. */
  unnamed?: ReadonlySet<DopplerVessel | null>;
}

const isOf = (vessel: DopplerVessel) => (one: Measurement) =>
  VESSEL_OF.get(one.concept.key) === vessel;

const isMeasured = ({ measurements }: Supplied, vessel: DopplerVessel) =>
  measurements.some((one) => one.quality === 'accepted' && isOf(vessel)(one));

function whyNot(
  supplied: Supplied,
  vessel: DopplerVessel,
): { reason: VesselGap | null; problem: TraceProblem | null } {
  const { readings, held, measurements, cart, unnamed } = supplied;
  const because = (reason: VesselGap | null, problem: TraceProblem | null = null) => ({
    reason,
    problem,
  });
  const own = readings.filter((reading) => reading.vessel === vessel);
  const traced = own.filter(isTraced);
  const problem = traced.map(({ waveform }) => traceProblem(waveform)).find((one) => one !== null);
  if (problem) return because('poor-trace', problem);
  const values = measurements.filter(isOf(vessel));
  if (values.some(isRejected)) return because('rejected');
  if (traced.length > 0) return because('trace-implausible');
  if (own.length > 0) return because(null);
  if (values.length > 0) return because('machine-implausible');
  if (cart.some(isOf(vessel))) return because(null);
  if (held.some((reading) => reading.vessel === vessel)) return because('needs-review');
  return because(unnamed?.has(vessel) ? 'not-of-this-fetus' : 'not-supplied');
}

/**
 * Reports which of these vessels have no value, why, and whether the CPR is missing for this reason
 * (obstetric 13.8).
 */
export function suppliedGaps(supplied: Supplied, vessels: readonly DopplerVessel[]): Statement[] {
  const pair = FETAL_ARTERIES.filter((one) => vessels.includes(one));
  const measured = pair.filter((vessel) => isMeasured(supplied, vessel));
  const gaps = vessels
    .filter((vessel) => !isMeasured(supplied, vessel))
    .flatMap((vessel) => {
      const { reason, problem } = whyNot(supplied, vessel);
      const cpr = measured.length === 1 && pair.some((one) => one === vessel);
      return reason === null && !cpr
        ? []
        : [say.gap('doppler.vessel-gap', { vessel, reason, problem, cpr })];
    });
  const both = measured.length === FETAL_ARTERIES.length;
  return both && !acceptedValue(supplied.measurements, 'cerebroplacental-ratio')
    ? [...gaps, say.gap('doppler.no-cpr', {})]
    : gaps;
}
