import type { ConceptKey } from '../../pipelines/result/concepts.ts';
import { atriumCut, ventricleCut } from '../phantom/heart/apical-cut.ts';
import { type ApicalCut, biplaneMl, borderOf, discWidths } from '../phantom/heart/contour.ts';
import { type Heart, type HeartMoment, STRUCTURE } from '../phantom/heart/heart.ts';
import { END_DIASTOLE, END_SYSTOLE } from '../phantom/heart/motion.ts';
import { fromImage, type ImagePlane, sum, toImage } from '../phantom/heart/space.ts';

/** The planes in which the chambers are shown. */
export interface ApicalPlanes {
  four: ImagePlane;
  two: ImagePlane;
}

type Cut = (at: HeartMoment, plane: ImagePlane) => ApicalCut | undefined;

function biplane(at: HeartMoment, { four, two }: ApicalPlanes, cut: Cut): number {
  const [one, other] = [cut(at, four), cut(at, two)];
  return one && other ? biplaneMl(one, other) : Number.NaN;
}

/** Discs along the right ventricle; those of its basal third, short of the valve, are looked at. */
const DISCS = 60;
const BASAL = { from: Math.ceil(0.05 * DISCS), to: DISCS / 3 } as const;
/** Millimetres from the tricuspid plane within which the border is its base. */
const BASE_MM = 1.5;

/** The widest inner diameter of the basal third of the right ventricle in a plane, mm. */
function rightBasalMm(at: HeartMoment, plane: ImagePlane): number {
  const { tricuspid, tricuspidZ } = at.chambers;
  const inside = toImage(plane, sum([1, tricuspid.centre], [8, { x: 0, y: 0, z: 1 }]));
  const outline = borderOf(at, plane, [STRUCTURE.rightVentricle], inside);
  const base = outline
    .filter(({ x, y }) => fromImage(plane, x, y).z < tricuspidZ + BASE_MM)
    .toSorted((a, b) => a.x - b.x);
  const [left, right] = [base[0], base.at(-1)];
  if (!left || !right) return Number.NaN;
  const middle = { x: (left.x + right.x) / 2, y: (left.y + right.y) / 2 };
  const far = (point: { x: number; y: number }) =>
    Math.hypot(point.x - middle.x, point.y - middle.y);
  const apex = outline.reduce((best, point) => (far(point) > far(best) ? point : best));
  // From the base up.
  const widths = discWidths(outline, apex, middle, DISCS).toReversed();
  return Math.max(...widths.slice(BASAL.from, BASAL.to));
}

/**
 * What perfect outlines in the planes of a study give: the methods that are measured are those of
 * planes, and the volume or width of the heart itself is not what they show.
 */
export function truthOfPlanes(
  heart: Heart,
  planes: ApicalPlanes,
): Partial<Record<ConceptKey, number>> {
  const [filled, emptied] = [heart.at(END_DIASTOLE), heart.at(END_SYSTOLE)];
  const [diastolic, systolic] = [filled, emptied].map((at) => biplane(at, planes, ventricleCut));
  return {
    'lvedv-biplane': diastolic ?? Number.NaN,
    'lvesv-biplane': systolic ?? Number.NaN,
    'lvef-biplane': 100 * (1 - (systolic ?? Number.NaN) / (diastolic ?? Number.NaN)),
    'la-volume-biplane': biplane(emptied, planes, atriumCut),
    'rv-basal': rightBasalMm(filled, planes.four),
  };
}
