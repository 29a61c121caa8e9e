import {
  CODING_SYSTEMS,
  chartEntry,
  conceptEntry,
  methodEntry,
  UNITS,
} from '../../concepts/concepts.ts';
import type { Subject } from '../../dicom/subject.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import { statedMethod } from '../../result/render/statement.ts';
import {
  type Code,
  type ContentItem,
  code,
  type Graphic,
  type ImageReference,
  image,
  missingNum,
  num,
  type Quantity,
  scoord,
  text,
} from './content-item.ts';
import { instanceOf, referenceTo } from './references.ts';
import { SR } from './vocabulary.ts';

type Pair = readonly [number, number];

/**
 * Tolerances for writing an ellipse as an ELLIPSE: the distance between the midpoints of its axes
 * in pixels, and their deviation from a right angle as a cosine. Beyond either tolerance it is
 * written as a polyline.
 */
const CENTRE_TOLERANCE_PX = 0.01;
const SQUARE_TOLERANCE = 1e-4;

/**
 * Number of vertices of an ellipse that cannot be written as an ELLIPSE. At most 200 are allowed
 * (exchange 2.4).
 */
const OUTLINE_VERTICES = 120;

/**
 * Converts a pixel-centre coordinate to a coordinate from the image corner (PS3.3 C.18.6.1.1: 0\0
 * is the corner of the first pixel), rounded to 32 bits (FL).
 */
const toImage = (value: number): number => Math.fround(value + 0.5);

const between = (a: Pair, b: Pair): Pair => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
const halfOf = (a: Pair, b: Pair): Pair => [(b[0] - a[0]) / 2, (b[1] - a[1]) / 2];

/** Minimum number of points. A polygon of two points would enclose nothing. */
const LEAST_POINTS = { polyline: 2, polygon: 3 } as const;

/**
 * Returns a trace as an open POLYLINE, or an outline as a POLYLINE that ends at its first point.
 */
function traceGraphic(type: 'polyline' | 'polygon', points: readonly Pair[]): Graphic {
  const least = LEAST_POINTS[type];
  if (points.length < least) throw new RangeError(`a ${type} has at least ${least} points`);
  const vertices = type === 'polygon' ? [...points, points[0] ?? []] : points;
  return { shape: 'POLYLINE', data: vertices.flat().map(toImage) };
}

/**
 * Returns the graphic for a caliper, in image coordinates from the corner. A line becomes an open
 * POLYLINE of two points. The axes of an ELLIPSE must be exactly at right angles (PS3.3
 * C.18.6.1.2). If the pixel spacing differs by axis, the axes of an ellipse can be conjugate
 * diameters that are not perpendicular in pixels; it is then written as a closed POLYLINE.
 * @throws RangeError if the caliper does not have the points that its type requires.
 */
export function graphicOf(caliper: Caliper): Graphic {
  if (caliper.type === 'polyline' || caliper.type === 'polygon') {
    return traceGraphic(caliper.type, caliper.points);
  }
  const [a, b, c, d] = caliper.points;
  if (caliper.type === 'line') {
    if (caliper.points.length !== 2 || !a || !b) throw new RangeError('a line has two points');
    return { shape: 'POLYLINE', data: [a, b].flat().map(toImage) };
  }
  if (caliper.points.length !== 4 || !a || !b || !c || !d) {
    throw new RangeError('an ellipse has four points');
  }
  return ellipseGraphic(a, b, c, d);
}

function ellipseGraphic(a: Pair, b: Pair, c: Pair, d: Pair): Graphic {
  const centre = between(a, b);
  const other = between(c, d);
  const u = halfOf(a, b);
  const v = halfOf(c, d);
  const lengths = [Math.hypot(...u), Math.hypot(...v)] as const;
  const offset = Math.hypot(centre[0] - other[0], centre[1] - other[1]);
  const cosine = (u[0] * v[0] + u[1] * v[1]) / (lengths[0] * lengths[1]);
  if (offset > CENTRE_TOLERANCE_PX || !(Math.abs(cosine) <= SQUARE_TOLERANCE)) {
    return outline(between(centre, other), u, v);
  }
  const [major, minor] = lengths[0] >= lengths[1] ? [u, lengths[1]] : [v, lengths[0]];
  const length = Math.max(...lengths);
  const across: Pair = [(-major[1] / length) * minor, (major[0] / length) * minor];
  const ends = [
    [centre[0] - major[0], centre[1] - major[1]],
    [centre[0] + major[0], centre[1] + major[1]],
    [centre[0] - across[0], centre[1] - across[1]],
    [centre[0] + across[0], centre[1] + across[1]],
  ];
  return { shape: 'ELLIPSE', data: ends.flat().map(toImage) };
}

