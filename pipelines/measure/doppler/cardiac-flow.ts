import { median } from '../statistics.ts';
import { outlineOfWave, type Wave } from '../waves.ts';
import type { SpectralDisplay, SpectralTrace } from './envelope.ts';

const EJECTION = {
  /**
   * Minimum height of a wave, as a share of the median height of the taller half of the waves.
   * Lower waves are noise or a different flow.
   */
  height: 0.5,
  /** Minimum seconds from peak to peak: 200 beats per minute, faster than any adult heart. */
  apart: 0.3,
  /** Minimum duration of an ejection or a regurgitation, in seconds. */
  shortest: 0.1,
  /** Minimum distance of a peak from both ends of the display, in seconds. */
  margin: 0.03,
} as const;

/** The wave of one beat: an ejection or a regurgitant jet. Positions are columns of the display. */
export interface Ejection {
  /** Fractional column positions at which the flanks meet the baseline. */
  from: number;
  to: number;
  peakColumn: number;
  /** cm/s */
  peak: number;
  /**
   * Velocities from `from` to `to` in cm/s, one per column; near the baseline, the flanks are
   * straight lines. Empty if a flank is missing.
   */
  velocities: number[];
  /** Seconds from the start of the wave to its peak. */
  accelerationTime: number;
  flowTime: number;
  whole: boolean;
}

/** If two waves are too close to be different beats, only the higher one is kept. */
function onePerBeat(waves: readonly Wave[], apart: number): Wave[] {
  const chosen: Wave[] = [];
  for (const wave of waves.toSorted((a, b) => b.height - a.height)) {
    if (chosen.every(({ peak }) => Math.abs(peak - wave.peak) >= apart)) chosen.push(wave);
  }
  return chosen.toSorted((a, b) => a.peak - b.peak);
}

/**
 * Returns the tallest waves, one per beat. Heights are compared with the median of the taller half
 * rather than with the greatest height, so that a single spike does not exclude all others.
 */
function mainWaves(waves: readonly Wave[], secondsPerColumn: number): Wave[] {
  const long = waves.filter(({ from, to }) => (to - from) * secondsPerColumn >= EJECTION.shortest);
  const single = onePerBeat(long, EJECTION.apart / secondsPerColumn);
  const heights = single.map(({ height }) => height).toSorted((a, b) => b - a);
  const usual = median(heights.slice(0, Math.max(1, Math.ceil(heights.length / 2))));
  return single.filter(({ height }) => height >= EJECTION.height * usual);
}

/** Returns the ejections on one side of a display (`traceDisplay`), in chronological order. */
export function ejectionsOf(
  curve: Float64Array,
  waves: readonly Wave[],
  secondsPerColumn: number,
): Ejection[] {
  const margin = EJECTION.margin / secondsPerColumn;
  const last = curve.length - 1;
  return mainWaves(waves, secondsPerColumn)
    .filter(({ peak }) => peak >= margin && peak <= last - margin)
    .map((wave): Ejection => {
      const outline = outlineOfWave(curve, wave);
      const { from, to, values } = outline ?? { ...wave, values: [] };
      return {
        from,
        to,
        peakColumn: wave.peak,
        peak: wave.height,
        velocities: values,
        accelerationTime: (wave.peak - from) * secondsPerColumn,
        flowTime: (to - from) * secondsPerColumn,
        whole: outline !== null && from >= 0 && to <= last && !wave.cut,
      };
    });
}

const ANNULAR = {
  /** Minimum height of a wave, as a share of the fastest wave on its side. */
  height: 0.25,
  /** Minimum duration of S' in seconds. The isovolumic spike before it is shorter. */
  systole: 0.09,
  /** Maximum seconds, from peak to peak, between two pieces of one wave. */
  pieces: 0.09,
  /**
   * Search times in seconds. The peak of e' is within `early` after the end of S', and the peak of
   * a' is within `atrial` before the next S'.
   */
  early: 0.3,
  atrial: 0.22,
  margin: 0.02,
} as const;

/**
 * Tissue Doppler velocities of an annulus in one beat, in cm/s. Null if a wave is not on the
 * display.
 */
interface AnnularBeat {
  systolic: Wave;
  early: Wave | null;
  atrial: Wave | null;
}

interface AnnularMotion {
  systolic: SpectralTrace;
  diastolic: SpectralTrace;
  beats: AnnularBeat[];
}

/**
 * Joins the pieces of a torn wave: the highest piece is extended from the start of the first piece
 * to the end of the last one.
 */
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
  // A wave that is the early wave of one beat cannot also be the atrial wave before the next.
  const distinct = beats.map((beat, i) => {
    const previous = beats[i - 1]?.early;
    return previous && beat.atrial?.peak === previous.peak ? { ...beat, atrial: null } : beat;
  });
  return { systolic, diastolic, beats: distinct };
}

