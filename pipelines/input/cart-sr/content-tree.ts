import type { CartCode } from '../../contract/study.ts';
import { UnreadableInput } from '../../contract/study.ts';
import {
  type Encoding,
  ITEM,
  ITEM_END,
  SEQUENCE_END,
  UNDEFINED_LENGTH,
} from '../../dicom/elements.ts';
import { uidOrNull } from '../../dicom/uid.ts';
import { byTag } from '../dicom/attributes.ts';
import { type DataSet, type Element, elementAt, openDataSet, passValue } from '../dicom/header.ts';
import { currentCode } from '../dicom/snomed-rt.ts';
import type { ByteSource } from '../study-file.ts';

/**
 * Limits for a structured report. The report of a long examination has a few thousand content
 * items.
 */
export const REPORT_LIMITS = {
  bytes: 32 * 1024 * 1024,
  items: 200_000,
  /** Maximum depth of nested sequences. A TID 5200 report is about fifteen levels deep. */
  depth: 48,
  /**
   * Length in bytes to which a text is cut, unless it is a code. Text of more than twice this length
   * is prose and is not read.
   */
  textBytes: 64,
} as const;

/**
 * The texts that are read from a structured report: its codes, numbers, short texts and references
 * (PS3.3 C.17.3), its study date, which is used only to calculate an interval, and its
 * manufacturer, which shows whether this gateway wrote it. As with images, everything else is
 * skipped, so that no name and no prose becomes a value.
 */
const TEXTS = byTag<TextName>({
  '00080016': 'SOPClassUID',
  '00080018': 'SOPInstanceUID',
  '00080020': 'StudyDate',
  '00080030': 'StudyTime',
  '00080070': 'Manufacturer',
  '00080100': 'CodeValue',
  '00080102': 'CodingSchemeDesignator',
  '00080104': 'CodeMeaning',
  '00080119': 'LongCodeValue',
  '00081150': 'ReferencedSOPClassUID',
  '00081155': 'ReferencedSOPInstanceUID',
  '00081160': 'ReferencedFrameNumber',
  '0040A010': 'RelationshipType',
  '0040A040': 'ValueType',
  '0040A160': 'TextValue',
  '0040A30A': 'NumericValue',
});

const SEQUENCES = byTag<SequenceName>({
  '004008EA': 'MeasurementUnitsCodeSequence',
  '00081199': 'ReferencedSOPSequence',
  '0040A043': 'ConceptNameCodeSequence',
  '0040A168': 'ConceptCodeSequence',
  '0040A300': 'MeasuredValueSequence',
  '0040A730': 'ContentSequence',
});

const FLOATING_POINT_VALUE = 0x0040a161;

type TextName =
  | 'SOPClassUID'
  | 'SOPInstanceUID'
  | 'StudyDate'
  | 'StudyTime'
  | 'Manufacturer'
  | 'CodeValue'
  | 'CodingSchemeDesignator'
  | 'CodeMeaning'
  | 'LongCodeValue'
  | 'ReferencedSOPClassUID'
  | 'ReferencedSOPInstanceUID'
  | 'ReferencedFrameNumber'
  | 'RelationshipType'
  | 'ValueType'
  | 'TextValue'
  | 'NumericValue';

type SequenceName =
  | 'MeasurementUnitsCodeSequence'
  | 'ReferencedSOPSequence'
  | 'ConceptNameCodeSequence'
  | 'ConceptCodeSequence'
  | 'MeasuredValueSequence'
  | 'ContentSequence';

/** The allow-listed part of a data set or of a sequence item. */
interface ReportItem {
  texts: Map<TextName, string>;
  floatingPointValue: number | null;
  items: Map<SequenceName, ReportItem[]>;
}

interface Reading {
  dataSet: DataSet;
  items: number;
}

/** Texts that are never cut, because a code that is cut is a different code. */
const WHOLE: ReadonlySet<TextName> = new Set(['CodeValue', 'LongCodeValue']);

