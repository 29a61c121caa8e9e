import type { Measurement } from '../../result/envelope.ts';
import { fetusKey, isOfMachine, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { type RateSource, remarkOfHeart, say } from '../../result/render/obstetric/fetal-heart.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import type { Statement } from '../../result/statement.ts';
import { createMeasurement, ifPlausible } from '../shared/measurement.ts';
import type { MModeReading, RateEvidence, SpectrumBeats } from './evidence.ts';

export const FETAL_HEART_SECTION = 'fetal-heart';

/** Maximum coefficient of variation of the beat lengths at which a rhythm is called regular. */
export const REGULAR = 0.1;

/** A heart rate, and how regular the beats on its sweep are. */
export interface RateReading {
  measurement: Measurement;
  source: RateSource;
  /** Coefficient of variation of the beat lengths; null if this source does not provide it. */
  variation: number | null;
  /**
   * Number of beats similar in length and height, and number of beats seen; null if they were not
   * counted.
   */
  alike: { beats: number; seen: number } | null;
}

const KEY = 'fetal-heart-rate';

function rate(
  id: string,
  value: number,
  method: Parameters<typeof createMeasurement>[2],
  at: {
    file: string;
    sopInstanceUid: string | null;
    frame: number | null;
    fetus: string | null;
  },
  given: { confidence: number; uncertainty: number | null; steady: boolean; fetal?: boolean },
): Measurement {
  const plausible = isPlausible(KEY, value);
  const { fetal = true } = given;
  const remarks = [
    ...(plausible ? [] : [remark('obstetric.implausible', {})]),
    ...(fetal ? [] : [remarkOfHeart('heart.not-known-fetal', {})]),
    ...(given.steady ? [] : [remarkOfHeart('heart.beats-not-separable', {})]),
    remark('method.simulated-only', {}),
  ];
  return createMeasurement(KEY, value, method, {
    id: `${KEY}-${id}`,
    section: FETAL_HEART_SECTION,
    derivation: 'measured',
    source: measuredOn(at, at.frame, 'image-analysis'),
    fetus: at.fetus,
    confidence: Math.max(0, Math.min(1, given.confidence)),
    uncertainty: given.uncertainty,
    quality: !plausible ? 'inadequate' : given.steady && fetal ? 'accepted' : 'low',
    remarks,
  });
}

/**
 * Half width of the 95 % interval of a rate from a sweep, beats per minute, measured on phantoms.
 */
const SWEEP_UNCERTAINTY = 3;

const fetusOn = ({ study, fetusOf }: RateEvidence, file: string): string | null => {
  const clip = study.clips.find((one) => one.file === file);
  return clip ? fetusOf(clip) : null;
};

function ofMMode(evidence: RateEvidence): RateReading[] {
  const readings = evidence.views.fetalHeart?.mMode ?? [];
  return readings.flatMap(({ rhythm, fetal, ...sweep }: MModeReading, index): RateReading[] => {
    if (rhythm.status !== 'beating') return [];
    const { beatsPerMinute, strength, variation } = rhythm;
    const at = { ...sweep, fetus: fetusOn(evidence, sweep.file) };
    const measurement = rate(`m-mode-${index + 1}`, beatsPerMinute, 'm-mode-periodicity', at, {
      confidence: strength,
      uncertainty: SWEEP_UNCERTAINTY,
      steady: variation !== null,
      fetal,
    });
    return [{ measurement, source: 'm-mode', variation, alike: null }];
  });
}

function ofDoppler(spectra: readonly SpectrumBeats[]): RateReading[] {
  const withRate = spectra.flatMap(({ rhythm, ...at }) => (rhythm ? [{ at, rhythm }] : []));
  return withRate.map(({ at, rhythm }, index): RateReading => {
    const { beatsPerMinute, confidence, steady, variation, alike } = rhythm;
    const given = { confidence, uncertainty: SWEEP_UNCERTAINTY, steady };
    return {
      source: 'doppler',
      measurement: rate(`doppler-${index + 1}`, beatsPerMinute, 'doppler-periodicity', at, given),
      variation,
      alike,
    };
  });
}

/**
 * Reports that no rate could be read from some fetal spectra, because most of their beats differ
 * from each other.
 */
export const unevenBeats = ({ spectrumBeats }: RateEvidence): Statement[] =>
  spectrumBeats.some(({ rhythm }) => rhythm === null) ? [say.gap('heart.uneven-beats', {})] : [];

function ofCine({ views, fetusOf }: RateEvidence): RateReading[] {
  const readings = views.presentation?.cardiac ?? [];
  return readings.flatMap(({ clip, activity }, index): RateReading[] => {
    if (activity.status !== 'beating') return [];
    const { beatsPerMinute, strength, uncertainty } = activity;
    const { file, sopInstanceUid } = clip;
    const at = { file, sopInstanceUid, frame: null, fetus: fetusOf(clip) };
    const measurement = rate(`chest-${index + 1}`, beatsPerMinute, 'cine-periodicity', at, {
      confidence: strength,
      uncertainty,
      steady: true,
    });
    return [{ measurement, source: 'cine', variation: null, alike: null }];
  });
}

function ofMachine({ machine }: RateEvidence, listed: readonly Measurement[]): RateReading[] {
  const values =
    listed.length > 0 ? listed : machine.values(FETAL_HEART_SECTION, [KEY]).map(ifPlausible);
  return values.map(
    (measurement): RateReading => ({
      measurement,
      source: 'machine',
      variation: null,
      alike: null,
    }),
  );
}

/**
 * Returns every rate of the fetal heart, best source first: M-mode, fetal arteries, cines of the
 * chest, and the machine's report. The machine rates in `listed`, if there are any, replace those
 * from the report.
 */
export function ratesOf(
  evidence: RateEvidence,
  listed: readonly Measurement[] = [],
): RateReading[] {
  return [
    ...ofMMode(evidence),
    ...ofDoppler(evidence.spectrumBeats),
    ...ofCine(evidence),
    ...ofMachine(evidence, listed),
  ];
}

/** Rates of one fetus, or a single rate that cannot be assigned to one of several fetuses. */
export interface RateGroup {
  /** Null for a single fetus, or if the fetus is unknown. */
  fetus: string | null;
  several: boolean;
  rates: RateReading[];
}

/**
 * Groups the rates that may be compared with each other. If there are several fetuses, each
 * identified fetus has a group, and each rate without a fetus is a separate group (obstetric 0.5).
 * Machines name the fetus even if there is only one, so a machine rate with a fetus and our rates
 * without one may still belong to a single fetus. If an earlier section already listed a machine
 * rate (`earlier`), that measurement is reused so that the rate is not listed twice.
 */
export function rateGroups(evidence: RateEvidence, earlier: readonly Measurement[]): RateGroup[] {
  const rates = ratesOf(evidence);
  const ours = new Set(
    rates
      .filter(({ source }) => source !== 'machine')
      .map(({ measurement }) => fetusKey(measurement.fetus)),
  );
  const named = new Set(rates.flatMap(({ measurement }) => measurement.fetus ?? []).map(fetusKey));
  if (evidence.severalFetuses === null && ours.size < 2 && named.size < 2) {
    const listed = earlier.filter((one) => isOfMachine(one) && one.concept.key === KEY);
    return [{ fetus: null, several: false, rates: ratesOf(evidence, listed) }];
  }
  const byName = Map.groupBy(rates, ({ measurement }) => fetusKey(measurement.fetus));
  return [...byName]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .flatMap(([, own]): RateGroup[] => {
      const fetus = own[0]?.measurement.fetus ?? null;
      return fetus === null
        ? own.map((one) => ({ fetus, several: true, rates: [one] }))
        : [{ fetus, several: true, rates: own }];
    });
}