function outline(centre: Pair, u: Pair, v: Pair): Graphic {
  const vertices = Array.from({ length: OUTLINE_VERTICES }, (_, index) => {
    const t = (2 * Math.PI * index) / OUTLINE_VERTICES;
    return [
      toImage(centre[0] + u[0] * Math.cos(t) + v[0] * Math.sin(t)),
      toImage(centre[1] + u[1] * Math.cos(t) + v[1] * Math.sin(t)),
    ];
  });
  return { shape: 'POLYLINE', data: [...vertices, vertices[0] ?? []].flat() };
}

/** Returns true if all points of a graphic are within an image of this size or on its edge. */
export function liesOn(graphic: Graphic, columns: number, rows: number): boolean {
  return graphic.data.every((value, index) => value >= 0 && value <= (index % 2 ? rows : columns));
}

const DERIVATIONS = {
  measured: SR.measured,
  calculated: SR.calculated,
  mean: SR.mean,
  median: SR.median,
} as const satisfies Record<Measurement['derivation'], Code>;

/**
 * Returns a UCUM unit with its meaning from the unit table. A unit that is not in the table gets
 * its code as meaning.
 */
function ucum(unit: string): Code {
  const meanings: Readonly<Record<string, string>> = UNITS;
  return { scheme: 'UCUM', code: unit, meaning: meanings[unit] ?? unit };
}

export const PERCENT = ucum('%');
export const DAYS = ucum('d');
const ONE = ucum('1');

/**
 * Returns the code for a measurement from the concept table or, if the table lacks the key, from
 * the result itself.
 */
export function conceptOf(measurement: Measurement): Code {
  const entry = conceptEntry(measurement.concept.key);
  if (entry) return entry.codings[0];
  const { system, code: value, display } = measurement.concept;
  const known = Object.entries(CODING_SYSTEMS).find(([, uri]) => uri === system);
  return { scheme: known?.[0] ?? '99USINT', code: value, meaning: display };
}

/**
 * Returns a function that converts numbers from the unit of the result to the unit that SR uses for
 * the concept.
 */
export function exchange(measurement: Measurement): (value: number) => Quantity {
  const entry = conceptEntry(measurement.concept.key);
  if (!entry || entry.unit !== measurement.unit) {
    return (value) => ({ value, unit: ucum(measurement.unit) });
  }
  const { unit, factor } = entry.exchange;
  return (value) => ({ value: value * factor, unit: ucum(unit) });
}

export interface MeasuredOn {
  image: ImageReference;
  graphics: readonly Graphic[];
}

/**
 * Returns the image and calipers with which a value was measured; null if the source is not a DICOM
 * image of the subject.
 */
export function measuredOn(measurement: Measurement, subject: Subject): MeasuredOn | null {
  const instance = instanceOf(measurement, subject);
  if (!instance) return null;
  const graphics = measurement.source.calipers
    .map(graphicOf)
    .filter((graphic) => liesOn(graphic, instance.columns, instance.rows));
  return { image: referenceTo(instance, measurement.source.frame), graphics };
}

/** Returns the calipers with their image, or only the image if there are no calipers (TID 320). */
export function sourceItems({ image: on, graphics }: MeasuredOn): ContentItem[] {
  if (graphics.length === 0) return [image('INFERRED FROM', SR.sourceOfMeasurement, on)];
  return graphics.map((graphic) => scoord('INFERRED FROM', SR.sourceOfMeasurement, graphic, on));
}

