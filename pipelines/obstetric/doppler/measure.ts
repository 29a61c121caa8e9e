import type { ConceptKey } from '../../concepts/concepts.ts';
import type {
  BeatVelocities,
  DopplerRefusal,
  DopplerWaveform,
} from '../../measure/doppler/arterial-flow.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import { measuredOn } from '../../result/measurement.ts';
import { acceptedValue, createMeasurement } from '../../result/render/number-text.ts';
import { implausibleNote, isPlausible } from '../shared/plausibility.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import { pulsatilityIndex, resistanceIndex, systolicDiastolicRatio } from './charts.ts';
import type { DopplerVessel, SpectrumReading } from './evidence.ts';
import { WALL_FILTER_LIMIT } from './guideline.ts';

export const DOPPLER_SECTION = 'doppler';

/** What a trace must hold before a category is drawn from it (obstetric 13.1). */
export const TRACE = {
  beats: 3,
  /** Coefficient of variation of the cycle lengths. */
  variation: 0.1,
  confidence: 0.5,
} as const;

/**
 * Half width of the 95 % interval as a share of the value (RI: absolute), measured on simulated
 * spectra; see the card in docs/doppler.md.
 */
export const TRACE_UNCERTAINTY = { pi: 0.1, ri: 0.03, sd: 0.15, psv: 0.07, edv: 0.15 } as const;

/** The main stem of a uterine artery flows faster, cm/s (obstetric 13.2). */
const UTERINE_STEM_PSV = 60;

type Property = keyof typeof TRACE_UNCERTAINTY;
type Traced = Extract<DopplerWaveform, { status: 'traced' }>;
export type TracedReading = SpectrumReading & { waveform: Traced };

export const isTraced = (reading: SpectrumReading): reading is TracedReading =>
  reading.waveform.status === 'traced';

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Indices of the beats, each from its own velocities, then their mean. */
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

/** For forward flow the mean maximum velocity lies between EDV and PSV (obstetric 13.1). */
const isConsistent = ({ peak, endDiastolic, average }: BeatVelocities) =>
  average > 0 && average < peak && (endDiastolic <= 0 || average > endDiastolic);

/** Lines from the baseline to the peak and to the end of diastole of the middle beat. */
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

/** Velocities show where they were read; what is calculated from them shows the frame only. */
function sourceOf(reading: TracedReading, shown: 'peak' | 'end' | null): Measurement['source'] {
  const calipers = shown && calipersOf(reading.waveform);
  return measuredOn(reading, reading.frame, 'image-analysis', calipers ? [calipers[shown]] : []);
}

/** Why a trace is not good enough for a category; null when it is. */
export function traceProblem({ beats, variation, confidence }: Traced): string | null {
  if (!beats.every(isConsistent)) return 'the velocities of its beats contradict each other';
  if (variation > TRACE.variation) return 'its beats differ in length by more than 10 %';
  if (beats.length < TRACE.beats) return 'fewer than 3 similar beats';
  if (confidence < TRACE.confidence) return 'the flow stands out too little from the noise';
  return null;
}

/** Whether the wall filter lets too little through to call flow below it absent. */
export function isFiltered({ velocities, waveform: { vanishesAt } }: TracedReading): boolean {
  const limit = velocities ? WALL_FILTER_LIMIT.cmPerSecond : WALL_FILTER_LIMIT.hertz;
  return vanishesAt !== null && vanishesAt > limit;
}

function uncertaintyOf(property: Property, value: number): number {
  const share = TRACE_UNCERTAINTY[property];
  return property === 'ri' ? share : share * Math.abs(value);
}

function angleNote(angle: number | null): string | null {
  return angle === null ? null : `angle set on the machine ${Math.round(Math.abs(angle))} deg`;
}

/** Each side of a uterine artery stands for itself; of any other vessel the better trace counts. */
export const sidesApart = (vessel: string | null) => vessel?.startsWith('uterine-artery') ?? false;

/** `umbilical-artery-pi`, with the side where it counts and a number from the second on. */
function idOf(key: ConceptKey, { laterality }: SpectrumReading, rank: number): string {
  const side = sidesApart(key) ? laterality : null;
  return [key, side, rank > 0 ? rank + 1 : null].filter((part) => part !== null).join('-');
}

