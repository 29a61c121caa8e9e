import { rounded } from '../../measure/rounding.ts';

/**
 * Segments of the 17-segment model in the order of SEG02, with their SNOMED CT sites (CID 3717).
 */
export const SEGMENTS = [
  { number: 1, name: 'basal anterior', territory: 'LAD', site: '264850008' },
  { number: 2, name: 'basal anteroseptal', territory: 'LAD', site: '396482007' },
  { number: 3, name: 'basal inferoseptal', territory: 'RCA', site: '396646008' },
  { number: 4, name: 'basal inferior', territory: 'RCA', site: '264846001' },
  { number: 5, name: 'basal inferolateral', territory: 'LCx', site: '396652009' },
  { number: 6, name: 'basal anterolateral', territory: 'LCx', site: '396654005' },
  { number: 7, name: 'mid anterior', territory: 'LAD', site: '264848000' },
  { number: 8, name: 'mid anteroseptal', territory: 'LAD', site: '396647004' },
  { number: 9, name: 'mid inferoseptal', territory: 'RCA', site: '396649001' },
  { number: 10, name: 'mid inferior', territory: 'RCA', site: '264847005' },
  { number: 11, name: 'mid inferolateral', territory: 'LCx', site: '396655006' },
  { number: 12, name: 'mid anterolateral', territory: 'LCx', site: '396656007' },
  { number: 13, name: 'apical anterior', territory: 'LAD', site: '264844003' },
  { number: 14, name: 'apical septal', territory: 'LAD', site: '264845002' },
  { number: 15, name: 'apical inferior', territory: 'RCA', site: '264849008' },
  { number: 16, name: 'apical lateral', territory: 'LCx', site: '264853005' },
  { number: 17, name: 'apex', territory: 'LAD', site: '128564006' },
] as const;

export const ARTERIES = ['LAD', 'RCA', 'LCx'] as const;
type Artery = (typeof ARTERIES)[number];

/** Returns the numbers of the segments in an artery's territory (SEG02). */
export function territoryOf(artery: Artery): number[] {
  return SEGMENTS.filter(({ territory }) => territory === artery).map(({ number }) => number);
}

/**
 * Limits of the 17-segment model (ASE15). `scored`: segments that are scored; segment 17, the
 * apical cap, is not. `enough`: if fewer segments are scored, the index is marked as limited (echo
 * 9). `global`: minimum number of scored segments, in all three territories, for hypokinesis of all
 * of them to count as global and not regional. This number is low because only mid and apical
 * segments appear in two views, so at most ten segments can be scored above 1.
 */
export const WALL_MOTION = { scores: [1, 2, 3, 4], scored: 16, enough: 12, global: 8 } as const;

/**
 * Limits of thickening, per cent. Above `normal`, it is normal; below `reduced`, it is absent (ASE
 * 2015).
 */
const THICKENING = { normal: 30, reduced: 10 } as const;

/**
 * Limits of inward motion, in per cent of the radius. They are a convention of this project and are
 * used together with thickening.
 */
export const EXCURSION = { normal: 20, reduced: 5, outward: -5 } as const;

export type MotionScore = (typeof WALL_MOTION.scores)[number];

const banded = (value: number, { normal, reduced }: { normal: number; reduced: number }) =>
  value > normal ? 1 : value >= reduced ? 2 : 3;

/**
 * Returns the score from the thickening, per cent: above 30 % is normal, 10 to 30 % is hypokinetic,
 * and less is akinetic. A wall that becomes thinner in systole is dyskinetic (echo 9).
 */
export function thickeningScore(thickening: number): MotionScore {
  const shown = rounded(thickening, 0);
  return shown < 0 ? 4 : banded(shown, THICKENING);
}

/**
 * Returns the score from the inward motion, per cent. A wall that moves outwards by more than 5 %
 * is dyskinetic.
 */
export function excursionScore(excursion: number): MotionScore {
  const shown = rounded(excursion, 0);
  return shown < EXCURSION.outward ? 4 : banded(shown, EXCURSION);
}

