import type { Ellipse, PixelScale, Point } from '../contract/image.ts';
import { type CalibratedRegion, type Clip, scaleFor } from '../contract/study.ts';
import { distance } from '../measure/distance.ts';
import { axisEnds, perimeter, toMillimetres } from '../measure/ellipse.ts';
import type { ConceptKey, MethodKey } from '../result/concepts.ts';
import type { Caliper } from '../result/envelope.ts';
import { lineBetween } from '../result/source.ts';
import type { FrameReading } from './section.ts';

/** One length of one frame, with the calipers it was taken between. */
export interface Length {
  key: ConceptKey;
  method: MethodKey;
  mm: number;
  caliper: Caliper;
}

export interface ReadLengths {
  lengths: Length[];
  /** Where the scale of the millimetres is from. */
  calibration: CalibratedRegion['source'];
  note: string | null;
}

/** Share of an axis that may run out of the only region, where the fit carries the outline on. */
const OVERHANG = 0.05;

/** The scale of an outline: the region that contains its axes (reference 0.4). */
function outlineRegion(clip: Clip, points: readonly Point[]): CalibratedRegion | null {
  const containing = scaleFor(clip, points);
  const [only, ...others] = clip.regions;
  if (containing || !only || others.length > 0) return containing;
  const [first, second, third, fourth] = points;
  if (!first || !second || !third || !fourth) return null;
  const longest = Math.max(
    Math.hypot(second.x - first.x, second.y - first.y),
    Math.hypot(fourth.x - third.x, fourth.y - third.y),
  );
  const { minX, minY, maxX, maxY } = only.area;
  const beyond = points.map((p) => Math.max(minX - p.x, p.x - maxX, minY - p.y, p.y - maxY));
  return Math.max(...beyond) <= OVERHANG * longest ? only : null;
}

/** Ends of the axes of an ellipse, in pixels: those that are perpendicular in mm, not on screen. */
function axesInPixels(millimetres: Ellipse, scale: PixelScale): [Point, Point, Point, Point] {
  const [a1, a2, b1, b2] = axisEnds(millimetres);
  const toPixels = (point: Point) => ({ x: point.x / scale.x, y: point.y / scale.y });
  return [toPixels(a1), toPixels(a2), toPixels(b1), toPixels(b2)];
}

interface Axis {
  mm: number;
  caliper: Caliper;
  /** Whether it lies nearer to the beam, which runs down the image, than across it. */
  alongBeam: boolean;
}

function axisBetween(from: Point, to: Point, scale: PixelScale): Axis {
  const alongBeam = Math.abs((to.y - from.y) * scale.y) >= Math.abs((to.x - from.x) * scale.x);
  return { mm: distance(from, to, scale), caliper: lineBetween(from, to), alongBeam };
}

function headAxes(longer: Axis, shorter: Axis): Length[] {
  return [
    { key: 'ofd', method: 'ofd-outer-outer', ...longer },
    { key: 'bpd', method: 'bpd-outer-outer', ...shorter },
  ];
}

/**
 * Either axis of an abdomen may be the longer. The abdomen is scanned with the spine at the side, so
 * that the axis along the beam is the transverse one: so it is in 151 of the 160 landmarked images of
 * FETAL_PLANES_DB (Burgos-Artizzu 2020).
 */
function abdomenAxes(one: Axis, other: Axis): Length[] {
  const [transverse, anteroposterior] = one.alongBeam ? [one, other] : [other, one];
  return [
    { key: 'tad', method: 'tad-outer-outer', ...transverse },
    { key: 'apad', method: 'apad-outer-outer', ...anteroposterior },
  ];
}

function outlineLengths(
  clip: Clip,
  structure: 'head' | 'abdomen',
  ellipse: Ellipse,
): ReadLengths | null {
  const unscaled = axisEnds(ellipse);
  const region = outlineRegion(clip, unscaled);
  if (!region) return null;
  const { scale } = region;
  const millimetres = toMillimetres(ellipse, scale);
  const [a1, a2, b1, b2] = axesInPixels(millimetres, scale);
  const circumference = {
    mm: perimeter(millimetres.a, millimetres.b),
    caliper: {
      type: 'ellipse' as const,
      points: [a1, a2, b1, b2].map(({ x, y }): [number, number] => [x, y]),
    },
  };
  const longer = axisBetween(a1, a2, scale);
  const shorter = axisBetween(b1, b2, scale);
  const lengths: Length[] =
    structure === 'head'
      ? [{ key: 'hc', method: 'hc-ellipse', ...circumference }, ...headAxes(longer, shorter)]
      : [{ key: 'ac', method: 'ac-ellipse', ...circumference }, ...abdomenAxes(longer, shorter)];
  const cut = scaleFor(clip, unscaled) === null;
  return {
    lengths,
    calibration: region.source,
    note: cut ? 'the outline runs out of the image and was carried on by the fit' : null,
  };
}

/**
 * Lengths in mm of what was located on a frame. Null where nothing was located or where no
 * calibrated region holds it: then nothing is given in millimetres.
 */
export function lengthsOf(reading: FrameReading): ReadLengths | null {
  const { clip, located, structure } = reading;
  if (!located) return null;
  if (structure !== 'femur') return outlineLengths(clip, structure, located.ellipse);
  const [from, to] = located.ends;
  const region = scaleFor(clip, [from, to]);
  if (!region) return null;
  const mm = distance(from, to, region.scale);
  const length: Length = {
    key: 'fl',
    method: 'fl-outer-outer',
    mm,
    caliper: lineBetween(from, to),
  };
  return { lengths: [length], calibration: region.source, note: null };
}