/** Only reversed flow makes a PI so high as the umbilical artery's limit (obstetric 0.6). */
function isPlausiblePi(key: ConceptKey, value: number, beats: readonly BeatVelocities[]): boolean {
  const reversed = beats.some(({ endFlow }) => endFlow === 'reversed');
  return isPlausible(key, value) && (reversed || isPlausible('unnamed-vessel-pi', value));
}

/** PI, RI, S/D, PSV and EDV of one spectrum; `rank` 0 takes the plain ids. */
export function measureSpectrum(reading: TracedReading, rank: number): Measurement[] {
  const { waveform, vessel } = reading;
  if (vessel === 'ductus-venosus') return [];
  const values = valuesOf(waveform.beats);
  const problem = traceProblem(waveform);
  return (['pi', 'ri', 'sd', 'psv', 'edv'] as const).flatMap((property) => {
    const value = values[property];
    if (value === null) return [];
    const key = `${vessel ?? 'unnamed-vessel'}-${property}` as const;
    const velocity = property === 'psv' || property === 'edv';
    if (velocity && !reading.velocities) return [];
    const plausible =
      property === 'pi' ? isPlausiblePi(key, value, waveform.beats) : isPlausible(key, value);
    const branch = key === 'uterine-artery-psv' && value <= UTERINE_STEM_PSV;
    const notes = [
      `${waveform.beats.length} beats`,
      sidesApart(vessel) ? null : reading.laterality && `${reading.laterality} side`,
      problem,
      plausible ? null : implausibleNote(isPlausible(key, value) ? 'unnamed-vessel-pi' : key),
      velocity ? angleNote(reading.correctionAngle) : null,
      branch ? `at most ${UTERINE_STEM_PSV} cm/s: it may be a branch of the artery` : null,
      reading.velocities ? null : 'read on a scale in Hz, which ratios of velocities do not need',
      SIMULATED_ONLY,
    ];
    return [
      createMeasurement(idOf(key, reading, rank), key, value, 'doppler-envelope', {
        section: DOPPLER_SECTION,
        derivation: 'mean',
        source: sourceOf(reading, property === 'psv' ? 'peak' : property === 'edv' ? 'end' : null),
        laterality: sidesApart(vessel) ? reading.laterality : null,
        fetus: sidesApart(vessel) ? null : reading.fetus,
        confidence: waveform.confidence,
        uncertainty: uncertaintyOf(property, value),
        quality: !plausible ? 'inadequate' : problem ? 'low' : 'accepted',
        note: notes.filter(Boolean).join('; '),
      }),
    ];
  });
}

/** PI for veins, (S - a) / TAMX, which has no chart that could be confirmed (obstetric 13.7). */
export function measureDuctus(reading: TracedReading, rank: number): Measurement[] {
  const { waveform } = reading;
  const value = mean(
    waveform.beats.map(({ peak, lowest, average }) => pulsatilityIndex(peak, lowest, average)),
  );
  const problem = traceProblem(waveform);
  const key = 'ductus-venosus-piv';
  const plausible = isPlausiblePi(key, value, waveform.beats);
  return [
    createMeasurement(idOf(key, reading, rank), key, value, 'doppler-envelope', {
      section: DOPPLER_SECTION,
      derivation: 'mean',
      source: sourceOf(reading, 'peak'),
      fetus: reading.fetus,
      confidence: waveform.confidence,
      uncertainty: uncertaintyOf('pi', value),
      quality: !plausible ? 'inadequate' : problem ? 'low' : 'accepted',
      note: [
        `${waveform.beats.length} beats`,
        problem,
        plausible ? null : implausibleNote('unnamed-vessel-pi'),
        'no centile chart',
        SIMULATED_ONLY,
      ]
        .filter(Boolean)
        .join('; '),
    }),
  ];
}

export const VESSELS: Readonly<Record<DopplerVessel, string>> = {
  'umbilical-artery': 'umbilical artery',
  'middle-cerebral-artery': 'MCA',
  'uterine-artery': 'uterine artery',
  'ductus-venosus': 'ductus venosus',
};

