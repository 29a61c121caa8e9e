import { areaOf, type ChamberMasks, labelOf } from './chambers.ts';
import { ventriclePose } from './ventricle-pose.ts';

/** What speaks against the outline of a left ventricle. */
export type ShapeFault =
  | 'no-ventricle'
  | 'slender-or-round'
  | 'wall-missing'
  | 'wall-out-of-proportion'
  | 'out-of-sector';

/**
 * Limits on apical views, after the rule of the simulation reference (7): area over squared length of
 * the ellipse with the same moments, share of the cavity's border that has myocardium beside it,
 * myocardium over cavity. Wide enough for dilated and for thick, contracted ventricles.
 */
export const SHAPE_LIMITS = {
  areaPerLengthSquared: { min: 0.24, max: 0.66 },
  wallShare: 0.6,
  wallPerCavity: { min: 0.4, max: 3.4 },
  /** Share of the border on the edge of the fan (echo reference 3, quality gates). */
  edgeShare: 0.15,
} as const;

/** Area that may be gained or lost against both neighbours (echo reference 3, quality gates). */
export const AREA_JUMP = 0.25;

/** Faults of the left ventricle of one apical frame; empty where its shape is that of a ventricle. */
export function shapeFaults(masks: ChamberMasks): ShapeFault[] {
  const pose = ventriclePose(masks);
  const cavity = areaOf(masks, 'lv');
  if (!pose || cavity === 0) return ['no-ventricle'];
  const faults: ShapeFault[] = [];
  const { areaPerLengthSquared, wallShare, wallPerCavity, edgeShare } = SHAPE_LIMITS;
  const roundness = cavity / pose.length ** 2;
  if (roundness < areaPerLengthSquared.min || roundness > areaPerLengthSquared.max) {
    faults.push('slender-or-round');
  }
  const border = borderOf(masks);
  if (border.wall < wallShare) faults.push('wall-missing');
  const proportion = areaOf(masks, 'myocardium') / cavity;
  if (proportion < wallPerCavity.min || proportion > wallPerCavity.max) {
    faults.push('wall-out-of-proportion');
  }
  if (border.edge > edgeShare) faults.push('out-of-sector');
  return faults;
}

/** Shares of the cavity's border: beside myocardium, and on the edge of the picture. */
function borderOf({ labels, width, height }: ChamberMasks): { wall: number; edge: number } {
  const lv = labelOf('lv');
  const wall = labelOf('myocardium');
  let border = 0;
  let walled = 0;
  let edge = 0;
  for (let pixel = 0; pixel < labels.length; pixel++) {
    if (labels[pixel] !== lv) continue;
    const x = pixel % width;
    const y = (pixel - x) / width;
    const outside = x === 0 || y === 0 || x === width - 1 || y === height - 1;
    const around = [pixel - 1, pixel + 1, pixel - width, pixel + width];
    const beside = outside ? [] : around.map((at) => labels[at] ?? 0);
    if (!outside && beside.every((one) => one === lv)) continue;
    border += 1;
    if (outside) edge += 1;
    else if (beside.includes(wall)) walled += 1;
  }
  return { wall: walled / Math.max(1, border), edge: edge / Math.max(1, border) };
}

/**
 * Indices of frames whose area jumps by more than 25 % against both neighbours: a heart does not beat
 * within one frame. The first and the last frame have one neighbour and are not judged.
 */
export function jumpingFrames(areas: readonly number[]): number[] {
  const far = (a: number, b: number) => Math.abs(a - b) > AREA_JUMP * Math.max(b, 1);
  return areas.flatMap((area, n) => {
    const before = areas[n - 1];
    const after = areas[n + 1];
    if (before === undefined || after === undefined) return [];
    return far(area, before) && far(area, after) ? [n] : [];
  });
}