/** Returns the items of `sourceItems`; empty if the source is not a DICOM image of the subject. */
export function sourcesOf(measurement: Measurement, subject: Subject): ContentItem[] {
  const on = measuredOn(measurement, subject);
  return on ? sourceItems(on) : [];
}

/** Returns the equation as a code if PS3.16 has one, otherwise as a citation (TID 315). */
export function equationItems(
  measurement: Pick<Measurement, 'method' | 'confirmed'>,
): ContentItem[] {
  const method = statedMethod(measurement);
  const entry = method === null ? null : methodEntry(method);
  if (entry?.equation) return [code('INFERRED FROM', SR.equation, entry.equation)];
  if (entry?.citation) return [text('INFERRED FROM', SR.equationCitation, entry.citation)];
  return [];
}

/** Returns the citation of the chart from which a centile, z-score or normal range was read. */
export function chartText(chart: string): string {
  const entry = chartEntry(chart);
  return entry ? `${entry.name}. ${entry.citation}` : chart;
}

/** Returns the normal range, centile, z-score and uncertainty of a value (TID 310 to 312). */
function propertyItems(measurement: Measurement, withCentile: boolean): ContentItem[] {
  const { reference, uncertainty } = measurement;
  const inUnit = exchange(measurement);
  const items: ContentItem[] = [];
  const property = (name: Code, quantity: Quantity) =>
    items.push(num('HAS PROPERTIES', name, quantity));
  if (reference) {
    if (reference.low !== null) property(SR.lowerLimit, inUnit(reference.low));
    if (reference.high !== null) property(SR.upperLimit, inUnit(reference.high));
    items.push(text('HAS PROPERTIES', SR.rangeAuthority, chartText(reference.chart)));
    if (reference.z_score !== null) property(SR.zScore, { value: reference.z_score, unit: ONE });
    if (withCentile && reference.centile !== null) {
      property(SR.percentile, { value: reference.centile, unit: PERCENT });
    }
  }
  // An uncertainty of 0 is unknown, as for an estimate in steps such as the RA pressure.
  if (uncertainty) property(SR.uncertainty, inUnit(uncertainty));
  return items;
}

interface NumOptions {
  /**
   * True if the centile is added as a property (TID 310); false if the template has a separate row
   * for it.
   */
  withCentile?: boolean;
  /**
   * Whether the number of a measurement that needs review is included. The template must then mark
   * the measurement as a proposal; without such a mark, receivers would use it as a result.
   */
  proposals?: boolean;
  /** Further modifiers of the value, after its derivation. */
  modifiers?: readonly ContentItem[];
  /** Items from which the value was inferred (INFERRED FROM): calipers, images and inputs. */
  sources: readonly ContentItem[];
}

/**
 * Returns a measurement as a NUM item (TID 300). The number of a value that was not accepted is
 * left out, as for a failed measurement (PS3.16 CID 42), so that no receiver can mistake it for a
 * result.
 */
export function measurementItem(measurement: Measurement, options: NumOptions): ContentItem {
  const { withCentile = true, proposals = false, modifiers = [], sources } = options;
  const name = conceptOf(measurement);
  const derivation = code('HAS CONCEPT MOD', SR.derivation, DERIVATIONS[measurement.derivation]);
  const isProposal = measurement.quality === 'review';
  if (measurement.quality !== 'accepted' && !(isProposal && proposals)) {
    const why = isProposal ? SR.valueUnknown : SR.measurementFailure;
    return missingNum('CONTAINS', name, why, [derivation, ...modifiers, ...sources]);
  }
  return num('CONTAINS', name, exchange(measurement)(measurement.value), [
    derivation,
    ...modifiers,
    ...propertyItems(measurement, withCentile),
    ...equationItems(measurement),
    ...sources,
  ]);
}

/** Returns an input of a calculation as a separate value (TID 300 INFERRED FROM NUM). */
export function inputItem(input: Measurement): ContentItem {
  return num('INFERRED FROM', conceptOf(input), exchange(input)(input.value));
}

export function confidenceItem(confidence: number): ContentItem {
  return num('CONTAINS', SR.probability, { value: confidence, unit: ONE });
}
