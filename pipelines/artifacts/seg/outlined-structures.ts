import { z } from 'zod';
import type { Point } from '../../contract/image.ts';
import type { SourceInstance, Subject } from '../../dicom/subject.ts';
import { tenth } from '../../measure/rounding.ts';
import type { Caliper, Measurement, Result } from '../../result/envelope.ts';
import {
  LOCATED_STRUCTURES,
  type LocatedStructure,
  locatedStructureSchema,
  type Place,
  type StructureName,
} from '../../result/measured.ts';
import { withoutComparisons } from '../../result/standing.ts';
import { ellipsePoints } from '../drawing/drawing.ts';
import type { Code } from '../sr/content-item.ts';
import { siteOf } from '../sr/echo-sites.ts';
import { instanceOf } from '../sr/references.ts';
import { trackingIdentifiers, trackingUid } from '../tracking-uid.ts';

export type ListedStructure = LocatedStructure & { section: string };

const structures = z.array(locatedStructureSchema);

/**
 * Returns every structure whose position is listed by a section of the result (`data.structures`).
 */
export function structuresInSections({ sections }: Pick<Result, 'sections'>): ListedStructure[] {
  return sections.flatMap(({ id, data }) =>
    (structures.safeParse(data.structures).data ?? []).map((one) => ({ section: id, ...one })),
  );
}

const point = ([x, y]: readonly [number, number]): Point => ({ x, y });

/**
 * Returns the closed outline at a position. Null for a line, which encloses nothing, and for a
 * rectangle, which is drawn around a structure rather than along its border.
 */
export function closedOutline({ type, points }: Place): [number, number][] | null {
  if (type === 'polygon') return points;
  const [a, b, c, d] = points.map(point);
  if (type !== 'ellipse' || !a || !b || !c || !d) return null;
  const centre = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  const half = (from: Point, to: Point) => ({ x: (to.x - from.x) / 2, y: (to.y - from.y) / 2 });
  return ellipsePoints(centre, half(a, b), half(c, d)).map(({ x, y }) => [tenth(x), tenth(y)]);
}

/** The pixels of one frame that belong to a segment: 1 inside, 0 outside, row by row. */
export interface FrameMask {
  /** Frame number in the source instance, 1-based. */
  frame: number;
  /** One byte for each pixel of the source image. */
  pixels: Uint8Array;
}

/** One structure on one image, as a segment of a Segmentation (PS3.3 C.8.20.4). */
export interface Segment {
  /** Name shown in a viewer's segment list, such as "Fetal head". */
  label: string;
  description: string;
  /** Segmented Property Category (CID 7150). */
  category: Code;
  type: Code;
  /** The same as in the measurement group of the SR (TID 1410). */
  tracking: { identifier: string; uid: string };
  /** True if a person edited the outline that an algorithm found. */
  edited: boolean;
  /** In ascending order of frame number, without duplicates. */
  frames: readonly FrameMask[];
}

/** All segments of one source image, which become one Segmentation object. */
export interface SegmentedImage {
  source: SourceInstance;
  segments: readonly Segment[];
}

type PointPair = readonly [number, number];

/**
 * Returns the pixels whose centre is inside an ellipse or on its edge. The axes can be conjugate
 * diameters rather than perpendicular, as happens if the pixel spacing differs by axis.
 * @param points both ends of one axis, followed by both ends of the other axis, in pixel-centre
 *   coordinates.
 * @returns 1 inside, 0 outside, row by row.
 * @throws RangeError if there are not four points.
 */
