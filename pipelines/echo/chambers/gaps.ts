import { sayOfEcho } from '../../result/render/echo/shared.ts';
import type { Statement } from '../../result/statement.ts';

/** Views whose chambers are outlined. */
export const APICAL_VIEWS = ['A4C', 'A2C', 'A3C'] as const;
export type ApicalView = (typeof APICAL_VIEWS)[number];

/** Number of beats to average, in sinus rhythm and in an irregular rhythm (echo 0.5). */
export const ADVISED_BEATS = { regular: 3, irregular: 5 } as const;

/** The evidence from which the gaps of the outlined apical clips are determined. */
export interface OutlineEvidence {
  /** The view of every clip. */
  clips: readonly {
    view: string | null;
    /** The view that the classifier would have named without its gate. */
    belowGate: string | null;
    /** Null where no classifier looked at the clip. */
    confidence: number | null;
    /** Whether no fan was found, so that the whole screen was taken for the picture. */
    unseparated: boolean;
  }[];
  /**
   * `apical` is null where the reader of the apical clips failed; `clips` is null where no
   * permitted model outlines chambers.
   */
  views: { apical: { clips: readonly unknown[] | null } | null };
  /** The clip that was measured in each view; null where none shows a whole beat. */
  heart: { clips: Readonly<Record<ApicalView, unknown>> };
}

/** The beats of one measured clip. */
export interface Rhythm {
  /** Seconds to the next beat; null where it is not known. */
  beats: readonly { interval: number | null }[];
  /** Whether the RR intervals are even; null where fewer than three R waves are known. */
  regular: boolean | null;
}

/** What is known of the rhythm of the apical clips. */
export interface RhythmEvidence {
  clips: Readonly<Record<'A4C' | 'A2C', Rhythm | null>>;
  /** Whether the volumes of the outlines may be reported. */
  trusted: boolean;
}

/** Why none of the wanted views was measured on outlines; null where at least one of them was. */
export function outlineGap(
  { clips, views, heart }: OutlineEvidence,
  wanted: readonly ApicalView[] = APICAL_VIEWS,
): Statement | null {
  if (wanted.some((view) => heart.clips[view] !== null)) return null;
  if (views.apical === null) return sayOfEcho.gap('outlines.reader-failed', {});
  if (views.apical.clips === null) return sayOfEcho.gap('outlines.no-model', {});
  const shown = clips.some(({ view }) => wanted.some((one) => one === view));
  if (shown) return sayOfEcho.gap('outlines.no-beat', { views: wanted });
  // A clip that nobody could name may be the wanted one: this must not read as if it were missing.
  const unnamed = clips.filter(({ view, confidence }) => view === null && confidence !== null);
  return sayOfEcho.gap('outlines.no-clip', {
    views: wanted,
    unnamed: unnamed.length,
    perhaps: unnamed.filter(({ belowGate }) => wanted.some((one) => one === belowGate)).length,
    unseparated: unnamed.filter(({ unseparated }) => unseparated).length,
  });
}

/**
 * Difference of the RR intervals of two views, as a share of the longer interval, up to which both
 * views count as having the same heart rate (echo 4.1).
 */
const INTERVAL_DIFFERENCE = 0.1;

/** Mean time from beat to beat, in seconds; null where no interval is known. */
function meanInterval({ beats }: Rhythm): number | null {
  const intervals = beats.flatMap(({ interval }) => interval ?? []);
  return intervals.length > 0
    ? intervals.reduce((sum, one) => sum + one, 0) / intervals.length
    : null;
}

/**
 * The number of beats averaged in an irregular rhythm, and whether it is below the advised number;
 * null where the rhythm is not known to be irregular.
 */
export function irregularity({ beats, regular }: Rhythm): { beats: number; few: boolean } | null {
  if (regular !== false) return null;
  return { beats: beats.length, few: beats.length < ADVISED_BEATS.irregular };
}

/**
 * The irregular rhythm of A4C and A2C, the views from which volumes and EF are measured. Of two
 * irregular views, the one with fewer beats is reported; null where neither is irregular.
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
 * Whether the RR intervals of A4C and A2C differ so much that their volumes were not measured at
 * the same heart rate.
 */
export function isUnequalRhythm({ clips: { A4C, A2C }, trusted }: RhythmEvidence): boolean {
  if (!trusted || !A4C || !A2C) return false;
  const [four, two] = [meanInterval(A4C), meanInterval(A2C)];
  if (four === null || two === null) return false;
  const longer = Math.max(four, two);
  return (longer - Math.min(four, two)) / longer > INTERVAL_DIFFERENCE + 1e-9;
}
