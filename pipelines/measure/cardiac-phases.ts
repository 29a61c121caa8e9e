interface CavitySample {
  time: number;
  /** In any unit; only relative changes are used. */
  area: number;
}

/** End-diastole and end-systole of one beat, as indices into the samples. */
export interface Beat {
  diastole: number;
  systole: number;
  /** Seconds to the next end-diastole; null if not known. */
  interval: number | null;
}

export type PhaseSource = 'ecg' | 'area';

interface Phases {
  beats: Beat[];
  /**
   * `ecg`: end-diastole was searched for near R waves. `area`: only the change of the area over
   * time was used.
   */
  source: PhaseSource;
}

/** Seconds before and after the R wave within which to search for end-diastole (echo 4.3). */
const AROUND_R = 0.08;
/** Part of the RR interval after end-diastole in which to search for end-systole (echo 4.3). */
const SYSTOLE = [0.25, 0.6] as const;
/** Minimum and maximum seconds between two beats: 200 to 30 beats per minute. */
const INTERVALS = [0.3, 2] as const;
/**
 * Minimum change in the cavity's area, as a share of its largest area. A smaller change cannot be
 * distinguished from noise.
 */
const LEAST_CHANGE = 0.04;
/** An interval above this multiple of the usual RR interval means that an R wave was missed. */
const REGULAR = 1.6;

/**
 * Minimum share of a beat that the samples must cover for their largest and smallest cavity to be
 * end-diastole and end-systole. For example, 12 frames (0.4 s) of a real clip at 61 beats per
 * minute showed only a part of systole: they gave an LVEF of 20 %, and the whole clip gave 53 %.
 */
const COVERED = 0.8;
/**
 * Seconds that the samples must cover if the length of a beat is not known: a beat at a heart rate
 * of 60. A shorter clip may show only diastole, whose smallest cavity is far from end-systole.
 */
const LEAST_SPAN = 1;
/**
 * Minimum area of the first frame, as a share of the largest area, for that frame to count as
 * end-diastole. If the area is smaller, the beat began before the clip.
 */
const FILLED = 0.95;

/**
 * Minimum decrease of the cavity within the clip, as a share of the difference between its largest
 * and its smallest area. If a clip shows only filling, its smallest cavity is not end-systole.
 */
const CONTRACTION = 0.5;

const argBest = (indices: readonly number[], better: (one: number, other: number) => boolean) =>
  indices.reduce<number | null>(
    (best, index) => (best === null || better(index, best) ? index : best),
    null,
  );

const within = (samples: readonly CavitySample[], from: number, to: number) =>
  samples.flatMap(({ time }, index) => (time >= from - 1e-9 && time <= to + 1e-9 ? [index] : []));

const areaAt = (samples: readonly CavitySample[], index: number) => samples[index]?.area ?? 0;

const largest = (samples: readonly CavitySample[], indices: readonly number[]) =>
  argBest(indices, (one, other) => areaAt(samples, one) > areaAt(samples, other));
const smallest = (samples: readonly CavitySample[], indices: readonly number[]) =>
  argBest(indices, (one, other) => areaAt(samples, one) < areaAt(samples, other));

function beatFrom(samples: readonly CavitySample[], start: number, interval: number): Beat | null {
  const diastole = largest(samples, within(samples, start - AROUND_R, start + AROUND_R));
  if (diastole === null) return null;
  const from = samples[diastole]?.time ?? 0;
  const [early, late] = [from + SYSTOLE[0] * interval, from + SYSTOLE[1] * interval];
  // If the clip ends within the search range, its last frame could be mistaken for the smallest
  // cavity.
  if ((samples.at(-1)?.time ?? 0) < late - 0.1 * interval) return null;
  const systole = smallest(samples, within(samples, early, late));
  if (systole === null || areaAt(samples, systole) >= areaAt(samples, diastole)) return null;
  return { diastole, systole, interval };
}

function beatsOfEcg(
  samples: readonly CavitySample[],
  rWaves: readonly number[],
  heartRate: number | null,
): Beat[] {
  const gaps = rWaves.slice(1).map((time, i) => time - (rWaves[i] ?? 0));
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)];
  const typical = usual ?? (heartRate ? 60 / heartRate : null);
  return rWaves.flatMap((time, i) => {
    const own = gaps[i];
    const interval = own !== undefined && own <= REGULAR * (typical ?? own) ? own : typical;
    if (interval === null || interval < INTERVALS[0] || interval > INTERVALS[1]) return [];
    return beatFrom(samples, time, interval) ?? [];
  });
}

/**
 * Averages each sample with its two neighbours, so that one badly outlined frame is not taken for a
 * beat.
 */
function calmed(samples: readonly CavitySample[]): CavitySample[] {
  return samples.map(({ time, area }, i) => {
    const near = [samples[i - 1]?.area ?? area, area, samples[i + 1]?.area ?? area];
    return { time, area: near.reduce((sum, one) => sum + one, 0) / near.length };
  });
}

/**
 * Returns the period of the area in seconds, by autocorrelation; null if the area does not repeat
 * within the clip.
 */
