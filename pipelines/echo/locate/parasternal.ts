import type { GrayImage, Point } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { cropped } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { labelsOf, removeSpecks, type StructureMasks, segmentFan } from './label-map.ts';
import { PARASTERNAL_STRUCTURES, type ParasternalStructure } from './names.ts';

export type ParasternalMasks = StructureMasks<ParasternalStructure>;

export const parasternalLabel = (structure: ParasternalStructure): number =>
  PARASTERNAL_STRUCTURES.indexOf(structure) + 1;

/**
 * Structures that may have two parts. For example, septum and posterior wall are separate if the
 * picture does not extend to the apex.
 */
const TWOFOLD = [parasternalLabel('myocardium'), parasternalLabel('effusion')];

/**
 * Outlines the structures on each frame of a parasternal (long or short axis) or subcostal view
 * with `echo-parasternal`. `area` is the fan (sector.ts), which is the same for all frames of a
 * clip.
 */
export async function segmentParasternal(
  session: ModelSession,
  images: readonly GrayImage[],
  area: Rectangle,
): Promise<ParasternalMasks[]> {
  const crops = images.map((image) => cropped(image, area));
  return segmentFan(session, crops, area, PARASTERNAL_STRUCTURES, (...given) =>
    removeSpecks(labelsOf(...given), TWOFOLD),
  );
}

/**
 * Lines on the parasternal long axis (ASE 2015, figure 1), with their end points in stored pixels.
 */
const LONG_AXIS_LINES = ['septum', 'cavity', 'posterior-wall', 'left-atrium', 'sinus'] as const;
export type LongAxisLine = (typeof LONG_AXIS_LINES)[number];
export type Line = readonly [Point, Point];

/** Distance from the base to the tips of the mitral leaflets, as a share of the cavity's width. */
const TIPS = 0.5;
/**
 * Distances along the aortic root, from its LV opening, at which the width of the sinuses is
 * measured. They are multiples of the width of the opening.
 */
const SINUS_LEVELS = [0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85];
const REFINEMENTS = 3;
/**
 * Distances from the base at which the middle of the cavity is determined, as multiples of the
 * cavity's width.
 */
const LEVELS = [0.2, 0.35, 0.5, 0.65, 0.8];
const STEP = 0.5;
/** Minimum number of touching border pixels for two structures to count as adjacent. */
const CONTACT = 4;

interface Axis {
  base: Point;
  /** Unit vector from the base towards the apex. */
  along: Point;
}

/**
 * Returns the lines that a sonographer draws on the long axis. Septum, cavity and posterior wall
 * are on one line across the cavity at the tips of the mitral leaflets. The left atrium and the
 * aortic sinuses have separate lines. A line is left out if its structures were not found.
 */
export function longAxisLines(masks: ParasternalMasks): Partial<Record<LongAxisLine, Line>> {
  return { ...ventricleLines(masks), ...atriumLine(masks), ...sinusLine(masks) };
}

function ventricleLines(masks: ParasternalMasks): Partial<Record<LongAxisLine, Line>> {
  const axis = cavityAxis(masks);
  if (!axis) return {};
  const width = lengthOf(chord(masks, 'lv', level(axis, 0.1 * axis.width), acrossOf(axis)));
  const at = level(axis, TIPS * (width || axis.width));
  const cavity = chord(masks, 'lv', at, acrossOf(axis));
  if (!cavity) return {};
  const [front, back] = towardsProbe(cavity);
  const septum = wallBeyond(masks, back, front);
  const posterior = wallBeyond(masks, front, back);
  return {
    cavity: [front, back],
    ...(septum && { septum: [septum, front] as const }),
    ...(posterior && { 'posterior-wall': [back, posterior] as const }),
  };
}

/**
 * Finds the cavity's long axis and mean width, and refines both from chords across the cavity. Null
 * if the cavity does not touch the atrium or the aorta at its base.
 */
function cavityAxis(masks: ParasternalMasks): (Axis & { width: number }) | null {
  const base = contactOf(masks, 'lv', ['la', 'aorta']);
  const centre = centroidOf(masks, 'lv');
  if (!base || !centre) return null;
  let axis: Axis = { base: base.middle, along: unit(base.middle, centre) };
  let width = base.length;
  for (let round = 0; round < REFINEMENTS; round++) {
    const chords = LEVELS.flatMap((share) => {
      const line = chord(masks, 'lv', level(axis, share * width), acrossOf(axis));
      return line ? [line] : [];
    });
    const [first, last] = [chords[0], chords.at(-1)];
    if (!first || !last || first === last) return { ...axis, width };
    const along = unit(middle(first), middle(last));
    const forwards = along.x * axis.along.x + along.y * axis.along.y > 0.5;
    if (!forwards) return { ...axis, width };
    axis = { base: base.middle, along };
    width = chords.reduce((sum, line) => sum + lengthOf(line), 0) / chords.length;
    axis = { along, base: projected(base.middle, middle(first), along) };
  }
  return { ...axis, width };
}

function atriumLine(masks: ParasternalMasks): Partial<Record<LongAxisLine, Line>> {
  const centre = centroidOf(masks, 'la');
  const valve = contactOf(masks, 'lv', ['la']);
  if (!centre || !valve) return {};
  const along = unit(centre, valve.middle);
  const line = chord(masks, 'la', centre, { x: -along.y, y: along.x });
  return line ? { 'left-atrium': towardsProbe(line) } : {};
}

/**
 * Draws the line across the aortic root at the sinuses. The annulus is not measured, because the
 * masks show it too obliquely.
 */