/**
 * Returns the score of a segment in one view from two signs, motion and thickening; null if the two
 * disagree. If the thickness is not visible, motion alone decides.
 * - Normal: the segment moves normally, and thickening is not absent. Normal thickening is not
 *   required, because most walls of healthy hearts do not reach it: outlines, even those by
 *   experts, thicken by half of what the eye sees (docs/echo.md).
 * - Reduced: neither sign is normal, and at most one is absent. The milder score is used.
 * - Absent: both signs are absent. The worse score is used, which is dyskinetic if the wall becomes
 *   thinner or moves outwards (echo 9). Thinning with some inward motion is contradictory and does
 *   not count as dyskinesia; nor does outward motion with some thickening. Healthy outlines thicken
 *   by 11 % on average, so a few become thinner by chance.
 */
export function motionScore(thickening: number | null, excursion: number): MotionScore | null {
  const motion = excursionScore(excursion);
  if (thickening === null) return motion;
  const thick = thickeningScore(thickening);
  if (motion === 1) return thick < 3 ? 1 : null;
  if (thick === 1) return null;
  const absent = thick > 2 && motion > 2;
  return (absent ? Math.max(thick, motion) : Math.min(thick, motion)) as MotionScore;
}

/**
 * Returns true if one of the signs is absent. In a single view, a sign that is merely reduced
 * cannot be distinguished from noise.
 */
export function isAbsent(thickening: number | null, excursion: number): boolean {
  return (thickening !== null && thickeningScore(thickening) > 2) || excursionScore(excursion) > 2;
}

export const SCORE_NAMES: Readonly<Record<MotionScore, string>> = {
  1: 'normal',
  2: 'hypokinetic',
  3: 'akinetic',
  4: 'dyskinetic',
};

type RegionalStatement =
  | { kind: 'none' }
  | { kind: 'global' }
  | { kind: 'territory'; artery: Artery }
  | { kind: 'regional' };

/**
 * Rings of segments. A segment has neighbours in its own ring, and in the next ring above or below.
 */
const RINGS: readonly (readonly number[])[] = [
  [1, 2, 3, 4, 5, 6],
  [7, 8, 9, 10, 11, 12],
  [13, 14, 15, 16],
];

const APICAL_NEIGHBOURS: Readonly<Record<number, readonly number[]>> = {
  13: [7, 8],
  14: [8, 9],
  15: [10],
  16: [11, 12],
};

function areAdjacent(one: number, other: number): boolean {
  const [low, high] = one < other ? [one, other] : [other, one];
  const ring = RINGS.find((segments) => segments.includes(low));
  if (ring?.includes(high)) {
    const apart = high - low;
    return apart === 1 || apart === ring.length - 1;
  }
  if (high === 17) return low >= 13;
  if (high >= 13) return APICAL_NEIGHBOURS[high]?.includes(low) ?? false;
  return high - low === 6;
}

/**
 * Returns true if every scored segment is hypokinetic and enough segments were scored, with at
 * least one in each territory.
 */
function isGlobal(scores: ReadonlyMap<number, number>): boolean {
  const reached = ARTERIES.every((name) => territoryOf(name).some((number) => scores.has(number)));
  const hypokinetic = [...scores.values()].every((score) => score === 2);
  return hypokinetic && reached && scores.size >= WALL_MOTION.global;
}

/**
 * Returns the statement on the pattern of abnormal segments (echo 9). An artery is stated only if
 * two adjacent segments in its territory score 2 or more and no segment outside it does.
 */
export function regionalStatement(scores: ReadonlyMap<number, number>): RegionalStatement {
  const abnormal = [...scores].filter(([, score]) => score >= 2).map(([segment]) => segment);
  if (abnormal.length === 0) return { kind: 'none' };
  if (isGlobal(scores)) return { kind: 'global' };
  const artery = ARTERIES.find((name) => {
    const territory = territoryOf(name);
    return abnormal.every((segment) => territory.includes(segment));
  });
  const adjacent = abnormal.some((one) => abnormal.some((other) => areAdjacent(one, other)));
  return artery && adjacent ? { kind: 'territory', artery } : { kind: 'regional' };
}
