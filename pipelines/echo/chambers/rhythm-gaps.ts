import { ADVISED_BEATS, type MeasuredClip } from './clip-beats.ts';
import type { HeartOutlines } from './heart-outlines.ts';

/** Beats of two views that differ by more of the longer are not of one heart rate (reference 4.1). */
const INTERVAL_DIFFERENCE = 0.1;

/** Mean seconds from beat to beat; null where no beat says. */
function meanInterval({ beats }: MeasuredClip): number | null {
  const intervals = beats.flatMap(({ interval }) => interval ?? []);
  return intervals.length > 0
    ? intervals.reduce((sum, one) => sum + one, 0) / intervals.length
    : null;
}

/** "Irregular RR intervals: values averaged over 3 beats, fewer than the 5 beats advised." */
export function beatsInWords({ beats, regular }: MeasuredClip): string {
  const count = `${beats.length} beat${beats.length === 1 ? '' : 's'}`;
  if (regular !== false) return count;
  const few =
    beats.length < ADVISED_BEATS.irregular
      ? `, fewer than the ${ADVISED_BEATS.irregular} beats advised`
      : '';
  return `Irregular RR intervals: values averaged over ${count}${few}`;
}

type Clips = Pick<HeartOutlines, 'clips' | 'trusted'>;

/** Of the two apical views of volumes and EF that with the fewest beats, where its rhythm is irregular. */
function irregularClip({ clips, trusted }: Clips): MeasuredClip | null {
  const irregular = [clips.A4C, clips.A2C].filter((on) => on !== null && on.regular === false);
  const [fewest] = irregular.toSorted((a, b) => (a?.beats.length ?? 0) - (b?.beats.length ?? 0));
  return trusted ? (fewest ?? null) : null;
}

/** What an irregular rhythm made of the average; null where there was none. */
export function irregularRhythm(heart: Clips): { text: string; few: boolean } | null {
  const on = irregularClip(heart);
  return on && { text: beatsInWords(on), few: on.beats.length < ADVISED_BEATS.irregular };
}

/** Volumes of two views are of one ventricle only at one heart rate. */
export function unequalRhythm({ clips: { A4C, A2C }, trusted }: Clips): string | null {
  if (!trusted || !A4C || !A2C) return null;
  const [four, two] = [meanInterval(A4C), meanInterval(A2C)];
  if (four === null || two === null) return null;
  const longer = Math.max(four, two);
  return (longer - Math.min(four, two)) / longer > INTERVAL_DIFFERENCE + 1e-9
    ? 'The RR intervals of the A4C and the A2C clip differ by more than 10 %: the biplane volumes are of unequal beats.'
    : null;
}