function sinusLine(masks: ParasternalMasks): Partial<Record<LongAxisLine, Line>> {
  const opening = contactOf(masks, 'aorta', ['lv']);
  const centre = centroidOf(masks, 'aorta');
  if (!opening || !centre) return {};
  const along = unit(opening.middle, centre);
  const across = { x: -along.y, y: along.x };
  const chords = SINUS_LEVELS.flatMap((share) => {
    const distance = share * opening.length;
    const at = {
      x: opening.middle.x + distance * along.x,
      y: opening.middle.y + distance * along.y,
    };
    const line = chord(masks, 'aorta', at, across);
    return line ? [line] : [];
  });
  const widest = chords.reduce<Line | null>(
    (best, line) => (lengthOf(line) > lengthOf(best) ? line : best),
    null,
  );
  return widest ? { sinus: towardsProbe(widest) } : {};
}

/**
 * Returns the point beyond `edge` at which the line from `from` through `edge` leaves the
 * myocardium. Null if there is no myocardium behind `edge`.
 */
function wallBeyond(masks: ParasternalMasks, from: Point, edge: Point): Point | null {
  const direction = unit(from, edge);
  const label = parasternalLabel('myocardium');
  let out: Point | null = null;
  for (let distance = STEP; distance < masks.width; distance += STEP) {
    const point = { x: edge.x + distance * direction.x, y: edge.y + distance * direction.y };
    if (labelAt(masks, point) === label) out = point;
    // A gap of one pixel between cavity and wall is an artefact of the grid.
    else if (distance > 2) break;
  }
  return out;
}

/**
 * Returns the part of a line that is inside a structure. Null if `through`, a point on the line, is
 * outside the structure.
 */
function chord(
  masks: ParasternalMasks,
  structure: ParasternalStructure,
  through: Point,
  direction: Point,
): Line | null {
  const label = parasternalLabel(structure);
  const inside = (distance: number) =>
    labelAt(masks, {
      x: through.x + distance * direction.x,
      y: through.y + distance * direction.y,
    }) === label;
  if (!inside(0)) return null;
  let [from, to] = [0, 0];
  while (inside(from - STEP)) from -= STEP;
  while (inside(to + STEP)) to += STEP;
  const at = (distance: number) => ({
    x: through.x + distance * direction.x,
    y: through.y + distance * direction.y,
  });
  return [at(from - STEP / 2), at(to + STEP / 2)];
}

/**
 * Finds the border where a structure touches other structures, and returns the border's middle and
 * extent.
 */
function contactOf(
  masks: ParasternalMasks,
  structure: ParasternalStructure,
  others: readonly ParasternalStructure[],
): { middle: Point; length: number } | null {
  const { labels, width } = masks;
  const own = parasternalLabel(structure);
  const wanted = others.map(parasternalLabel);
  const steps = [1, -1, width, -width, 2, -2, 2 * width, -2 * width];
  const touching: Point[] = [];
  for (let pixel = 0; pixel < labels.length; pixel++) {
    if (labels[pixel] === own && hasBeside(labels, pixel, steps, wanted)) {
      touching.push(pointOf(masks, pixel));
    }
  }
  if (touching.length < CONTACT) return null;
  const xs = touching.map(({ x }) => x);
  const ys = touching.map(({ y }) => y);
  const extent = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
  return { middle: meanOf(touching), length: Math.hypot(extent(xs), extent(ys)) };
}

/**
 * Returns true if a neighbour of the pixel, at one of the index offsets `steps`, has one of the
 * wanted labels and not the pixel's own.
 */
function hasBeside(
  labels: Uint8Array,
  pixel: number,
  steps: readonly number[],
  wanted: readonly number[],
): boolean {
  const own = labels[pixel];
  for (let n = 0; n < steps.length; n++) {
    const other = labels[pixel + (steps[n] ?? 0)] ?? 0;
    if (other !== own && wanted.includes(other)) return true;
  }
  return false;
}

function centroidOf(masks: ParasternalMasks, structure: ParasternalStructure): Point | null {
  const label = parasternalLabel(structure);
  const { labels, width, area } = masks;
  let x = 0;
  let y = 0;
  let count = 0;
  for (let pixel = 0; pixel < labels.length; pixel++) {
    if (labels[pixel] !== label) continue;
    x += area.minX + (pixel % width);
    y += area.minY + Math.floor(pixel / width);
    count += 1;
  }
  return count > 0 ? { x: x / count, y: y / count } : null;
}

const pointOf = ({ area, width }: ParasternalMasks, pixel: number): Point => ({
  x: area.minX + (pixel % width),
  y: area.minY + Math.floor(pixel / width),
});

function labelAt({ area, width, height, labels }: ParasternalMasks, { x, y }: Point): number {
  const column = Math.round(x - area.minX);
  const row = Math.round(y - area.minY);
  if (column < 0 || row < 0 || column >= width || row >= height) return 0;
  return labels[row * width + column] ?? 0;
}

function meanOf(points: readonly Point[]): Point {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

function unit(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
}

const middle = ([a, b]: Line): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
const lengthOf = (line: Line | null): number =>
  line ? Math.hypot(line[1].x - line[0].x, line[1].y - line[0].y) : 0;
const acrossOf = ({ along }: Axis): Point => ({ x: -along.y, y: along.x });
const level = ({ base, along }: Axis, distance: number): Point => ({
  x: base.x + distance * along.x,
  y: base.y + distance * along.y,
});

function projected(point: Point, on: Point, along: Point): Point {
  const distance = (point.x - on.x) * along.x + (point.y - on.y) * along.y;
  return { x: on.x + distance * along.x, y: on.y + distance * along.y };
}

/**
 * Orders the ends of a line: the end nearer to the probe, which is higher in the picture, comes
 * first.
 */
const towardsProbe = ([a, b]: Line): Line => (a.y <= b.y ? [a, b] : [b, a]);
