import { APICAL_VIEWS, type ApicalView } from '../locate/names.ts';

/** Beats to average, in sinus rhythm and in an irregular one (echo 0.5). */
export const ADVISED_BEATS = { regular: 3, irregular: 5 } as const;

/** What the gaps of outlined apical clips are told from. */
export interface OutlineEvidence {
  /** The view of every clip. */
  clips: readonly { view: string | null }[];
  /** `apical` is null where its reader failed; its `clips` where no permitted model outlines chambers. */
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

/**
 * Why nothing was measured on the outlines of the chambers in some views, as a sentence; null where
 * something was.
 */
export function outlineGap(
  { clips, views, heart }: OutlineEvidence,
  wanted: readonly ApicalView[] = APICAL_VIEWS,
): string | null {
  const names = wanted.join(', ').replace(/, ([^,]*)$/, ' or $1');
  if (wanted.some((view) => heart.clips[view] !== null)) return null;
  if (views.apical === null) {
    return 'The apical clips could not be analysed because of an internal error.';
  }
  if (views.apical.clips === null) return 'No permitted model outlines the chambers of the heart.';
  const own = clips.filter(({ view }) => wanted.some((one) => one === view));
  if (own.length === 0) return `Not assessed: no ${names} clip was found.`;
  return `The ${names} clips show no whole beat with outlines that can be relied on.`;
}

/** Beats of two views that differ by more of the longer are not of one heart rate (echo 4.1). */
const INTERVAL_DIFFERENCE = 0.1;

/** Mean seconds from beat to beat; null where no beat says. */
function meanInterval({ beats }: Rhythm): number | null {
  const intervals = beats.flatMap(({ interval }) => interval ?? []);
  return intervals.length > 0
    ? intervals.reduce((sum, one) => sum + one, 0) / intervals.length
    : null;
}

/** "Irregular RR intervals: values averaged over 3 beats, fewer than the 5 beats advised." */
export function beatsInWords({ beats, regular }: Rhythm): string {
  const count = `${beats.length} beat${beats.length === 1 ? '' : 's'}`;
  if (regular !== false) return count;
  const few =
    beats.length < ADVISED_BEATS.irregular
      ? `, fewer than the ${ADVISED_BEATS.irregular} beats advised`
      : '';
  return `Irregular RR intervals: values averaged over ${count}${few}`;
}

/** Of the two apical views of volumes and EF that with the fewest beats, where its rhythm is irregular. */
function irregularClip({ clips, trusted }: RhythmEvidence): Rhythm | null {
  const irregular = [clips.A4C, clips.A2C].filter((on) => on !== null && on.regular === false);
  const [fewest] = irregular.toSorted((a, b) => (a?.beats.length ?? 0) - (b?.beats.length ?? 0));
  return trusted ? (fewest ?? null) : null;
}

/** What an irregular rhythm made of the average; null where there was none. */
export function irregularRhythm(heart: RhythmEvidence): { text: string; few: boolean } | null {
  const on = irregularClip(heart);
  return on && { text: beatsInWords(on), few: on.beats.length < ADVISED_BEATS.irregular };
}

/** Volumes of two views are of one ventricle only at one heart rate. */
export function unequalRhythm({ clips: { A4C, A2C }, trusted }: RhythmEvidence): string | null {
  if (!trusted || !A4C || !A2C) return null;
  const [four, two] = [meanInterval(A4C), meanInterval(A2C)];
  if (four === null || two === null) return null;
  const longer = Math.max(four, two);
  return (longer - Math.min(four, two)) / longer > INTERVAL_DIFFERENCE + 1e-9
    ? 'The RR intervals of the A4C and the A2C clip differ by more than 10 %: the biplane volumes are of unequal beats.'
    : null;
}
