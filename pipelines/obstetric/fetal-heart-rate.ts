import type { Measurement } from '../result/envelope.ts';
import { measuredOn } from '../result/source.ts';
import { isTraced, traceProblem } from './doppler-measurements.ts';
import { createMeasurement } from './measurement.ts';
import { implausibleNote, isPlausible } from './plausibility.ts';
import type { MModeReading } from './read/fetal-heart.ts';
import type { CardiacReading } from './read/presentation.ts';
import type { SpectrumReading } from './read/spectra.ts';
import type { ObstetricEvidence } from './section.ts';
import { SIMULATED_ONLY } from './simulated-only.ts';

export const FETAL_HEART_SECTION = 'fetal-heart';

/** Coefficient of variation of the beats up to which a rhythm is called regular. */
export const REGULAR = 0.1;

/** A rate, and how regular its beats are; null: not told by this source. */
export interface RateReading {
  measurement: Measurement;
  variation: number | null;
}

const KEY = 'fetal-heart-rate';

function rate(
  id: string,
  value: number,
  method: Parameters<typeof createMeasurement>[3],
  at: { file: string; sopInstanceUid: string | null; frame: number | null },
  given: { confidence: number; uncertainty: number | null; steady: boolean; fetal?: boolean },
): Measurement {
  const plausible = isPlausible(KEY, value);
  const { fetal = true } = given;
  const notes = [
    plausible ? null : implausibleNote(KEY),
    fetal ? null : 'no image of the study shows a fetus, and the machine does not call it fetal',
    given.steady ? null : 'its beats could not be told apart',
    SIMULATED_ONLY,
  ];
  return createMeasurement(`${KEY}-${id}`, KEY, value, method, {
    section: FETAL_HEART_SECTION,
    derivation: 'measured',
    source: measuredOn(at, at.frame, 'image-analysis'),
    confidence: Math.max(0, Math.min(1, given.confidence)),
    uncertainty: given.uncertainty,
    quality: !plausible ? 'inadequate' : given.steady && fetal ? 'accepted' : 'low',
    note: notes.filter(Boolean).join('; '),
  });
}

/** Half width of the 95 % interval of sweeps, beats per minute, as measured on phantoms. */
const SWEEP_UNCERTAINTY = 3;

function ofMMode(readings: readonly MModeReading[]): RateReading[] {
  return readings.flatMap(({ rhythm, fetal, ...at }, index) => {
    if (rhythm.status !== 'beating') return [];
    const { beatsPerMinute, strength, variation } = rhythm;
    const measurement = rate(`m-mode-${index + 1}`, beatsPerMinute, 'm-mode-periodicity', at, {
      confidence: strength,
      uncertainty: SWEEP_UNCERTAINTY,
      steady: variation !== null,
      fetal,
    });
    return [{ measurement, variation }];
  });
}

/** Vessels that beat with the fetal heart; those of the mother and unnamed ones do not count. */
const FETAL_VESSELS: ReadonlySet<string> = new Set(['umbilical-artery', 'middle-cerebral-artery']);

function ofDoppler(readings: readonly SpectrumReading[]): RateReading[] {
  return readings
    .filter(isTraced)
    .filter(({ vessel }) => vessel !== null && FETAL_VESSELS.has(vessel))
    .map(({ waveform, ...at }, index) => ({
      measurement: rate(
        `doppler-${index + 1}`,
        waveform.beatsPerMinute,
        'doppler-periodicity',
        at,
        {
          confidence: waveform.confidence,
          uncertainty: SWEEP_UNCERTAINTY,
          steady: traceProblem(waveform) === null,
        },
      ),
      variation: waveform.beats.length >= 3 ? waveform.variation : null,
    }));
}

function ofCine(readings: readonly CardiacReading[]): RateReading[] {
  return readings.flatMap(({ clip, activity }, index) => {
    if (activity.status !== 'beating') return [];
    const { beatsPerMinute, strength, uncertainty } = activity;
    const at = { file: clip.file, sopInstanceUid: clip.sopInstanceUid, frame: null };
    const measurement = rate(`chest-${index + 1}`, beatsPerMinute, 'cine-periodicity', at, {
      confidence: strength,
      uncertainty,
      steady: true,
    });
    return [{ measurement, variation: null }];
  });
}

/** Every rate of the fetal heart, best source first: M-mode, fetal arteries, cine of the chest. */
export function ratesOf({ views }: ObstetricEvidence): RateReading[] {
  return [
    ...ofMMode(views.fetalHeart?.mMode ?? []),
    ...ofDoppler(views.spectra ?? []),
    ...ofCine(views.presentation?.cardiac ?? []),
  ];
}