/** Returns printable text, or '' if the value is too long to be a code or an identifier. */
function textAt({ walk }: DataSet, element: Element, name: TextName): string {
  if (element.length > REPORT_LIMITS.textBytes * 2) return '';
  const bytes = walk.source.read(element.valueOffset, element.length);
  const text = bytes
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '')
    .trim();
  return WHOLE.has(name) ? text : text.slice(0, REPORT_LIMITS.textBytes);
}

function floatAt({ walk }: DataSet, element: Element, encoding: Encoding) {
  if (element.length !== 8) return null;
  const bytes = walk.source.read(element.valueOffset, 8);
  const value = encoding.bigEndian ? bytes.readDoubleBE(0) : bytes.readDoubleLE(0);
  return Number.isFinite(value) ? value : null;
}

function readItems(
  reading: Reading,
  sequence: Element,
  encoding: Encoding,
  depth: number,
): { items: ReportItem[]; next: number } {
  if (depth > REPORT_LIMITS.depth)
    throw new UnreadableInput('the structured report is nested too deeply');
  const { walk } = reading.dataSet;
  // A UN of undefined length is encoded in implicit little endian (PS3.5 6.2.2 note 2).
  const inner = sequence.vr === 'UN' ? { explicit: false, bigEndian: false } : encoding;
  const end = sequence.length === UNDEFINED_LENGTH ? null : sequence.valueOffset + sequence.length;
  const items: ReportItem[] = [];
  let offset = sequence.valueOffset;
  while (end === null || offset < end) {
    const head = elementAt(walk, offset, inner);
    if (head.tag === SEQUENCE_END) return { items, next: end ?? head.valueOffset };
    if (head.tag !== ITEM) throw new UnreadableInput('the structured report is damaged');
    const itemEnd = head.length === UNDEFINED_LENGTH ? null : head.valueOffset + head.length;
    const { item, next } = readItem(reading, head.valueOffset, itemEnd, inner, depth);
    items.push(item);
    offset = next;
  }
  return { items, next: end };
}

function readItem(
  reading: Reading,
  start: number,
  end: number | null,
  encoding: Encoding,
  depth: number,
): { item: ReportItem; next: number } {
  const { dataSet } = reading;
  const { walk } = dataSet;
  reading.items += 1;
  if (reading.items > REPORT_LIMITS.items)
    throw new UnreadableInput('the structured report is too long');
  // The element limit applies to each item. The number of items has a separate limit.
  walk.elements = 0;
  const item: ReportItem = { texts: new Map(), floatingPointValue: null, items: new Map() };
  let offset = start;
  while (end === null || offset < end) {
    const element = elementAt(walk, offset, encoding);
    if (element.tag === ITEM_END) return { item, next: end ?? element.valueOffset };
    const text = TEXTS.get(element.tag);
    const sequence = SEQUENCES.get(element.tag);
    if (sequence) {
      const read = readItems(reading, element, encoding, depth + 1);
      item.items.set(sequence, read.items);
      offset = read.next;
      continue;
    }
    if (text) item.texts.set(text, textAt(dataSet, element, text));
    if (element.tag === FLOATING_POINT_VALUE) {
      item.floatingPointValue = floatAt(dataSet, element, encoding);
    }
    offset = passValue(walk, element, encoding, 0);
  }
  return { item, next: end };
}

/**
 * Returns the allow-listed part of a structured report. Null for any other SOP class, whose content
 * is not read.
 *
 * @throws UnreadableInput if a report cannot be parsed.
 */
export function readReportDataSet(
  source: ByteSource,
  isReport: (sopClassUid: string) => boolean,
): ReportItem | null {
  const dataSet = openDataSet(source);
  const sopClassUid = sopClassOf(dataSet);
  if (!isReport(sopClassUid)) return null;
  if (dataSet.walk.source.size > REPORT_LIMITS.bytes) {
    throw new UnreadableInput('the structured report is larger than the limit');
  }
  const { start, encoding, walk } = dataSet;
  const { item } = readItem({ dataSet, items: 0 }, start, walk.source.size, encoding, 0);
  return item;
}