export function filledEllipse(
  points: readonly PointPair[],
  columns: number,
  rows: number,
): Uint8Array {
  const [a, b, c, d] = points;
  if (points.length !== 4 || !a || !b || !c || !d) {
    throw new RangeError('an ellipse has four points');
  }
  const centre: PointPair = [(a[0] + b[0] + c[0] + d[0]) / 4, (a[1] + b[1] + c[1] + d[1]) / 4];
  const u: PointPair = [(b[0] - a[0]) / 2, (b[1] - a[1]) / 2];
  const v: PointPair = [(d[0] - c[0]) / 2, (d[1] - c[1]) / 2];
  const determinant = u[0] * v[1] - u[1] * v[0];
  const pixels = new Uint8Array(columns * rows);
  if (determinant === 0) return pixels;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const x = column - centre[0];
      const y = row - centre[1];
      // The point is written as s·u + t·v. It is inside the ellipse if (s, t) is inside the unit
      // circle.
      const s = (x * v[1] - y * v[0]) / determinant;
      const t = (u[0] * y - u[1] * x) / determinant;
      if (s * s + t * t <= 1) pixels[row * columns + column] = 1;
    }
  }
  return pixels;
}

type Pair = readonly [number, number];

/**
 * Returns the pixels whose centre is inside a closed outline, by the even-odd rule.
 * @param points vertices in pixel-centre coordinates; the first vertex is not repeated.
 * @returns 1 inside, 0 outside, row by row.
 */
export function filledPolygon(points: readonly Pair[], columns: number, rows: number): Uint8Array {
  const pixels = new Uint8Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    const crossings = points.flatMap((from, index) => {
      const to = points[(index + 1) % points.length] ?? from;
      // If a vertex is on the row, only one of the two edges that meet there is counted.
      if (from[1] <= row === to[1] <= row) return [];
      return [from[0] + ((row - from[1]) / (to[1] - from[1])) * (to[0] - from[0])];
    });
    crossings.sort((one, other) => one - other);
    for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
      const first = Math.max(Math.ceil(crossings[pair] ?? 0), 0);
      const last = Math.min(Math.floor(crossings[pair + 1] ?? 0), columns - 1);
      if (first <= last) pixels.fill(1, row * columns + first, row * columns + last + 1);
    }
  }
  return pixels;
}

/**
 * Category in CID 7150. None of its codes means "fetal" (exchange 3.4), so the label says "fetal".
 */
const ANATOMICAL_STRUCTURE: Code = {
  scheme: 'SCT',
  code: '123037004',
  meaning: 'Anatomical Structure',
};

const HEAD: Code = { scheme: 'SCT', code: '69536005', meaning: 'Head' };
const ABDOMEN: Code = { scheme: 'SCT', code: '113345001', meaning: 'Abdomen' };
const SYMPHYSIS: Code = { scheme: 'SCT', code: '82561000', meaning: 'Symphysis pubis' };

/**
 * Label and code of the structure inside an outline, for measurements whose finding site is a
 * different structure.
 */
const INSIDE: Readonly<Record<string, { label: string; type: Code }>> = {
  hc: { label: LOCATED_STRUCTURES['fetal-head'], type: HEAD },
  ac: { label: LOCATED_STRUCTURES['fetal-abdomen'], type: ABDOMEN },
};

const LISTED: Readonly<Partial<Record<StructureName, Code>>> = {
  symphysis: SYMPHYSIS,
  'fetal-head': HEAD,
  'fetal-abdomen': ABDOMEN,
};

/** Contains only the caliper types that enclose an area. */
const FILL: Readonly<Partial<Record<Caliper['type'], typeof filledEllipse>>> = {
  ellipse: filledEllipse,
  polygon: filledPolygon,
};

interface OutlinedStructure {
  label: string;
  type: Code;
  /** 1 inside, 0 outside, row by row. */
  pixels: Uint8Array;
}

type Size = Pick<SourceInstance, 'columns' | 'rows'>;

/**
 * Returns the filled outline of an accepted measurement. Null if the measurement has no closed
 * outline, or if the outline encloses nothing within a frame of that size. A cardiac chamber is
 * outlined several times, so its label is that of the measurement, which includes the view and
 * phase.
 */
