import { sayOfEcho } from '../../result/render/echo/shared.ts';
import type { Statement } from '../../result/statement.ts';

export const APICAL_VIEWS = ['A4C', 'A2C', 'A3C'] as const;
export type ApicalView = (typeof APICAL_VIEWS)[number];

/** Number of beats to average in sinus rhythm and in an irregular rhythm (echo 0.5). */
export const ADVISED_BEATS = { regular: 3, irregular: 5 } as const;

export interface OutlineEvidence {
  clips: readonly {
    view: string | null;
    /** The most probable view if its confidence was below the classifier's gate; otherwise null. */
    belowGate: string | null;
    /** Null if no classifier processed the clip. */
    confidence: number | null;
    /**
     * True if the fan could not be separated from the rest of the screen, so the whole screen was
     * used as the picture.
     */
    unseparated: boolean;
    /** True if the clip was recorded under stress and was therefore not measured. */
    underStress: boolean;
    /** The view in the header and the one that the classifier sees, if they contradict each other. */
    dispute?: { named: string; seen: string };
  }[];
  /**
   * `apical` is null if reading the apical clips failed. `clips` is null if no permitted model can
   * outline chambers.
   */
  views: { apical: { clips: readonly unknown[] | null } | null };
  /** The clip measured in each view; null if no clip shows a whole beat. */
  heart: { clips: Readonly<Record<ApicalView, unknown>> };
}

interface Rhythm {
  /** Seconds to the next beat; null if not known. */
  beats: readonly { interval: number | null }[];
  /** True if the RR intervals are even; null if fewer than three R waves are known. */
  regular: boolean | null;
}

/** Rhythm of the clip that was measured in each view; null if there is no such clip. */
export interface RhythmEvidence {
  clips: Readonly<Record<'A4C' | 'A2C', Rhythm | null>>;
  /** True if volumes calculated from the outlines may be reported. */
  trusted: boolean;
}

/**
 * Returns why none of the requested views was measured; null if at least one of them was measured.
 */
export function outlineGap(
  { clips, views, heart }: OutlineEvidence,
  wanted: readonly ApicalView[] = APICAL_VIEWS,
): Statement | null {
  if (wanted.some((view) => heart.clips[view] !== null)) return null;
  if (views.apical === null) return sayOfEcho.gap('outlines.reader-failed', {});
  if (views.apical.clips === null) return sayOfEcho.gap('outlines.no-model', {});
  const shown = clips.filter(({ view }) => wanted.some((one) => one === view));
  if (shown.length > 0) {
    const code = shown.every(({ underStress }) => underStress)
      ? 'outlines.under-stress'
      : 'outlines.no-beat';
    return sayOfEcho.gap(code, { views: wanted });
  }
  const disputed = clips.flatMap(({ dispute }) => dispute ?? []);
  const [dispute] = disputed.filter(({ named, seen }) =>
    wanted.some((one) => one === named || one === seen),
  );
  if (dispute) return sayOfEcho.gap('outlines.view-disputed', { ...dispute });
  // A clip whose view is undetermined may show a requested view, so the gap must not state that
  // this view is missing.
  const unnamed = clips.filter(({ view, confidence }) => view === null && confidence !== null);
  return sayOfEcho.gap('outlines.no-clip', {
    views: wanted,
    unnamed: unnamed.length,
    perhaps: unnamed.filter(({ belowGate }) => wanted.some((one) => one === belowGate)).length,
    unseparated: unnamed.filter(({ unseparated }) => unseparated).length,
  });
}

/**
 * Maximum difference between the RR intervals of two views, as a share of the longer one, at which
 * their heart rates count as equal (echo 4.1).
 */
const INTERVAL_DIFFERENCE = 0.1;

function meanInterval({ beats }: Rhythm): number | null {
  const intervals = beats.flatMap(({ interval }) => interval ?? []);
  return intervals.length > 0
    ? intervals.reduce((sum, one) => sum + one, 0) / intervals.length
    : null;
}

/**
 * Returns how many beats were averaged in an irregular rhythm, and whether these are fewer than
 * advised. Null if the rhythm is regular or not known.
 */
export function irregularity({
  beats,
  regular,
}: Pick<Rhythm, 'regular'> & { beats: readonly unknown[] }): {
  beats: number;
  few: boolean;
} | null {
  if (regular !== false) return null;
  return { beats: beats.length, few: beats.length < ADVISED_BEATS.irregular };
}

/**
 * Returns the irregularity of the rhythm in A4C or A2C, the views from which volumes and EF are
 * measured. If both are irregular, the view with fewer beats is used. Null if neither is irregular,
 * or if the volumes may not be reported.
 */
export function irregularRhythm({
  clips,
  trusted,
}: RhythmEvidence): { beats: number; few: boolean } | null {
  const irregular = [clips.A4C, clips.A2C].flatMap((on) => (on && irregularity(on)) ?? []);
  const [fewest] = irregular.toSorted((a, b) => a.beats - b.beats);
  return trusted ? (fewest ?? null) : null;
}

/**
 * Returns true if the RR intervals of A4C and A2C differ so much that volumes from the two views
 * cannot be combined.
 */
export function isUnequalRhythm({ clips: { A4C, A2C }, trusted }: RhythmEvidence): boolean {
  if (!trusted || !A4C || !A2C) return false;
  const [four, two] = [meanInterval(A4C), meanInterval(A2C)];
  if (four === null || two === null) return false;
  const longer = Math.max(four, two);
  return (longer - Math.min(four, two)) / longer > INTERVAL_DIFFERENCE + 1e-9;
}
