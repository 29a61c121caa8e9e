import type { ByteSource } from '../byte-source.ts';
import {
  type DataSet,
  type Element,
  type Encoding,
  elementAt,
  openDataSet,
  passValue,
} from '../dicom-header.ts';
import { Refusal } from '../refusal.ts';

/** Bounds on a structured report; one of a long examination has some thousand content items. */
export const REPORT_LIMITS = {
  bytes: 32 * 1024 * 1024,
  items: 200_000,
  /** Sequences inside sequences; a report of TID 5200 reaches about fifteen. */
  depth: 48,
  /** A longer text is prose and is not read. */
  textBytes: 64,
} as const;

/**
 * What is read of a structured report: its codes, numbers and references (PS3.3 C.17.3), and its
 * study date, which only becomes an interval. As in the image reader everything else is walked over,
 * so that no name or prose becomes a value.
 */
const TEXTS: Readonly<Record<string, TextName>> = {
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
};

const SEQUENCES: Readonly<Record<string, SequenceName>> = {
  '004008EA': 'MeasurementUnitsCodeSequence',
  '00081199': 'ReferencedSOPSequence',
  '0040A043': 'ConceptNameCodeSequence',
  '0040A168': 'ConceptCodeSequence',
  '0040A300': 'MeasuredValueSequence',
  '0040A730': 'ContentSequence',
};

const FLOATING_POINT_VALUE = '0040A161';
const ITEM = 'FFFEE000';
const ITEM_END = 'FFFEE00D';
const SEQUENCE_END = 'FFFEE0DD';
const UNDEFINED_LENGTH = 0xffffffff;

export type TextName =
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

export type SequenceName =
  | 'MeasurementUnitsCodeSequence'
  | 'ReferencedSOPSequence'
  | 'ConceptNameCodeSequence'
  | 'ConceptCodeSequence'
  | 'MeasuredValueSequence'
  | 'ContentSequence';

/** The allow-listed part of a data set or of an item of a sequence. */
export interface ReportItem {
  texts: Map<TextName, string>;
  floatingPointValue: number | null;
  items: Map<SequenceName, ReportItem[]>;
}

interface Reading {
  dataSet: DataSet;
  items: number;
}

/** Printable text; '' for one that is longer than a code or an identifier. */
async function textAt({ walk }: DataSet, element: Element): Promise<string> {
  if (element.length > REPORT_LIMITS.textBytes * 2) return '';
  const bytes = await walk.source.read(element.valueOffset, element.length);
  return bytes
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '')
    .trim()
    .slice(0, REPORT_LIMITS.textBytes);
}

async function floatAt({ walk }: DataSet, element: Element, encoding: Encoding) {
  if (element.length !== 8) return null;
  const bytes = await walk.source.read(element.valueOffset, 8);
  const value = encoding.bigEndian ? bytes.readDoubleBE(0) : bytes.readDoubleLE(0);
  return Number.isFinite(value) ? value : null;
}

async function readItems(
  reading: Reading,
  sequence: Element,
  encoding: Encoding,
  depth: number,
): Promise<{ items: ReportItem[]; next: number }> {
  if (depth > REPORT_LIMITS.depth) throw new Refusal('the structured report is nested too deeply');
  const { walk } = reading.dataSet;
  // PS3.5 6.2.2 note 2: a UN of undefined length holds implicit little endian.
  const inner = sequence.vr === 'UN' ? { explicit: false, bigEndian: false } : encoding;
  const end = sequence.length === UNDEFINED_LENGTH ? null : sequence.valueOffset + sequence.length;
  const items: ReportItem[] = [];
  let offset = sequence.valueOffset;
  while (end === null || offset < end) {
    const head = await elementAt(walk, offset, inner);
    if (head.tag === SEQUENCE_END) return { items, next: end ?? head.valueOffset };
    if (head.tag !== ITEM) throw new Refusal('the structured report is damaged');
    const itemEnd = head.length === UNDEFINED_LENGTH ? null : head.valueOffset + head.length;
    const { item, next } = await readItem(reading, head.valueOffset, itemEnd, inner, depth);
    items.push(item);
    offset = next;
  }
  return { items, next: end };
}

async function readItem(
  reading: Reading,
  start: number,
  end: number | null,
  encoding: Encoding,
  depth: number,
): Promise<{ item: ReportItem; next: number }> {
  const { dataSet } = reading;
  const { walk } = dataSet;
  reading.items += 1;
  if (reading.items > REPORT_LIMITS.items) throw new Refusal('the structured report is too long');
  // The limit of elements is one of each item: the number of items has its own.
  walk.elements = 0;
  const item: ReportItem = { texts: new Map(), floatingPointValue: null, items: new Map() };
  let offset = start;
  while (end === null || offset < end) {
    const element = await elementAt(walk, offset, encoding);
    if (element.tag === ITEM_END) return { item, next: end ?? element.valueOffset };
    const text = TEXTS[element.tag];
    const sequence = SEQUENCES[element.tag];
    if (sequence) {
      const read = await readItems(reading, element, encoding, depth + 1);
      item.items.set(sequence, read.items);
      offset = read.next;
      continue;
    }
    if (text) item.texts.set(text, await textAt(dataSet, element));
    if (element.tag === FLOATING_POINT_VALUE) {
      item.floatingPointValue = await floatAt(dataSet, element, encoding);
    }
    offset = await passValue(walk, element, encoding, 0);
  }
  return { item, next: end };
}

/**
 * The allow-listed part of a structured report; null for an object of another SOP class, whose
 * content is not walked. Throws a Refusal where a report cannot be followed.
 */
export async function readReportDataSet(
  source: ByteSource,
  isReport: (sopClassUid: string) => boolean,
): Promise<ReportItem | null> {
  const dataSet = await openDataSet(source);
  const sopClassUid = await sopClassOf(dataSet);
  if (!isReport(sopClassUid)) return null;
  if (dataSet.walk.source.size > REPORT_LIMITS.bytes) {
    throw new Refusal('the structured report is over the limit of size');
  }
  const { start, encoding, walk } = dataSet;
  const { item } = await readItem({ dataSet, items: 0 }, start, walk.source.size, encoding, 0);
  return item;
}

/** Elements stand in the order of their tags: after group 0008 no SOP class follows (PS3.5 7.1). */
async function sopClassOf(dataSet: DataSet): Promise<string> {
  const { walk, encoding } = dataSet;
  let offset = dataSet.start;
  while (offset < walk.source.size) {
    const element = await elementAt(walk, offset, encoding);
    if (TEXTS[element.tag] === 'SOPClassUID') return textAt(dataSet, element);
    if (element.tag > '0008FFFF') return '';
    offset = await passValue(walk, element, encoding, 0);
  }
  return '';
}