export function outlinedStructure(
  measurement: Measurement,
  { columns, rows }: Size,
): OutlinedStructure | null {
  if (measurement.quality !== 'accepted') return null;
  const { key } = measurement.concept;
  const site = siteOf(measurement);
  const inside = INSIDE[key] ?? (site && { label: measurement.label, type: site });
  const [outline, ...more] = measurement.source.calipers;
  const fill = outline && FILL[outline.type];
  if (!inside || !fill || more.length > 0) return null;
  const pixels = fill(outline.points, columns, rows);
  if (!pixels.includes(1)) return null;
  const label = measurement.fetus ? `Fetus ${measurement.fetus}: ${inside.label}` : inside.label;
  return { label, type: inside.type, pixels };
}

/**
 * Returns the filled outline of a structure that a section lists without a measurement. Null if the
 * structure was not accepted, if its outline encloses nothing, or if it is outside the frame.
 */
export function listedOutline(
  { structure, accepted, place }: ListedStructure,
  { columns, rows }: Size,
): OutlinedStructure | null {
  const type = LISTED[structure];
  const outline = closedOutline(place);
  if (!accepted || !type || !outline) return null;
  const pixels = filledPolygon(outline, columns, rows);
  return pixels.includes(1) ? { label: LOCATED_STRUCTURES[structure], type, pixels } : null;
}

interface Placed {
  source: SourceInstance;
  segment: Segment;
}

function placed(
  source: SourceInstance,
  frame: number,
  { label, type, pixels }: OutlinedStructure,
  { description, tracking, edited }: Pick<Segment, 'description' | 'tracking' | 'edited'>,
): Placed {
  const where = source.numberOfFrames > 1 ? `, frame ${frame}` : '';
  const segment: Segment = {
    label: `${label}${where}`,
    description,
    category: ANATOMICAL_STRUCTURE,
    type,
    tracking,
    edited,
    frames: [{ frame, pixels }],
  };
  return { source, segment };
}

function ofMeasurements(result: Result, subject: Subject): Placed[] {
  const measurements = withoutComparisons(result.measurements);
  const tracking = trackingIdentifiers(measurements);
  return measurements.flatMap((measurement) => {
    const source = instanceOf(measurement, subject);
    const inside = source && outlinedStructure(measurement, source);
    if (!inside) return [];
    const identifier = tracking.get(measurement.id) ?? measurement.id;
    const outline = {
      description: `Outline of ${measurement.label}, filled`,
      tracking: { identifier, uid: trackingUid(subject, identifier) },
      edited: measurement.origin === 'person',
    };
    return [placed(source, measurement.source.frame ?? 1, inside, outline)];
  });
}

function ofSections(result: Result, subject: Subject): Placed[] {
  const counts = new Map<string, number>();
  return structuresInSections(result).flatMap((listed) => {
    const source = instanceOf({ source: listed }, subject);
    const inside = source && listedOutline(listed, source);
    if (!inside) return [];
    const { label } = inside;
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    const identifier = `${label} #${count}`;
    const outline = {
      description: `Border of ${label}, filled`,
      tracking: { identifier, uid: trackingUid(subject, identifier) },
      edited: false,
    };
    return [placed(source, listed.frame, inside, outline)];
  });
}

/**
 * Gives each segment of an object a unique label, because viewers distinguish segments by label. A
 * number is added to a repeated label.
 */
function distinct(segments: readonly Segment[]): Segment[] {
  const counts = new Map<string, number>();
  return segments.map((segment) => {
    const count = (counts.get(segment.label) ?? 0) + 1;
    counts.set(segment.label, count);
    return count === 1 ? segment : { ...segment, label: `${segment.label} (${count})` };
  });
}

/**
 * Returns the accepted outlines of a result as filled masks, by source image in the order of the
 * subject. The outlines of measurements come first, then those that only a section lists. An
 * outline is left out if it is not on a DICOM image, or if it is entirely outside its image.
 */
export function outlinedStructures(result: Result, subject: Subject): SegmentedImage[] {
  const found = [...ofMeasurements(result, subject), ...ofSections(result, subject)];
  return subject.instances.flatMap((source) => {
    const segments = found.filter((one) => one.source === source).map(({ segment }) => segment);
    return segments.length > 0 ? [{ source, segments: distinct(segments) }] : [];
  });
}
