import type { Clip } from '../../contract/study.ts';
import type { FramePlane, Plane } from './plane.ts';

/** Direction of a sweep along the mother, from the machine's labels. */
export type SweepDirection = 'to-cranial' | 'to-caudal';

type FetalPart = 'head' | 'trunk';

/** One frame of a sweep: its plane, and which outlines were accepted on it. */
export interface SweptFrame {
  plane: Plane;
  head: boolean;
  abdomen: boolean;
}

/**
 * Consecutive frames that show one part. The indices count frames of the sweep; both ends are
 * inclusive.
 */
export interface PartRun {
  part: FetalPart;
  from: number;
  to: number;
}

const PART_OF: Partial<Record<Plane, FetalPart>> = {
  transthalamic: 'head',
  transventricular: 'head',
  transcerebellar: 'head',
  abdominal: 'trunk',
  thorax: 'trunk',
  'four-chamber': 'trunk',
};

const RUN = {
  /** Minimum number of frames in a run. */
  frames: 3,
  /** Maximum number of consecutive frames within a run that show no part. */
  gap: 2,
} as const;

/**
 * Maximum number of frames of a sweep, spread evenly over it, that are searched for head and
 * abdomen.
 */
const LOOKED_AT = 72;

function spread<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count);
  return all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/** Returns the frames of a sweep that are examined, in order. */
export const examinedFrames = (clip: Clip, planes: readonly FramePlane[]): FramePlane[] =>
  spread(
    planes
      .filter((plane) => plane.clip === clip)
      .toSorted((one, other) => one.frame.index - other.frame.index),
    LOOKED_AT,
  );

/**
 * Returns the part that a frame shows. If only one structure is outlined, it is the part, because
 * off the standard planes the outline is more reliable than the classified plane. If both are
 * outlined, the plane decides. If neither is, only a chest plane counts; a plane of the abdomen or
 * the head without its outline is ignored. A chest may be outlined as a head; since it is on the
 * head's side of the abdomen, the order of head and trunk is still correct.
 */
export function partOf({ plane, head, abdomen }: SweptFrame): FetalPart | null {
  if (head !== abdomen) return head ? 'head' : 'trunk';
  const named = PART_OF[plane] ?? null;
  return head || plane === 'thorax' || plane === 'four-chamber' ? named : null;
}

/**
 * Returns the runs of head and trunk along a sweep. A frame that shows the other part ends a run.
 * Frames without a part end it only if there are more than `RUN.gap` in a row.
 *
 * Runs that are too short are removed and the runs on both sides joined, so that one misread frame
 * does not look like twins. A run is also removed if none of its frames was classified as a plane
 * of head or trunk, because other round objects are outlined as well.
 */
export function partRuns(frames: readonly SweptFrame[]): PartRun[] {
  const runs: PartRun[] = [];
  for (const [index, frame] of frames.entries()) {
    const part = partOf(frame);
    if (!part) continue;
    const last = runs.at(-1);
    if (last?.part === part && index - last.to <= RUN.gap + 1) last.to = index;
    else runs.push({ part, from: index, to: index });
  }
  const long = runs.filter(({ from, to }) => to - from + 1 >= RUN.frames);
  const joined: PartRun[] = [];
  for (const run of long) {
    const last = joined.at(-1);
    if (last?.part === run.part && run.from - last.to <= 2 * RUN.frames) last.to = run.to;
    else joined.push({ ...run });
  }
  return joined.filter(({ from, to }) =>
    frames.slice(from, to + 1).some(({ plane }) => PART_OF[plane] !== undefined),
  );
}

/**
 * Returns the runs after a person named the plane of some frames. A run that contains such a frame
 * shows the part of that plane; it is removed if the plane shows neither head nor trunk.
 * @param examined the frames to which the indices of the runs refer.
 * @param named 0-based frames of the clip with their planes; a later one replaces an earlier one.
 */
export function correctedRuns(
  runs: readonly PartRun[],
  examined: readonly FramePlane[],
  named: readonly { index: number; plane: Plane }[],
): PartRun[] {
  return runs.flatMap((run) => {
    const [first, last] = [examined[run.from]?.frame.index, examined[run.to]?.frame.index];
    if (first === undefined || last === undefined) return [run];
    const within = named.findLast(({ index }) => index >= first && index <= last);
    if (!within) return [run];
    const part = PART_OF[within.plane];
    return part ? [{ ...run, part }] : [];
  });
}

export type Presentation = 'cephalic' | 'breech';

/** Result of one sweep. `presentation` is that of the fetus nearest the cervix. */
export interface SweptPresentation {
  fetuses: number;
  presentation: Presentation | null;
}

/**
 * Returns the parts from the cervix upwards, whatever the direction of the sweep. Neighbouring runs
 * of the same part are merged.
 */
function fromCervix({ runs, direction }: SweepReading): FetalPart[] {
  const parts = runs.map(({ part }) => part);
  const upwards = direction === 'to-caudal' ? parts.toReversed() : parts;
  return upwards.filter((part, index) => part !== upwards[index - 1]);
}

/**
 * Interprets one sweep of known direction. `presentation` is determined by the part nearest the
 * cervix: cephalic for a head with the trunk above it, breech for the reverse. `fetuses` is the
 * number of heads or of trunks, whichever is larger; it is 0 without a head.
 */
export function readPresentation(sweep: SweepReading): SweptPresentation {
  const parts = fromCervix(sweep);
  const heads = parts.filter((part) => part === 'head').length;
  const trunks = parts.length - heads;
  return {
    fetuses: heads === 0 ? 0 : Math.max(heads, trunks),
    presentation: heads === 0 || trunks === 0 ? null : parts[0] === 'head' ? 'cephalic' : 'breech',
  };
}

/** Returns the presentation on which all sweeps agree, and whether they contradict each other. */
export function agreedPresentation(reads: readonly SweptPresentation[]): {
  presentation: Presentation | null;
  contradicts: boolean;
} {
  const found = new Set(reads.flatMap(({ presentation }) => presentation ?? []));
  const [only] = found;
  return { presentation: found.size === 1 && only ? only : null, contradicts: found.size > 1 };
}

export interface SweepReading {
  clip: Clip;
  direction: SweepDirection | null;
  /** The runs found in the examined frames, which are all frames or `LOOKED_AT` of them. */
  runs: readonly PartRun[];
}
