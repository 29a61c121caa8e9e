import dcmjs, { type TagDataset, type TagElement } from 'dcmjs';
import { itemsOfElement } from '../dicom/data-set.ts';
import { isUid } from '../dicom/uid.ts';
import { ACTIONS, type Action } from './actions.ts';
import { cleanDescriptor, wordsOf } from './descriptors.ts';
import { type Pseudonyms, shiftedDate } from './pseudonyms.ts';

/** This file applies the action table to a data set and to the items of its sequences. */

const { dictionary, nameMap } = dcmjs.data.DicomMetaDictionary;

/** Settings for de-identifying one object, and the person names found in it. */
export interface Cleaning {
  dates: 'shifted' | 'removed';
  patientCharacteristics: boolean;
  pseudonyms: Pseudonyms;
  /** Words of all person names in the object, in lower case. */
  names: ReadonlySet<string>;
  content: (items: readonly TagDataset[], cleaning: Cleaning) => TagDataset[];
}

interface Entry {
  keyword: string;
  vr: string;
}

const tagOf = (keyword: string): string =>
  (nameMap[keyword]?.tag ?? '').replace(/[(),]/g, '').toUpperCase();

/** Tag and PS3.6 entry of each attribute in the table. */
const LISTED: ReadonlyMap<string, Entry> = new Map(
  [...ACTIONS.keys()].map((keyword): [string, Entry] => {
    const found = nameMap[keyword] && dictionary[nameMap[keyword].tag];
    if (!found) throw new Error(`PS3.6 has no attribute ${keyword}`);
    return [tagOf(keyword), { keyword, vr: found.vr }];
  }),
);

/** Returns the words of all names (PN) in a data set and its items, in lower case. */
export function namesIn(dataSet: TagDataset): Set<string> {
  const names = Object.values(dataSet).flatMap((element) => {
    if (element.vr === 'SQ') return itemsOfElement(element).flatMap((item) => [...namesIn(item)]);
    return element.vr === 'PN' ? wordsOf(JSON.stringify(element.Value ?? [])) : [];
  });
  // `Alphabetic`, `Ideographic` and `Phonetic` are the JSON keys for the parts of a name and not
  // words of it.
  return new Set(names.filter((word) => !/^(alphabetic|ideographic|phonetic)$/.test(word)));
}

/** Returns the part of a data set that the table allows, cleaned. */
export function cleanAttributes(dataSet: TagDataset, cleaning: Cleaning): TagDataset {
  const clean: TagDataset = {};
  for (const [tag, element] of Object.entries(dataSet)) {
    const entry = LISTED.get(tag.toUpperCase());
    // An element with a VR other than the one in PS3.6 may contain anything.
    if (!entry || element.vr !== entry.vr) continue;
    const action = ACTIONS.get(entry.keyword);
    const value = action && cleanValue(action, element, dataSet, cleaning);
    if (value) clean[tag] = { vr: entry.vr, Value: value };
  }
  return clean;
}

function cleanValue(
  action: Action,
  element: TagElement,
  owner: TagDataset,
  cleaning: Cleaning,
): unknown[] | null {
  const { vr } = element;
  const { pseudonyms } = cleaning;
  switch (action) {
    case 'keep':
      return vr === 'SQ' ? cleanItems(element, cleaning) : checkedValue(element);
    case 'uid':
      return textsOf(element).filter(isUid).map(pseudonyms.uid);
    case 'empty':
      return [];
    case 'date':
      return cleanDates(element, cleaning);
    case 'date-or-empty':
      return cleanDates(element, cleaning) ?? [];
    case 'date-or-dummy':
      return cleanDates(element, cleaning) ?? [vr === 'TM' ? '000000' : '19000101'];
    case 'characteristic':
      return cleaning.patientCharacteristics ? checkedValue(element) : null;
    case 'characteristic-or-empty':
      return (cleaning.patientCharacteristics ? checkedValue(element) : null) ?? [];
    case 'descriptor': {
      const text = cleanDescriptor(textsOf(element).join(' '), cleaning.names);
      return text === '' ? null : [shortened(text, vr === 'SH' ? 16 : 64)];
    }
    case 'code-value':
      return isNamed(owner, cleaning.names) ? [REMOVED] : checkedValue(element);
    case 'code-meaning':
      return [cleanMeaning(textsOf(element).join(' '), owner, cleaning.names)];
    case 'pseudonym':
      return vr === 'PN' ? [{ Alphabetic: pseudonyms.patient }] : [pseudonyms.patient];
    case 'dummy':
      return [REMOVED];
    case 'content':
      return cleaning.content(itemsOfElement(element), cleaning);
  }
}

