import { CONCEPTS } from '../../concepts/concepts.ts';
import { fetusOf } from '../../contract/fetus-name.ts';
import type { Clip, SweepRegion } from '../../contract/study.ts';
import { type ViewNamed, viewWords } from '../../contract/view-words.ts';
import type { Reader } from '../shared/reader.ts';
import type { DopplerVessel, SpectrumReading } from './evidence.ts';
import { DOPPLER_VESSELS } from './evidence.ts';
import { traceDoppler } from './trace.ts';

/**
 * Vessel by code of the Anatomic Region Sequence. The ductus venosus has no confirmed code
 * (obstetric 15.4).
 */
const CODED: Readonly<Record<string, DopplerVessel>> = Object.fromEntries(
  (['umbilical-artery', 'middle-cerebral-artery', 'uterine-artery'] as const).flatMap((vessel) => {
    const { site } = CONCEPTS[`${vessel}-pi`];
    return site ? [[`${site.scheme}:${site.code}`, vessel]] : [];
  }),
);

/** Patterns for the words that operators and presets use in View Name and Stage Name. */
const WORDS: Readonly<Record<DopplerVessel, RegExp>> = {
  'umbilical-artery': /\b(ua|umb(ilical)? ?(a|art|artery|cord))\b/,
  'middle-cerebral-artery': /\b(mca|mid(dle)? ?cerebral)/,
  'uterine-artery': /\b(uta|ut(erine)? ?(a|art|artery))\b/,
  'ductus-venosus': /\b(dv\b|ductus ?ven)/,
};

const SIDES = { left: /\b(l|lt|left)\b/, right: /\b(r|rt|right)\b/ } as const;

type Named = ViewNamed & Pick<Clip, 'anatomicRegion' | 'laterality' | 'seriesLaterality'>;

/**
 * Returns the vessel identified by the header: by its code, or otherwise by the words of view and
 * stage. Null if the header identifies no vessel, or several.
 */
export function vesselOf(clip: Named): DopplerVessel | null {
  const coded = clip.anatomicRegion ? CODED[clip.anatomicRegion] : undefined;
  if (coded) return coded;
  const words = viewWords(clip);
  const named = DOPPLER_VESSELS.filter((vessel) => WORDS[vessel].test(words));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/**
 * Returns the side stated in the header: by its code, by the words of view and stage, or, for
 * the paired uterine arteries, for the series. Null if the words state both sides, or if no side is stated.
 */
export function lateralityOf(clip: Named): 'left' | 'right' | null {
  if (clip.laterality) return clip.laterality;
  const words = viewWords(clip);
  const left = SIDES.left.test(words);
  const right = SIDES.right.test(words);
  if (left || right) return left === right ? null : left ? 'left' : 'right';
  return vesselOf(clip) === 'uterine-artery' ? (clip.seriesLaterality ?? null) : null;
}

const isDoppler = ({ kind }: SweepRegion) => kind === 'pw' || kind === 'cw' || kind === 'doppler';

async function readClip(clip: Clip): Promise<SpectrumReading[]> {
  const sweeps = clip.sweeps.filter(isDoppler);
  // The last frame of a cine shows most of the sweep.
  const frame = clip.frames.at(-1);
  if (!frame || (sweeps.length === 0 && clip.mode !== 'spectral')) return [];
  const common = {
    file: clip.file,
    sopInstanceUid: clip.sopInstanceUid,
    frame: frame.index,
    vessel: vesselOf(clip),
    laterality: lateralityOf(clip),
    fetus: fetusOf(clip),
  };
  if (sweeps.length === 0) {
    const waveform = { status: 'refused', reason: 'no-scale' } as const;
    return [{ ...common, velocities: false, correctionAngle: null, waveform }];
  }
  const image = await frame.gray();
  return sweeps.map((sweep) => ({
    ...common,
    velocities: sweep.unit === 'cm/s',
    correctionAngle: sweep.correctionAngle,
    // A display in Hz is traced as if it were in cm/s. Frequency shift and velocity differ by a
    // constant factor, which cancels out in ratios.
    waveform: traceDoppler(image, { ...sweep, unit: 'cm/s' }),
  }));
}

/** Traces every spectral Doppler display of the study. */
export const spectraReader: Reader<SpectrumReading[]> = {
  stage: 'spectra',
  label: 'Tracing Doppler spectra',
  async read({ study, signal }) {
    const readings: SpectrumReading[] = [];
    for (const clip of study.clips) {
      signal.throwIfAborted();
      readings.push(...(await readClip(clip)));
    }
    return readings;
  },
};
