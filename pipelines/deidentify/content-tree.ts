import dcmjs, { type TagDataset } from 'dcmjs';
import { UnreadableInput } from '../contract/study.ts';
import { itemsOfElement } from '../dicom/data-set.ts';
import { type Cleaning, cleanAttributes, REMOVED, textsOf } from './attributes.ts';

/**
 * Clean Structured Content (PS3.15 E.3.4). The containers, codes, measured values, coordinates and
 * image references in a report's content tree are kept. Their UIDs are replaced, and their dates
 * are treated as in the rest of the object. Texts and person names are removed, together with all
 * items below them, except for the label of a fetus and the name of a person observer, which is
 * replaced by a dummy.
 */

const { nameMap } = dcmjs.data.DicomMetaDictionary;
const tag = (keyword: string) => (nameMap[keyword]?.tag ?? '').replace(/[(),]/g, '');
const VALUE_TYPE = tag('ValueType');
const CONCEPT_NAME = tag('ConceptNameCodeSequence');
const CODE_VALUE = tag('CodeValue');
const SCHEME = tag('CodingSchemeDesignator');
const TEXT_VALUE = tag('TextValue');
const PERSON_NAME = tag('PersonName');
const BY_REFERENCE = tag('ReferencedContentItemIdentifier');
const CONTENT = tag('ContentSequence');

const KEPT: ReadonlySet<string> = new Set(
  'CONTAINER CODE NUM IMAGE COMPOSITE WAVEFORM SCOORD TCOORD UIDREF'.split(' '),
);
const DATED: Readonly<Record<string, string>> = {
  DATE: tag('Date'),
  TIME: tag('Time'),
  DATETIME: tag('DateTime'),
};

/**
 * The only text that a measurement needs: the fetus to which it belongs (TID 5000). A longer label
 * may contain anything.
 */
const FETUS_ID = 'LN:11951-1';
const SHORT_LABEL = /^[A-Za-z0-9]{1,2}$/;

/**
 * Name of an observer. An observer who is a person must have one (PS3.16 TID 1002 row 2, TID 1003
 * row 1), and the copy still says that a person observed.
 */
const OBSERVER_NAME = 'DCM:121008';

/**
 * What Retain Patient Characteristics covers: age, sex, height, weight and body mass index of the
 * patient (TID 1007, TID 3602), smoking and pregnancy.
 */
const CHARACTERISTICS: ReadonlySet<string> = new Set([
  'DCM:121032',
  'DCM:121033',
  'LN:8302-2',
  'LN:3137-7',
  'LN:3141-9',
  'LN:29463-7',
  'SCT:50373000',
  'SCT:27113001',
  'LN:39156-5',
  'SCT:60621009',
  'SRT:F-01860',
  'SCT:365981007',
  'DCM:111532',
  'LN:11449-6',
]);
/** Birth date of the subject. It is removed like (0010,0030), even if other dates are kept. */
const BIRTH_DATE: ReadonlySet<string> = new Set(['DCM:121031', 'LN:21112-8']);

const one = (item: TagDataset, at: string): string => {
  const element = item[at];
  return element ? textsOf(element).join(' ').trim() : '';
};

function conceptOf(item: TagDataset): string {
  const [name] = item[CONCEPT_NAME] ? itemsOfElement(item[CONCEPT_NAME]) : [];
  return name ? `${one(name, SCHEME)}:${one(name, CODE_VALUE)}` : '';
}

/**
 * Returns a function that selects the items to keep from a content sequence of this report.
 *
 * @throws UnreadableInput if items refer to each other by position, because removing items changes
 * the positions.
 */
export function contentCleaner(report: TagDataset): Cleaning['content'] {
  const fetuses = fetusLabels(report);
  return (items, cleaning) =>
    items.flatMap((item) => {
      if (item[BY_REFERENCE]) {
        throw new UnreadableInput('its items refer to each other by their position');
      }
      return cleanItem(item, cleaning, fetuses);
    });
}

/**
 * Maps each fetus label in a report to its label in the copy. The labels are unchanged if all of
 * them are short. Otherwise they are replaced by numbers, so that twins can still be distinguished.
 */
function fetusLabels(report: TagDataset): ReadonlyMap<string, string> {
  const labels = [...new Set(labelsIn(report))];
  const short = labels.every((label) => SHORT_LABEL.test(label));
  return new Map(labels.map((label, index) => [label, short ? label : String(index + 1)]));
}

function labelsIn(item: TagDataset): string[] {
  const label = isFetusId(item) ? one(item, TEXT_VALUE) : '';
  const below = item[CONTENT] ? itemsOfElement(item[CONTENT]) : [];
  return [...(label === '' ? [] : [label]), ...below.flatMap(labelsIn)];
}

const isFetusId = (item: TagDataset): boolean =>
  one(item, VALUE_TYPE) === 'TEXT' && conceptOf(item) === FETUS_ID;

function cleanItem(
  item: TagDataset,
  cleaning: Cleaning,
  fetuses: ReadonlyMap<string, string>,
): TagDataset[] {
  const type = one(item, VALUE_TYPE);
  const concept = conceptOf(item);
  if (BIRTH_DATE.has(concept)) return [];
  if (CHARACTERISTICS.has(concept) && !cleaning.patientCharacteristics) return [];
  const clean = cleanAttributes(item, cleaning);
  if (clean[CONTENT] && clean[CONTENT].Value?.length === 0) delete clean[CONTENT];
  if (KEPT.has(type)) return [clean];
  const fetus = isFetusId(item) ? fetuses.get(one(item, TEXT_VALUE)) : undefined;
  if (fetus !== undefined) return [{ ...clean, [TEXT_VALUE]: { vr: 'UT', Value: [fetus] } }];
  if (type === 'PNAME' && concept === OBSERVER_NAME) {
    return [{ ...clean, [PERSON_NAME]: { vr: 'PN', Value: [{ Alphabetic: REMOVED }] } }];
  }
  const dated = DATED[type];
  return dated !== undefined && clean[dated] ? [clean] : [];
}
