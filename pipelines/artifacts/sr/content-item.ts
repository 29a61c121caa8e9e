/** A coded concept: coding scheme designator, code value and code meaning (PS3.3 8.1 to 8.3). */
export interface Code {
  scheme: string;
  code: string;
  meaning: string;
}

/**
 * Relationship Type (PS3.3 C.17.3.2.4). All relationships are by value, so one content tree is
 * valid in Enhanced, Comprehensive and Comprehensive 3D SR.
 */
export const RELATIONSHIPS = [
  'CONTAINS',
  'HAS OBS CONTEXT',
  'HAS ACQ CONTEXT',
  'HAS CONCEPT MOD',
  'HAS PROPERTIES',
  'INFERRED FROM',
  'SELECTED FROM',
] as const;
export type Relationship = (typeof RELATIONSHIPS)[number];

export interface ImageReference {
  sopClassUid: string;
  sopInstanceUid: string;
  /** 1-based; null for a single-frame image and for a reference to all frames. */
  frame: number | null;
}

/**
 * Image coordinates with the origin at the top left corner of the image, as alternating column and
 * row values (PS3.3 C.18.6.1.1).
 */
export interface Graphic {
  shape: 'POINT' | 'POLYLINE' | 'ELLIPSE';
  data: readonly number[];
}

export interface Quantity {
  value: number;
  unit: Code;
}

export type ItemValue =
  | { type: 'CONTAINER'; template: string | null }
  | { type: 'CODE'; code: Code }
  | { type: 'TEXT'; text: string }
  | { type: 'UIDREF'; uid: string }
  /** DICOM PN. */
  | { type: 'PNAME'; person: string }
  /** DICOM DA: YYYYMMDD. */
  | { type: 'DATE'; date: string }
  /** If there is no quantity, the qualifier states why (PS3.16 CID 42). */
  | { type: 'NUM'; quantity: Quantity | null; qualifier: Code | null }
  | { type: 'SCOORD'; graphic: Graphic }
  | { type: 'IMAGE'; image: ImageReference }
  /** An object that is not an image. */
  | { type: 'COMPOSITE'; object: Omit<ImageReference, 'frame'> };

export type ValueType = ItemValue['type'];

/** A node of the SR document content tree. Only the root has no relationship. */
export interface ContentItem {
  relationship: Relationship | null;
  name: Code | null;
  value: ItemValue;
  items: readonly ContentItem[];
}

type Items = readonly ContentItem[];

export function container(name: Code, items: Items, template: string | null = null): ContentItem {
  return { relationship: 'CONTAINS', name, value: { type: 'CONTAINER', template }, items };
}

/** Returns the root of a document; `template` is the number of its template (TID). */
export function root(name: Code, template: string, items: Items): ContentItem {
  return { ...container(name, items, template), relationship: null };
}

export function code(
  relationship: Relationship,
  name: Code,
  value: Code,
  items: Items = [],
): ContentItem {
  return { relationship, name, value: { type: 'CODE', code: value }, items };
}

export function text(relationship: Relationship, name: Code, value: string): ContentItem {
  return { relationship, name, value: { type: 'TEXT', text: value }, items: [] };
}

export function uidref(relationship: Relationship, name: Code, uid: string): ContentItem {
  return { relationship, name, value: { type: 'UIDREF', uid }, items: [] };
}

export function pname(relationship: Relationship, name: Code, person: string): ContentItem {
  return { relationship, name, value: { type: 'PNAME', person }, items: [] };
}

export function date(relationship: Relationship, name: Code, value: string): ContentItem {
  return { relationship, name, value: { type: 'DATE', date: value }, items: [] };
}

export function num(
  relationship: Relationship,
  name: Code,
  quantity: Quantity,
  items: Items = [],
): ContentItem {
  return { relationship, name, value: { type: 'NUM', quantity, qualifier: null }, items };
}

/**
 * Returns a numeric item without a value but with the reason why the value is missing (PS3.3
 * C.18.1).
 */
export function missingNum(
  relationship: Relationship,
  name: Code,
  qualifier: Code,
  items: Items,
): ContentItem {
  return { relationship, name, value: { type: 'NUM', quantity: null, qualifier }, items };
}

export function image(
  relationship: Relationship,
  name: Code | null,
  reference: ImageReference,
): ContentItem {
  return { relationship, name, value: { type: 'IMAGE', image: reference }, items: [] };
}

export function composite(
  relationship: Relationship,
  name: Code | null,
  object: Omit<ImageReference, 'frame'>,
): ContentItem {
  return { relationship, name, value: { type: 'COMPOSITE', object }, items: [] };
}

/** Returns spatial coordinates with the image on which they were placed (TID 320). */
export function scoord(
  relationship: Relationship,
  name: Code,
  graphic: Graphic,
  on: ImageReference,
): ContentItem {
  const items = [image('SELECTED FROM', null, on)];
  return { relationship, name, value: { type: 'SCOORD', graphic }, items };
}

/** Yields all items of a tree depth first, starting with the root. */
export function* walk(item: ContentItem): Generator<ContentItem> {
  yield item;
  for (const child of item.items) yield* walk(child);
}
