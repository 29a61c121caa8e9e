import type { GrayImage } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { cropped, letterbox } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { softmax } from '../../measure/statistics.ts';
import { ECHO_VIEWS, type EchoView, familyOf, type HeartView } from './names.ts';

/**
 * Levels of the short-axis view. For a clip between two levels, the probability is split between
 * them.
 */
const SHORT_AXES = ['PSAX-AV', 'PSAX-MV', 'PSAX-PM', 'PSAX-AP'] as const satisfies EchoView[];

/**
 * Minimum probability for the level of a short axis to be stated. The sum over all levels must
 * reach the gate of the view, which may be higher: a wrong level is only a neighbouring plane, but
 * a wrong view is a different part of the heart.
 */
const LEVEL_GATE = 0.6;

/** Apical views of the left ventricle. Of these, only A4C shows the right heart in full. */
const APICAL: readonly (EchoView | null)[] = ['A4C', 'A2C', 'A3C'];

const isShortAxis = (view: EchoView) => SHORT_AXES.some((level) => level === view);

/**
 * Minimum probability of another view for the classifier to contradict a header. On 126 real and 240
 * simulated clips, neither model contradicts a name that was right; at 0.9, one real A2C was
 * contradicted as A4C.
 */
const CONTRADICTION_GATE = 0.95;

/** Views that differ only in the tilt of the probe, which the classifier confuses with each other. */
const TILTED: readonly HeartView[] = ['A4C', 'A5C'];

export interface ViewEstimate {
  /**
   * `other` if the classifier does not distinguish the view, or if the view does not reach its
   * gate. `PSAX` if only the level does not reach its gate.
   */
  view: EchoView | 'PSAX';
  confidence: number;
  /** The most probable view if its probability was below the gate; otherwise null. */
  belowGate: EchoView | null;
}

/**
 * Determines the view of a clip with `echo-view`, from the mean over some frames. `area` is the fan
 * (sector.ts) in stored pixels. A doubtful apical view is A4C if A4C reaches its confirmed gate and
 * `showsRightHeart` finds the right heart, which A2C and A3C do not show.
 */
export async function nameView(
  session: ModelSession,
  frames: readonly GrayImage[],
  area: Rectangle,
  showsRightHeart: ((frames: readonly GrayImage[], area: Rectangle) => Promise<boolean>) | null,
): Promise<ViewEstimate> {
  const { output, temperature = 1, gate, class_gates = {}, confirmed_gates = {} } = session.model;
  // The temperature calibrates the probabilities (Guo 2017).
  const shares = softmax(await viewLogits(session, frames, area), temperature);
  const found = viewOfShares(shares, output.channels, gate, class_gates);
  const confidence = shares[output.channels.indexOf('A4C')] ?? 0;
  if (!APICAL.includes(found.belowGate) || confidence < (confirmed_gates.A4C ?? 1)) return found;
  return (await showsRightHeart?.(frames, area))
    ? { view: 'A4C', confidence, belowGate: null }
    : found;
}

/**
 * Returns the view that a clip shows with near certainty instead of the one that its header names;
 * null if there is none. The classifier was trained on few real images and takes many of them for no
 * view of a heart, so `other` contradicts nothing. Levels of the short axis do not contradict each
 * other.
 */
export async function contradictingView(
  session: ModelSession,
  frames: readonly GrayImage[],
  area: Rectangle,
  named: HeartView,
): Promise<HeartView | null> {
  const { output, temperature = 1 } = session.model;
  const isKnown = output.channels.some(
    (view) => view !== 'other' && familyOf(view as HeartView) === familyOf(named),
  );
  if (!isKnown) return null;
  const shares = softmax(await viewLogits(session, frames, area), temperature);
  const { view } = viewOfShares(shares, output.channels, CONTRADICTION_GATE);
  if (view === 'other' || familyOf(view) === familyOf(named)) return null;
  return TILTED.includes(view) && TILTED.includes(named) ? null : view;
}

/** Returns the network's output for a clip, averaged over its frames: one number per channel. */
export async function viewLogits(
  session: ModelSession,
  frames: readonly GrayImage[],
  area: Rectangle,
): Promise<number[]> {
  const { width, height } = session.model.input;
  const inputs = frames.map((frame) => letterbox(cropped(frame, area), width, height).pixels);
  return mean(await session.run(inputs));
}

/**
 * Returns the most probable view, if its probability reaches the gate. Some views have separate
 * gates. For a short axis, the sum over all levels must reach the gate of the view, and the level
 * has a separate gate.
 *
 * @param shares the probability of each channel.
 */
export function viewOfShares(
  shares: readonly number[],
  channels: readonly string[],
  gate: number,
  classGates: Readonly<Record<string, number>> = {},
): ViewEstimate {
  const shareOf = (view: EchoView) => shares[channels.indexOf(view)] ?? 0;
  const shortAxis = SHORT_AXES.reduce((total, level) => total + shareOf(level), 0);
  const together = (view: EchoView) => (isShortAxis(view) ? shortAxis : shareOf(view));
  const best = ECHO_VIEWS.reduce((a, b) => {
    const more = together(b) - together(a) || shareOf(b) - shareOf(a);
    return more > 0 ? b : a;
  });
  const least = best === 'other' ? 0 : (classGates[best] ?? gate);
  if (together(best) < least)
    return { view: 'other', confidence: shareOf('other'), belowGate: best };
  const levelKnown = !isShortAxis(best) || shareOf(best) >= Math.min(least, LEVEL_GATE);
  return levelKnown
    ? { view: best, confidence: shareOf(best), belowGate: null }
    : { view: 'PSAX', confidence: shortAxis, belowGate: null };
}

function mean(rows: readonly Float32Array[]): number[] {
  const [first = new Float32Array()] = rows;
  return Array.from(
    first,
    (_, i) => rows.reduce((sum, row) => sum + (row[i] ?? 0), 0) / rows.length,
  );
}