function periodOf(samples: readonly CavitySample[]): number | null {
  const first = samples[0]?.time ?? 0;
  const span = (samples.at(-1)?.time ?? 0) - first;
  const mean = samples.reduce((sum, { area }) => sum + area, 0) / Math.max(1, samples.length);
  const at = (time: number) => {
    const after = samples.findIndex((sample) => sample.time >= time);
    const [a, b] = [samples[Math.max(0, after - 1)], samples[after]];
    if (!a || !b) return (a ?? b)?.area ?? mean;
    const share = b.time > a.time ? (time - a.time) / (b.time - a.time) : 0;
    return a.area + share * (b.area - a.area);
  };
  const step = 0.02;
  const likeness: { lag: number; value: number }[] = [];
  for (let lag = INTERVALS[0]; lag <= Math.min(INTERVALS[1], 0.7 * span); lag += step) {
    let [product, one, other] = [0, 0, 0];
    for (let t = first; t + lag <= first + span; t += step) {
      const [a, b] = [at(t) - mean, at(t + lag) - mean];
      product += a * b;
      one += a * a;
      other += b * b;
    }
    likeness.push({ lag, value: product / (Math.sqrt(one * other) || 1) });
  }
  const peaks = likeness.filter(
    ({ value }, i) =>
      value > 0.5 &&
      value >= (likeness[i - 1]?.value ?? 1) &&
      value >= (likeness[i + 1]?.value ?? 1),
  );
  const best = peaks.reduce((most, { value }) => Math.max(most, value), 0);
  // Of several nearly equal peaks, the first is the period and the others are its multiples.
  return peaks.find(({ value }) => value >= 0.85 * best)?.lag ?? null;
}

/** Returns a beat with end-diastole at the largest cavity and end-systole at the smallest. */
function onlyBeat(calm: readonly CavitySample[], interval: number | null): Beat | null {
  const all = calm.map((_, index) => index);
  const [diastole, systole] = [largest(calm, all), smallest(calm, all)];
  return diastole === null || systole === null ? null : { diastole, systole, interval };
}

/**
 * Returns true if the clip shows enough of a contraction: the cavity becomes smaller before the
 * end-systolic frame or, if the clip starts during systole, after the end-diastolic frame.
 */
function showsContraction(calm: readonly CavitySample[], { diastole, systole }: Beat): boolean {
  const areas = calm.map(({ area }) => area);
  const [most, least] = [areas[diastole] ?? 0, areas[systole] ?? 0];
  const before = Math.max(...areas.slice(0, systole + 1)) - least;
  const after = most - Math.min(...areas.slice(diastole));
  return Math.max(before, after) >= CONTRACTION * (most - least);
}

const spanOf = (samples: readonly CavitySample[]) =>
  (samples.at(-1)?.time ?? 0) - (samples[0]?.time ?? 0);

function beatsOfArea(samples: readonly CavitySample[], heartRate: number | null): Beat[] {
  const calm = calmed(samples);
  const areas = calm.map(({ area }) => area);
  const most = Math.max(...areas);
  if (!(most > 0) || (most - Math.min(...areas)) / most < LEAST_CHANGE) return [];
  const rated = heartRate ? 60 / heartRate : null;
  const known = rated !== null && rated >= INTERVALS[0] && rated <= INTERVALS[1] ? rated : null;
  const interval = known ?? periodOf(calm);
  const only = onlyBeat(calm, interval);
  // Two samples are a pair of pictures that a person chose, so they need not cover a beat.
  if (calm.length === 2) return only === null ? [] : [only];
  const span = spanOf(calm);
  if (span < (interval === null ? LEAST_SPAN : COVERED * interval) - 1e-9) return [];
  const isWhole = interval !== null && span >= interval;
  const tops =
    interval === null
      ? []
      : calm.flatMap(({ time, area }, index) => {
          const near = within(calm, time - 0.4 * interval, time + 0.4 * interval);
          const isTop = largest(calm, near) === index && area > 0;
          const isSeen = index > 0 || (isWhole && area >= FILLED * most);
          return isTop && isSeen ? [index] : [];
        });
  const beats = tops.flatMap(
    (index) => beatFrom(samples, calm[index]?.time ?? 0, interval ?? 0) ?? [],
  );
  if (beats.length > 0) return beats;
  // What remains is a clip with a single contraction. It may start during systole, so that
  // end-systole precedes end-diastole. If the clip is shorter than a beat and its cavity is
  // smallest on the first or last frame, the true end-systole may be outside the clip.
  const isCut = only !== null && (only.systole === 0 || only.systole === calm.length - 1);
  if (only === null || (isCut && !isWhole)) return [];
  return showsContraction(calm, only) ? [only] : [];
}

/**
 * Finds the beats of an apical clip (ASE 2015; echo 4.3). End-diastole is the frame with the
 * largest cavity near an R wave or, if no R wave is known, in the whole beat. End-systole is the
 * frame with the smallest cavity between 25 and 60 % of the RR interval after end-diastole.
 * Incomplete beats are left out.
 *
 * @param samples the cavity on each frame, in chronological order.
 *
 * @param rWaves the R waves, in seconds from the first frame.
 */
export function cardiacPhases(
  samples: readonly CavitySample[],
  rWaves: readonly number[],
  heartRate: number | null,
): Phases {
  if (samples.length < 2) return { beats: [], source: 'area' };
  const timed = beatsOfEcg(samples, rWaves, heartRate);
  if (timed.length > 0) return { beats: timed, source: 'ecg' };
  return { beats: beatsOfArea(samples, heartRate), source: 'area' };
}
