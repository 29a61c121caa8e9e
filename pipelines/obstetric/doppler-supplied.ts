import type { DopplerRefusal } from '../measure/doppler.ts';
import type { Measurement } from '../result/envelope.ts';
import { isTraced, traceProblem } from './doppler-measurements.ts';
import { standing } from './measurement.ts';
import type { DopplerVessel, SpectrumReading } from './read/spectra.ts';

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

/** What is missing of these vessels, and whether a CPR is missing with it (obstetric reference 13.8). */
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
  return both && !standing(supplied.measurements, 'cerebroplacental-ratio')
    ? [...gaps, 'CPR was not assessed: it needs the PI of both arteries.']
    : gaps;
}
