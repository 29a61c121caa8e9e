import type { Point } from '../contract/image.ts';
import { type Clip, holds, scaleFor } from '../contract/study.ts';
import { distance } from '../measure/ellipse.ts';
import type { Caliper, Measurement } from '../result/envelope.ts';

/**
 * What a person may enter in a review: the rules of the endpoint, and the checks of numbers, lines
 * and outlines. A line that was moved is measured here.
 */

/** Thrown if a change cannot be made. `path` leads to the invalid member of the change. */
export class ChangeRefused extends Error {
  override name = 'ChangeRefused';
  readonly path: readonly string[];

  constructor(detail: string, ...path: readonly string[]) {
    super(detail);
    this.path = path;
  }
}

/** A structure whose outline a person may correct, and the values that depend on it. */
export interface CorrectableOutline {
  structure: string;
  /** Concepts of the values measured on the outline, on the same frame. */
  follow: readonly string[];
  /** Concepts of values based on the former outline, which become invalid. */
  replaces?: readonly string[];
}

/** Clips of the study, and the endpoint's rules for its values. */
export interface EndpointRules {
  clips: readonly Clip[];
  /** Returns the bounds of a quantity in its unit; null if unknown. */
  limitsOf(concept: string): { low: number; high: number } | null;
  /** Returns the concepts of values from the same source on which a value is based without an input. */
  restsOn(concept: string): readonly string[];
  /**
   * Returns the outline on which a value is measured; null if there is no outline or if it cannot
   * be corrected.
   */
  outlineOf(measurement: Measurement): CorrectableOutline | null;
  /** Returns the outline of the structure on another frame; null if no outline was found there. */
  outlineAt(measurement: Measurement, frame: number): readonly Point[] | null;
  /** Returns why nothing can be measured on an outline that a person drew; null if it is usable. */
  faultOf(measurement: Measurement, frame: number, points: readonly Point[]): string | null;
  /** Views and planes that a person may choose; empty if the endpoint has none. */
  views: readonly string[];
  planes: readonly string[];
}

export function withinLimits(
  concept: string,
  value: number,
  unit: string,
  rules: EndpointRules,
): void {
  const limits = rules.limitsOf(concept);
  if (!Number.isFinite(value)) throw new ChangeRefused('not a number', 'value');
  if (limits && (value < limits.low || value > limits.high)) {
    const range = `${limits.low} to ${limits.high} ${unit}`.trim();
    throw new ChangeRefused(`The value must be within ${range}.`, 'value');
  }
}

export const toPoints = (points: readonly (readonly [number, number])[]): Point[] =>
  points.map(([x, y]) => ({ x, y }));

const PER_MM: Readonly<Record<string, number>> = { mm: 1, cm: 0.1 };

/** Maximum difference between a value and the length of its caliper, as a share. */
const SAME_LENGTH = 0.02;

/**
 * Returns the length of a line in the unit of the value, once for each scale of the frame: that of
 * the 2D region at the line, then the depth scale of each sweep. An entry is null if its scale does
 * not apply to the line. The lengths of two lines can thus be compared entry by entry.
 */
function lengthsOf(line: readonly Point[], unit: string, clip: Clip): (number | null)[] {
  const [from, to] = line;
  const perMm = PER_MM[unit];
  if (!from || !to || perMm === undefined) return [];
  const scale = scaleFor(clip, [from, to])?.scale;
  const depths = clip.sweeps.map(({ area, unit: of, valuePerPixel }) =>
    of === 'cm' && valuePerPixel !== null && holds(area, [from, to])
      ? Math.abs(to.y - from.y) * valuePerPixel * 10 * perMm
      : null,
  );
  return [scale ? distance(from, to, scale) * perMm : null, ...depths];
}

export function clipOf({ source }: Measurement, { clips }: EndpointRules): Clip {
  const clip = clips.find(({ file }) => file === source.file);
  if (clip && source.frame !== null) return clip;
  throw new ChangeRefused(
    'The value belongs to no single frame; choose one of its repeats.',
    'measurement',
  );
}

export function withinFrame(points: readonly Point[], { width, height }: Clip): void {
  const index = points.findIndex(({ x, y }) => x < 0 || y < 0 || x > width || y > height);
  if (index >= 0) {
    throw new ChangeRefused('The point is outside of the frame.', 'points', String(index));
  }
}

/**
 * Returns the new value of a line that was moved, using the scale with which the old value was
 * measured.
 */
export function movedLine(
  one: Measurement,
  points: readonly Point[],
  rules: EndpointRules,
): { value: number; calipers: Caliper[] } {
  const clip = clipOf(one, rules);
  withinFrame(points, clip);
  const [caliper, ...others] = one.source.calipers;
  if (caliper?.type !== 'line' || others.length > 0) {
    throw new ChangeRefused('The value is not the length of one line; type it instead.', 'points');
  }
  const before = lengthsOf(toPoints(caliper.points), one.unit, clip);
  const after = lengthsOf(points, one.unit, clip);
  const fits = before.findIndex(
    (length) =>
      length !== null && Math.abs(length - one.value) <= SAME_LENGTH * Math.abs(one.value),
  );
  const value = after[fits] ?? null;
  if (value === null) {
    throw new ChangeRefused(
      'The value does not follow from its calipers; type it instead.',
      'points',
    );
  }
  withinLimits(one.concept.key, value, one.unit, rules);
  return { value, calipers: [{ type: 'line', points: points.map(({ x, y }) => [x, y]) }] };
}
