import {
  CODING_SYSTEMS,
  chartEntry,
  conceptEntry,
  methodEntry,
  UNITS,
} from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { Subject } from '../subject.ts';
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
import { graphicOf, liesOn } from './coordinates.ts';
import { instanceOf, referenceTo } from './references.ts';
import { SR } from './vocabulary.ts';

const DERIVATIONS = {
  measured: SR.measured,
  calculated: SR.calculated,
  mean: SR.mean,
  median: SR.median,
} as const satisfies Record<Measurement['derivation'], Code>;

/** UCUM unit with the meaning of the unit table; the code itself where the table has none. */
export function ucum(unit: string): Code {
  const meanings: Readonly<Record<string, string>> = UNITS;
  return { scheme: 'UCUM', code: unit, meaning: meanings[unit] ?? unit };
}

export const PERCENT = ucum('%');
export const DAYS = ucum('d');
const ONE = ucum('1');

/** The code of a measurement: that of the concept table, else as the envelope names it. */
export function conceptOf(measurement: Measurement): Code {
  const entry = conceptEntry(measurement.concept.key);
  if (entry) return entry.codings[0];
  const { system, code: value, display } = measurement.concept;
  const known = Object.entries(CODING_SYSTEMS).find(([, uri]) => uri === system);
  return { scheme: known?.[0] ?? '99USINT', code: value, meaning: display };
}

/** Takes a number of the envelope to the unit that SR uses for the concept. */
export function exchange(measurement: Measurement): (value: number) => Quantity {
  const entry = conceptEntry(measurement.concept.key);
  if (!entry || entry.unit !== measurement.unit) {
    return (value) => ({ value, unit: ucum(measurement.unit) });
  }
  const { unit, factor } = entry.exchange;
  return (value) => ({ value: value * factor, unit: ucum(unit) });
}

/** Where a value was measured: the image, and the caliper when it lies on that image. */
export interface MeasuredOn {
  image: ImageReference;
  graphics: readonly Graphic[];
}

/** Null for a value that was measured on no DICOM image of the subject. */
export function measuredOn(measurement: Measurement, subject: Subject): MeasuredOn | null {
  const instance = instanceOf(measurement, subject);
  if (!instance) return null;
  const graphics = measurement.source.calipers
    .map(graphicOf)
    .filter((graphic) => liesOn(graphic, instance.columns, instance.rows));
  return { image: referenceTo(instance, measurement.source.frame), graphics };
}

/** TID 320: the calipers with their image, else the image alone. */
export function sourceItems({ image: on, graphics }: MeasuredOn): ContentItem[] {
  if (graphics.length === 0) return [image('INFERRED FROM', SR.sourceOfMeasurement, on)];
  return graphics.map((graphic) => scoord('INFERRED FROM', SR.sourceOfMeasurement, graphic, on));
}

/** TID 315: the coded equation where PS3.16 has one, else its citation. */
export function equationItems(method: string): ContentItem[] {
  const entry = methodEntry(method);
  if (entry?.equation) return [code('INFERRED FROM', SR.equation, entry.equation)];
  if (entry?.citation) return [text('INFERRED FROM', SR.equationCitation, entry.citation)];
  return [];
}

/** The chart that a centile, z-score or normal range was taken from, as a citation. */
export function chartText(chart: string): string {
  const entry = chartEntry(chart);
  return entry ? `${entry.name}. ${entry.citation}` : chart;
}

/** TID 310 to 312: normal range, centile, z-score and uncertainty of a value. */
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
  if (uncertainty !== null) property(SR.uncertainty, inUnit(uncertainty));
  return items;
}

export interface NumOptions {
  /** Name of the NUM where the template asks for another than the concept's. */
  name?: Code;
  /** Centile as a property (TID 310); false where the template has a row of its own for it. */
  withCentile?: boolean;
  /** Items INFERRED FROM which the value came: calipers, images, input values. */
  sources: readonly ContentItem[];
}

/**
 * TID 300. A value that was not accepted is sent without its number, as a failed measurement
 * (PS3.16 CID 42), so that no receiver can take it for a result.
 */
export function measurementItem(measurement: Measurement, options: NumOptions): ContentItem {
  const { name = conceptOf(measurement), withCentile = true, sources } = options;
  const modifier = code('HAS CONCEPT MOD', SR.derivation, DERIVATIONS[measurement.derivation]);
  if (measurement.quality !== 'accepted') {
    return missingNum('CONTAINS', name, SR.measurementFailure, [modifier, ...sources]);
  }
  return num('CONTAINS', name, exchange(measurement)(measurement.value), [
    modifier,
    ...propertyItems(measurement, withCentile),
    ...equationItems(measurement.method),
    ...sources,
  ]);
}

/** An input of a calculation, by value (TID 300 INFERRED FROM NUM). */
export function inputItem(input: Measurement): ContentItem {
  return num('INFERRED FROM', conceptOf(input), exchange(input)(input.value));
}

/** The confidence of the model, as a probability from 0 to 1. */
export function confidenceItem(confidence: number): ContentItem {
  return num('CONTAINS', SR.probability, { value: confidence, unit: ONE });
}
