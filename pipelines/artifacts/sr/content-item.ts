/** A coded concept: coding scheme designator, code value and code meaning (PS3.3 8.1 to 8.3). */
export interface Code {
  scheme: string;
  code: string;
  meaning: string;
}

/** PS3.3 C.17.3.2.4; relationships by reference are not written, so one tree fits every SR class. */
export type Relationship =
  | 'CONTAINS'
  | 'HAS OBS CONTEXT'
  | 'HAS ACQ CONTEXT'
  | 'HAS CONCEPT MOD'
  | 'HAS PROPERTIES'
  | 'INFERRED FROM'
  | 'SELECTED FROM';

export interface ImageReference {
  sopClassUid: string;
  sopInstanceUid: string;
  /** 1-based; null for a single-frame image. */
  frame: number | null;
}

/** Corner-origin image coordinates, column and row by turns (PS3.3 C.18.6.1.1). */
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
  /** DICOM DA. */
  | { type: 'DATE'; date: string }
  /** Without a quantity, the qualifier gives the reason (PS3.16 CID 42). */
  | { type: 'NUM'; quantity: Quantity | null; qualifier: Code | null }
  | { type: 'SCOORD'; graphic: Graphic }
  | { type: 'IMAGE'; image: ImageReference };

export type ValueType = ItemValue['type'];

/** A node of the SR document content tree; only the root has no relationship. */
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

/** The root of a document: `template` is its TID. */
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

/** A numeric item whose value is missing, with the reason (PS3.3 C.18.1). */
export function missingNum(
  relationship: Relationship,
  name: Code,
  qualifier: Code,
  items: Items = [],
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

/** Spatial coordinates with the image they were placed on (TID 320). */
export function scoord(
  relationship: Relationship,
  name: Code,
  graphic: Graphic,
  on: ImageReference,
): ContentItem {
  const items = [image('SELECTED FROM', null, on)];
  return { relationship, name, value: { type: 'SCOORD', graphic }, items };
}

/** All items of a tree, depth first, the root first. */
export function* walk(item: ContentItem): Generator<ContentItem> {
  yield item;
  for (const child of item.items) yield* walk(child);
}
