import type { TagDataset } from 'dcmjs';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { headerInBytes, wantedAttributes } from './bounded-header.ts';
import { readDataSet } from './data-set.ts';
import { fileStart } from './part10.ts';

/** This file converts stored DICOM files to the DICOM JSON model (PS3.18 Annex F). */

export interface JsonAttribute {
  vr: string;
  Value?: unknown[];
  InlineBinary?: string;
  BulkDataURI?: string;
}
export type JsonDataSet = Record<string, JsonAttribute>;

const PIXEL_DATA = '7FE00010';
const CHARACTER_SET = '00080005';

/**
 * Number of bytes read from a file: the first of these that contains the data set up to its pixel
 * data. A longer data set is refused.
 */
const READ_BYTES = [64 * 1024, 1024 * 1024, 32 * 1024 * 1024] as const;
const NO_ATTRIBUTES = wantedAttributes([]);
/**
 * A binary value longer than this, in bytes, is not inlined but becomes bulk data with its own
 * address (PS3.18 F.2.2, Table F.2.3-1).
 */
const LONGEST_INLINE_BYTES = 16 * 1024;
/** Binary value representations (PS3.18 table F.2.3-1). */
const BINARY = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'UN']);

/**
 * Reads the data set of a DICOM file up to its pixel data and decodes its text.
 *
 * @returns the data set by tag.
 *
 * @throws SonogateError `object_not_understood`, also for a data set over the limit.
 */
export async function readTagDataSet(path: string): Promise<TagDataset> {
  for (const bytes of READ_BYTES) {
    const { start, whole } = await fileStart(path, bytes);
    if (!headerInBytes(start, whole, NO_ATTRIBUTES)) continue;
    const dataSet = parsed(start);
    // The header is whole, but a long Extended Offset Table before the pixels may exceed the bytes.
    if (whole || dataSet[PIXEL_DATA]) return dataSet;
  }
  throw new SonogateError('object_not_understood', 'The data set is too large for JSON.');
}

function parsed(start: Buffer<ArrayBuffer>): TagDataset {
  try {
    return readDataSet(start, 'before-pixels').dict;
  } catch (cause) {
    throw new SonogateError('object_not_understood', undefined, { cause });
  }
}

/**
 * Converts a data set to the DICOM JSON model.
 *
 * @param bulkDataUri returns the address of the bulk data with this tag. Only top-level values have
 * an address; binary values in items are inlined in the response.
 */
export function dicomJson(dataSet: TagDataset, bulkDataUri: (tag: string) => string): JsonDataSet {
  const json = itemJson(dataSet, bulkDataUri);
  // The response is UTF-8 even if the file uses another character set (PS3.18 F.2.1).
  if (json[CHARACTER_SET]) json[CHARACTER_SET] = { vr: 'CS', Value: ['ISO_IR 192'] };
  return json;
}

function itemJson(dataSet: TagDataset, bulkDataUri: ((tag: string) => string) | null): JsonDataSet {
  const json: JsonDataSet = {};
  for (const [tag, { vr, Value }] of Object.entries(dataSet)) {
    // The DICOM JSON model has no group lengths, because JSON does not need them.
    if (!/^[0-9A-Fa-f]{8}$/.test(tag) || tag.endsWith('0000')) continue;
    if (tag === PIXEL_DATA) {
      if (bulkDataUri) json[tag] = { vr: vr === 'OW' ? 'OW' : 'OB', BulkDataURI: bulkDataUri(tag) };
    } else {
      json[tag] = attributeJson(tag, vr, Value ?? [], bulkDataUri);
    }
  }
  return json;
}

function attributeJson(
  tag: string,
  vr: string,
  values: unknown[],
  bulkDataUri: ((tag: string) => string) | null,
): JsonAttribute {
  if (vr === 'SQ') {
    const items = values.filter(isItem).map((item) => itemJson(item, null));
    return items.length === 0 ? { vr } : { vr, Value: items };
  }
  if (BINARY.has(vr)) {
    const bytes = bytesOf(values);
    if (bytes.length > LONGEST_INLINE_BYTES && bulkDataUri) {
      return { vr, BulkDataURI: bulkDataUri(tag) };
    }
    return bytes.length === 0 ? { vr } : { vr, InlineBinary: bytes.toString('base64') };
  }
  const Value = values.map((value) => valueJson(vr, value));
  const isEmpty = Value.every((value) => value === null);
  return isEmpty ? { vr } : { vr, Value };
}

const isItem = (value: unknown): value is TagDataset => typeof value === 'object' && value !== null;

/** Concatenates a binary value, which dcmjs returns as one or more buffers. */
export function bytesOf(values: readonly unknown[] | undefined): Buffer {
  return Buffer.concat(
    (values ?? []).flatMap((value) => {
      if (value instanceof ArrayBuffer) return [Buffer.from(value)];
      return ArrayBuffer.isView(value)
        ? [Buffer.from(value.buffer, value.byteOffset, value.byteLength)]
        : [];
    }),
  );
}

/** Value representations with a number as their JSON value (PS3.18 table F.2.3-1). */
const NUMBERS = new Set(['DS', 'FD', 'FL', 'IS', 'SL', 'SS', 'UL', 'US', 'SV', 'UV']);

/** Converts one value. An empty value among several becomes null (PS3.18 F.2.5). */
function valueJson(vr: string, value: unknown): unknown {
  if (value === null || value === undefined || value === '') return null;
  if (vr === 'PN') return nameJson(value);
  if (NUMBERS.has(vr)) {
    if (typeof value === 'bigint') return value.toString();
    const number = Number(value);
    return Number.isFinite(number) ? number : String(value);
  }
  if (vr === 'AT' && typeof value === 'number') {
    return value.toString(16).toUpperCase().padStart(8, '0');
  }
  return String(value);
}

function nameJson(value: unknown): Record<string, string> | null {
  const [alphabetic, ideographic, phonetic] =
    typeof value === 'string' ? value.split('=') : GROUPS.map((group) => groupOf(value, group));
  const groups = { Alphabetic: alphabetic, Ideographic: ideographic, Phonetic: phonetic };
  const present = Object.entries(groups).filter(([, text]) => text);
  return present.length > 0 ? (Object.fromEntries(present) as Record<string, string>) : null;
}

const GROUPS = ['Alphabetic', 'Ideographic', 'Phonetic'] as const;
const groupOf = (value: unknown, group: string): string =>
  isItem(value) ? String((value as Record<string, unknown>)[group] ?? '') : '';

/** Returns a JSON attribute for text values, as in a query response. */
export function jsonAttribute(vr: string, values: readonly string[]): JsonAttribute {
  return attributeJson('', vr, [...values], null);
}