/**
 * Returns the motion of an annulus as seen from the apex. The annulus moves towards the probe in
 * systole, so S' is above the baseline, and e' and a' are below it (echo 17). `inverted` is true if
 * more beats have both e' and a' with the two sides exchanged. The operator may then have inverted
 * the display, which the header does not record, so the values are uncertain.
 */
export function annularMotion(display: SpectralDisplay): AnnularMotion & { inverted: boolean } {
  const { above, below, spectrum } = display;
  const upright = motionOf(above, below, spectrum.secondsPerColumn);
  const turned = motionOf(below, above, spectrum.secondsPerColumn);
  const pairs = ({ beats }: AnnularMotion) =>
    beats.filter(({ early, atrial }) => early && atrial).length;
  return { ...upright, inverted: pairs(turned) > pairs(upright) };
}

const JET_DECAY = {
  /** The line is fitted to the jet from its peak to this share of the time between peak and end. */
  part: 0.75,
  /** Minimum duration in seconds. A shorter slope is not measured. */
  shortest: 0.12,
  /** Minimum share of the variance that the line must explain (R²). */
  fit: 0.8,
} as const;

interface JetDecay {
  /** Velocity on the fitted line at the time of the jet's peak, in cm/s. */
  initial: number;
  /** Velocity on the fitted line at the end of the jet, in cm/s. */
  end: number;
  /** Slope in cm/s per second; positive if the velocity falls. */
  slope: number;
  /** Column from which the line was fitted. */
  from: number;
}

/**
 * Returns the deceleration of a jet, found by least squares. Null if the slope is too short, or if
 * the velocity does not fall along a line, for example because the envelope is incomplete.
 */
export function decayOf(
  curve: Float64Array,
  wave: Wave,
  secondsPerColumn: number,
): JetDecay | null {
  const from = wave.peak;
  const to = Math.round(from + JET_DECAY.part * (wave.to - from));
  const count = to - from + 1;
  if (count * secondsPerColumn < JET_DECAY.shortest) return null;
  const values = Array.from(curve.subarray(from, to + 1));
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const middle = (count - 1) / 2;
  let over = 0;
  let spread = 0;
  let total = 0;
  for (const [i, value] of values.entries()) {
    over += (i - middle) * (value - mean);
    spread += (i - middle) ** 2;
    total += (value - mean) ** 2;
  }
  const perColumn = over / spread;
  const explained = total > 0 ? (over * over) / (spread * total) : 0;
  if (perColumn >= 0 || explained < JET_DECAY.fit) return null;
  const at = (column: number) => mean + perColumn * (column - from - middle);
  return {
    initial: at(from),
    end: at(wave.to),
    slope: -perColumn / secondsPerColumn,
    from,
  };
}

const VEIN = {
  /** Minimum reversal by atrial contraction, as a share of the fastest forward flow. */
  reversal: 0.15,
  /**
   * If there is no reversal, the minimum length of the pause before S, as a multiple of the pause
   * between S and D.
   */
  pause: 2,
} as const;

export interface VeinBeat {
  s: Wave;
  d: Wave;
}

/**
 * Returns the beats of forward flow in a pulmonary vein: S, then D. Between D and the next S, the
 * atrium contracts, and the flow reverses or pauses. The list is empty if there is neither a
 * reversal nor a pause by which S can be distinguished from D.
 */
export function veinBeats(forward: readonly Wave[], back: readonly Wave[]): VeinBeat[] {
  const whole = forward.filter(({ cut }) => !cut);
  const fastest = Math.max(0, ...whole.map(({ height }) => height));
  const reversals = back.filter(({ height }) => height >= VEIN.reversal * fastest);
  const pairs = whole.slice(1).map((d, i) => ({ s: whole[i] as Wave, d }));
  if (reversals.length > 0) {
    return pairs.filter(
      ({ s, d }) =>
        !reversals.some(({ peak }) => peak > s.peak && peak < d.peak) &&
        reversals.some(({ peak }) => peak > d.peak || peak < s.peak),
    );
  }
  const gaps = pairs.map(({ s, d }) => d.from - s.to);
  const [even, odd] = [0, 1].map((parity) => median(gaps.filter((_, i) => i % 2 === parity))) as [
    number,
    number,
  ];
  if (Number.isNaN(even) || Number.isNaN(odd)) return [];
  const parity = even < odd ? 0 : 1;
  const [short, long] = parity === 0 ? [even, odd] : [odd, even];
  if (long < VEIN.pause * Math.max(1, short)) return [];
  return pairs.filter((_, i) => i % 2 === parity);
}