export const FETAL_ARTERIES = [
  'umbilical-artery',
  'middle-cerebral-artery',
] as const satisfies readonly DopplerVessel[];

const REFUSALS: Readonly<Record<DopplerRefusal, string>> = {
  'no-scale': 'no time and velocity scale with its baseline was available',
  'no-flow': 'no flow stands out from the noise',
  aliased: 'the flow is aliased (it wraps around the end of the scale)',
  'cut-off': 'the flow is cut off by the end of the scale',
  'no-beats': 'no regular beats were seen',
  'beats-differ':
    'fewer than half of its beats are alike, so that the rhythm is irregular or the trace unreliable',
};

/** Why spectra were not measured, each reason of a vessel once. */
export function refusalSentences(readings: readonly SpectrumReading[]): string[] {
  const said = readings.flatMap(({ vessel, fetus, waveform }) => {
    if (waveform.status !== 'refused') return [];
    const whose = vessel && fetus ? ` of fetus ${fetus}` : '';
    const name = vessel ? `The ${VESSELS[vessel]} spectrum${whose}` : 'A spectrum';
    return [`${name} was not measured: ${REFUSALS[waveform.reason]}.`];
  });
  return [...new Set(said)];
}

/** What came of one fetus, of its mother, or of a study with one fetus. */
export interface Supplied {
  /** Traced or not. */
  readings: readonly SpectrumReading[];
  measurements: readonly Measurement[];
  /** The machine's values, used or not. */
  cart: readonly Measurement[];
  /** Vessels of which spectra came that do not name their fetus. */
  unnamed?: ReadonlySet<DopplerVessel | null>;
}

const isOf = (vessel: DopplerVessel) => (one: Measurement) =>
  one.concept.key.startsWith(`${vessel}-`);

const isMeasured = ({ measurements }: Supplied, vessel: DopplerVessel) =>
  measurements.some((one) => one.quality === 'accepted' && isOf(vessel)(one));

const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

/** Why a vessel has no accepted value, without the stop; empty where another sentence says it. */
function whyNot(supplied: Supplied, vessel: DopplerVessel): string {
  const { readings, measurements, cart, unnamed } = supplied;
  const name = VESSELS[vessel];
  const own = readings.filter((reading) => reading.vessel === vessel);
  const traced = own.filter(isTraced);
  const problem = traced.map(({ waveform }) => traceProblem(waveform)).find((one) => one !== null);
  if (problem) return `The ${name} trace allows no category: ${problem}`;
  if (traced.length > 0) return `The values of the ${name} trace are implausible and were not used`;
  if (own.length > 0) return '';
  const reported = measurements.some((one) => isOf(vessel)(one));
  if (reported) {
    return `The ${name} values of the ultrasound machine are implausible and were not used`;
  }
  if (cart.some(isOf(vessel))) return '';
  if (unnamed?.has(vessel)) return `No ${name} spectrum is known to be of this fetus`;
  return `${capital(name)} Doppler was not supplied`;
}

/** What is missing of these vessels, and whether a CPR is missing with it (obstetric 13.8). */
export function suppliedGaps(supplied: Supplied, vessels: readonly DopplerVessel[]): string[] {
  const pair = FETAL_ARTERIES.filter((one) => vessels.includes(one));
  const measured = pair.filter((vessel) => isMeasured(supplied, vessel));
  const gaps = vessels
    .filter((vessel) => !isMeasured(supplied, vessel))
    .map((vessel) => {
      const why = whyNot(supplied, vessel);
      const ratio = measured.length === 1 && pair.some((one) => one === vessel);
      if (!ratio) return why && `${why}.`;
      return why ? `${why}; CPR was not assessed.` : 'CPR was not assessed.';
    })
    .filter(Boolean);
  const both = measured.length === FETAL_ARTERIES.length;
  return both && !acceptedValue(supplied.measurements, 'cerebroplacental-ratio')
    ? [...gaps, 'CPR was not assessed: it needs the PI of both arteries.']
    : gaps;
}
