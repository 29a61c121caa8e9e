import type { CartCode } from '../../contract/cart.ts';
import { asUid } from '../uid.ts';
import { current } from './equivalents.ts';
import type { ReportItem, SequenceName, TextName } from './report-data-set.ts';

export interface ReferencedImage {
  sopClassUid: string;
  sopInstanceUid: string;
  frame: number | null;
}

/** A node of the content tree of a report, as far as its values need it (PS3.3 C.17.3). */
export interface ReportNode {
  relationship: string;
  valueType: string;
  name: CartCode | null;
  /** Of a CODE. */
  code: CartCode | null;
  /** Of a NUM that has a value; the unit as the cart wrote it. */
  quantity: { value: number; unit: string } | null;
  /** Of a short TEXT; '' for every other. */
  text: string;
  /** Of an IMAGE. */
  image: ReferencedImage | null;
  nodes: readonly ReportNode[];
}

const textOf = (item: ReportItem | undefined, name: TextName) => item?.texts.get(name) ?? '';
const firstOf = (item: ReportItem, name: SequenceName) => item.items.get(name)?.[0];

function codeOf(item: ReportItem | undefined): CartCode | null {
  const code = textOf(item, 'CodeValue') || textOf(item, 'LongCodeValue');
  const scheme = textOf(item, 'CodingSchemeDesignator');
  if (code === '' || scheme === '') return null;
  return current({ scheme, code, meaning: textOf(item, 'CodeMeaning') });
}

/** Floating Point Value where it is there, for its precision (PS3.3 C.18.1). */
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
  const sopInstanceUid = asUid(textOf(reference, 'ReferencedSOPInstanceUID'));
  if (!sopInstanceUid) return null;
  const frame = Number(textOf(reference, 'ReferencedFrameNumber'));
  return {
    sopClassUid: textOf(reference, 'ReferencedSOPClassUID'),
    sopInstanceUid,
    // A reference to several frames belongs to no single one.
    frame: Number.isInteger(frame) && frame > 0 ? frame : null,
  };
}

/** The content tree below an item of a report. */
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

/** All nodes of a tree, depth first, the root first. */
export function* nodesOf(node: ReportNode): Generator<ReportNode> {
  yield node;
  for (const child of node.nodes) yield* nodesOf(child);
}