/**
 * Returns the SOP class of a data set. The search ends after group 0008, because elements are in
 * tag order (PS3.5 7.1).
 */
function sopClassOf(dataSet: DataSet): string {
  const { walk, encoding } = dataSet;
  let offset = dataSet.start;
  while (offset < walk.source.size) {
    const element = elementAt(walk, offset, encoding);
    const name = TEXTS.get(element.tag);
    if (name === 'SOPClassUID') return textAt(dataSet, element, name);
    if (element.tag > 0x0008ffff) return '';
    offset = passValue(walk, element, encoding, 0);
  }
  return '';
}

interface ReferencedImage {
  sopClassUid: string;
  sopInstanceUid: string;
  frame: number | null;
}

/**
 * A node of a report's content tree, with the data needed to interpret its values (PS3.3 C.17.3).
 */
export interface ReportNode {
  relationship: string;
  valueType: string;
  name: CartCode | null;
  /** Code of a CODE item; null for other items. */
  code: CartCode | null;
  /** Value of a NUM item, in the unit written by the cart. Null if the item has no value. */
  quantity: { value: number; unit: string } | null;
  /** Text of a short TEXT item; '' for all other items. */
  text: string;
  /** Image of an IMAGE item; null for other items. */
  image: ReferencedImage | null;
  nodes: readonly ReportNode[];
}

const textOf = (item: ReportItem | undefined, name: TextName) => item?.texts.get(name) ?? '';
const firstOf = (item: ReportItem, name: SequenceName) => item.items.get(name)?.[0];

function codeOf(item: ReportItem | undefined): CartCode | null {
  const code = textOf(item, 'CodeValue') || textOf(item, 'LongCodeValue');
  const scheme = textOf(item, 'CodingSchemeDesignator');
  if (code === '' || scheme === '') return null;
  return currentCode({ scheme, code, meaning: textOf(item, 'CodeMeaning') });
}

/** Floating Point Value is preferred, because it is more precise (PS3.3 C.18.1). */
function quantityOf(item: ReportItem): ReportNode['quantity'] {
  const measured = firstOf(item, 'MeasuredValueSequence');
  if (!measured) return null;
  const decimal = textOf(measured, 'NumericValue');
  const value = measured.floatingPointValue ?? (decimal === '' ? Number.NaN : Number(decimal));
  if (!Number.isFinite(value)) return null;
  const [unit] = measured.items.get('MeasurementUnitsCodeSequence') ?? [];
  return { value, unit: textOf(unit, 'CodeValue') || '1' };
}

function imageOf(item: ReportItem): ReferencedImage | null {
  const reference = firstOf(item, 'ReferencedSOPSequence');
  const sopInstanceUid = uidOrNull(textOf(reference, 'ReferencedSOPInstanceUID'));
  if (!sopInstanceUid) return null;
  const frame = Number(textOf(reference, 'ReferencedFrameNumber'));
  return {
    sopClassUid: textOf(reference, 'ReferencedSOPClassUID'),
    sopInstanceUid,
    // Null if the reference lists several frames.
    frame: Number.isInteger(frame) && frame > 0 ? frame : null,
  };
}

/** Returns the content tree below a report item. */
export function toNode(item: ReportItem): ReportNode {
  const valueType = textOf(item, 'ValueType');
  return {
    relationship: textOf(item, 'RelationshipType'),
    valueType,
    name: codeOf(firstOf(item, 'ConceptNameCodeSequence')),
    code: valueType === 'CODE' ? codeOf(firstOf(item, 'ConceptCodeSequence')) : null,
    quantity: valueType === 'NUM' ? quantityOf(item) : null,
    text: valueType === 'TEXT' ? textOf(item, 'TextValue') : '',
    image: valueType === 'IMAGE' ? imageOf(item) : null,
    nodes: (item.items.get('ContentSequence') ?? []).map(toNode),
  };
}

/** Yields all nodes of a tree, depth first, starting with the root. */
export function* nodesOf(node: ReportNode): Generator<ReportNode> {
  yield node;
  for (const child of node.nodes) yield* nodesOf(child);
}
