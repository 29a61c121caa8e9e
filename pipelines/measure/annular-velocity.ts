import { mainWaves } from './ejection.ts';
import type { SpectralDisplay, SpectralTrace } from './spectral-trace.ts';
import type { Wave } from './waves.ts';

export const ANNULAR = {
  /** Of the fastest wave of its side. */
  height: 0.25,
  /** Seconds; S' lasts at least this, the isovolumic spike before it does not. */
  systole: 0.09,
  /** Pieces of one wave lie no further apart than this, peak to peak in seconds. */
  pieces: 0.09,
  /** e' peaks within this after the end of S', a' within this before the next S', seconds. */
  early: 0.3,
  atrial: 0.22,
  margin: 0.02,
} as const;

/** Velocities of one beat of an annulus by tissue Doppler; null: not on the display. */
export interface AnnularBeat {
  systolic: Wave;
  early: Wave | null;
  atrial: Wave | null;
}

export interface AnnularMotion {
  systolic: SpectralTrace;
  diastolic: SpectralTrace;
  beats: AnnularBeat[];
}

/** Of the pieces of a torn wave the highest, from the first to the last. */
function joined(waves: readonly Wave[], apart: number): Wave[] {
  const result: Wave[] = [];
  for (const wave of waves) {
    const last = result.at(-1);
    if (!last || wave.peak - last.peak > apart) {
      result.push(wave);
      continue;
    }
    const higher = wave.height > last.height ? wave : last;
    result[result.length - 1] = { ...higher, from: last.from, to: wave.to };
  }
  return result;
}

function wavesOfSide({ waves, curve }: SpectralTrace, secondsPerColumn: number): Wave[] {
  const margin = ANNULAR.margin / secondsPerColumn;
  const inside = waves.filter(
    ({ peak, cut }) => !cut && peak >= margin && peak <= curve.length - 1 - margin,
  );
  const highest = Math.max(0, ...inside.map(({ height }) => height));
  const tall = inside.filter(({ height }) => height >= ANNULAR.height * highest);
  return joined(tall, ANNULAR.pieces / secondsPerColumn);
}

function beatsBetween(systolic: readonly Wave[], diastolic: readonly Wave[], second: number) {
  return systolic.map((s, i): AnnularBeat => {
    const next = systolic[i + 1];
    const between = diastolic.filter(
      ({ peak }) => peak > s.peak && (next === undefined || peak < next.peak),
    );
    const early = between.find(({ peak }) => peak - s.to <= ANNULAR.early * second) ?? null;
    const before = systolic[i - 1];
    const atrial = diastolic.findLast(
      ({ peak }) =>
        peak < s.peak &&
        s.from - peak <= ANNULAR.atrial * second &&
        (before === undefined || peak > before.peak),
    );
    return { systolic: s, early, atrial: atrial ?? null };
  });
}

/** Beats of one assignment of the sides, and how many of them have an early wave. */
function motionOf(
  systolic: SpectralTrace,
  diastolic: SpectralTrace,
  secondsPerColumn: number,
): AnnularMotion {
  const second = 1 / secondsPerColumn;
  const s = mainWaves(wavesOfSide(systolic, secondsPerColumn), secondsPerColumn).filter(
    ({ from, to }) => to - from >= ANNULAR.systole * second,
  );
  const beats = beatsBetween(s, wavesOfSide(diastolic, secondsPerColumn), second);
  // The early wave of a beat cannot also be the atrial wave before the next one.
  const distinct = beats.map((beat, i) => {
    const previous = beats[i - 1]?.early;
    return previous && beat.atrial?.peak === previous.peak ? { ...beat, atrial: null } : beat;
  });
  return { systolic, diastolic, beats: distinct };
}

/**
 * Motion of an annulus: S' on one side of the baseline, e' and a' on the other. From the apex S' is
 * above; a display that the machine inverted is known by two waves above and one below.
 */
export function annularMotion(display: SpectralDisplay): AnnularMotion {
  const { above, below, spectrum } = display;
  const upright = motionOf(above, below, spectrum.secondsPerColumn);
  const inverted = motionOf(below, above, spectrum.secondsPerColumn);
  const pairs = ({ beats }: AnnularMotion) =>
    beats.filter(({ early, atrial }) => early && atrial).length;
  return pairs(inverted) > pairs(upright) ? inverted : upright;
}