function shortened(text: string, length: number): string {
  return text.length <= length
    ? text
    : text
        .slice(0, length + 1)
        .replace(/ [^ ]*$/, '')
        .slice(0, length);
}

function cleanItems(element: TagElement, cleaning: Cleaning): TagDataset[] {
  return itemsOfElement(element).map((item) => cleanAttributes(item, cleaning));
}

export function textsOf({ Value }: TagElement): string[] {
  const values: unknown[] = Value ?? [];
  return values.filter((one) => typeof one === 'string' || typeof one === 'number').map(String);
}

function cleanDates(element: TagElement, { dates, pseudonyms }: Cleaning): string[] | null {
  if (dates === 'removed') return null;
  const values = textsOf(element).filter((value) => value !== '');
  if (values.length === 0) return null;
  if (element.vr === 'TM') return values.every((one) => TIME.test(one)) ? values : null;
  const moved = values.map((value) => shiftedDate(value, pseudonyms.days));
  return moved.every((value) => value !== null) ? moved : null;
}

const TIME = /^\d{2}:?(\d{2}:?(\d{2}(\.\d{1,6})?)?)?\s*$/;

/** Permitted form of a value, by VR. An attribute with a value in another form is removed. */
const FORMS: Readonly<Record<string, RegExp>> = {
  CS: /^[A-Z0-9_ ]{0,16}$/,
  DS: /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/,
  IS: /^\s*[+-]?\d{1,11}\s*$/,
  AS: /^\d{3}[DWMY]$/,
  UI: /^1\.2\.840\.10008(\.\d+)+$/,
  LO: /^[^\p{Cc}]{0,64}$/u,
  SH: /^[^\p{Cc}]{0,16}$/u,
  UC: /^[^\p{Cc}]{0,256}$/u,
};
const NUMBERS: ReadonlySet<string> = new Set('US SS UL SL FL FD AT'.split(' '));

function checkedValue(element: TagElement): unknown[] | null {
  const { vr, Value = [] } = element;
  if (NUMBERS.has(vr)) return Value.every((one) => typeof one === 'number') ? Value : null;
  const form = FORMS[vr];
  if (!form) return null;
  // Decimal strings are checked in raw form, because dcmjs returns numbers.
  const raw = vr === 'DS' || vr === 'IS' ? rawTexts(element) : textsOf(element);
  return raw.every((one) => one === '' || form.test(one)) ? raw.map((one) => one.trim()) : null;
}

function rawTexts(element: TagElement): string[] {
  const { _rawValue: raw } = element;
  const values: unknown[] = Array.isArray(raw) ? raw : [raw];
  const texts = values.filter((one) => typeof one === 'string').flatMap((one) => one.split('\\'));
  return texts.length > 0 ? texts : textsOf(element);
}

/** Coding schemes with meanings published by a standard or a terminology (PS3.16 section 8). */
const PUBLISHED: ReadonlySet<string> = new Set(
  'DCM SCT SRT SNM3 LN UCUM UMLS FMA RADLEX BI ACR ISO3166_1 LOINC'.split(' '),
);
const SCHEME = tagOf('CodingSchemeDesignator');
const VALUE = tagOf('CodeValue');
const CODES = [VALUE, tagOf('LongCodeValue')];

export const REMOVED = 'REMOVED';

const own = (owner: TagDataset, tag: string) =>
  owner[tag] ? textsOf(owner[tag]).join(' ').trim() : '';

function isNamed(code: TagDataset, names: ReadonlySet<string>): boolean {
  if (PUBLISHED.has(own(code, SCHEME))) return false;
  return CODES.some((tag) => wordsOf(own(code, tag)).some((word) => names.has(word)));
}

/**
 * Cleans the meaning of a code, because hospitals themselves write the meanings of private codes.
 */
function cleanMeaning(meaning: string, owner: TagDataset, names: ReadonlySet<string>): string {
  if (PUBLISHED.has(own(owner, SCHEME))) return meaning;
  const code = isNamed(owner, names) ? '' : own(owner, VALUE);
  return shortened(cleanDescriptor(meaning, names), 64) || code || REMOVED;
}
