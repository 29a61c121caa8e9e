import type { Clip } from '../../contract/study.ts';
import type { Plane } from './plane.ts';

/** Which way a sweep runs along the mother; null where the cart's words do not say it. */
export type SweepDirection = 'to-cranial' | 'to-caudal';

/** A part of the fetus as a sweep shows it. */
export type FetalPart = 'head' | 'trunk';

/** One frame of a sweep: its plane, and which outlines were accepted on it. */
export interface SweptFrame {
  plane: Plane;
  head: boolean;
  abdomen: boolean;
}

/** Frames in a row that show one part; indices of the sweep, both included. */
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

export const RUN = {
  /** Minimum number of frames in a run. */
  frames: 3,
  /** Number of frames without a part that do not end a run. */
  gap: 2,
} as const;

/**
 * The part that a frame shows. Sections off the standard planes are named badly and outlined well, so
 * the outline decides, and the plane only where both structures or neither are outlined; an abdomen
 * or a head that is named but not outlined does not count. A chest may be outlined as a head: it lies on the
 * head's side of the abdomen, so the order of head and trunk is the same.
 */
export function partOf({ plane, head, abdomen }: SweptFrame): FetalPart | null {
  if (head !== abdomen) return head ? 'head' : 'trunk';
  const named = PART_OF[plane] ?? null;
  return head || plane === 'thorax' || plane === 'four-chamber' ? named : null;
}

/**
 * The runs of head and trunk along a sweep. A frame of the other part ends a run; frames without a
 * part do so only when there are more than `RUN.gap`. Runs of too few frames are dropped, and what
 * they parted grows together again: one odd frame must not make twins. A run of which no frame was
 * named a plane of head or trunk is dropped too: round things that are no fetus are outlined.
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

export type Presentation = 'cephalic' | 'breech';

/** What one sweep shows; `presentation` is that of the fetus nearest the cervix. */
export interface SweptPresentation {
  fetuses: number;
  presentation: Presentation | null;
}

/** Parts from the cervix upwards, whichever way the sweep went; what follows its like is the same. */
function fromCervix({ runs, direction }: SweepReading): FetalPart[] {
  const parts = runs.map(({ part }) => part);
  const upwards = direction === 'to-caudal' ? parts.toReversed() : parts;
  return upwards.filter((part, index) => part !== upwards[index - 1]);
}

/**
 * What one sweep of known direction shows: whether the part nearest the cervix is a head with the
 * trunk above it, or the reverse, and how many fetuses follow each other: one has one head and one
 * trunk. Without a head nothing is counted.
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

/** The presentation on which the sweeps agree. */
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
  /** Frames are those that were looked at: all, or `LOOKED_AT` of them. */
  runs: readonly PartRun[];
}
