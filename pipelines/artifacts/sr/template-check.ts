import { type Code, type ContentItem, type Graphic, walk } from './content-item.ts';
import type { SrFile } from './decode.ts';
import type { Row } from './template-rows.ts';
import { BODIES, GROUP_TEMPLATES, ROOT_TEMPLATES } from './template-rows.ts';
import { SR } from './vocabulary.ts';

/** A fault in a content tree, with its path: "Fetal Biometry > Biometry Group: …". */
interface Fault {
  path: string;
  rule: string;
}

const key = ({ scheme, code }: Code): string => `${scheme} ${code}`;
const nameOf = (item: ContentItem): string => item.name?.meaning ?? item.value.type;

const isSite = ({ name, value }: ContentItem, site: string | undefined) =>
  name?.code === SR.findingSite.code && value.type === 'CODE' && key(value.code) === site;

function matches(row: Row, item: ContentItem): boolean {
  if (row.relationship !== item.relationship || row.type !== item.value.type) return false;
  if (row.site && !item.items.some((child) => isSite(child, row.site))) return false;
  if (row.concept === null) return true;
  return item.name ? row.concept.includes(key(item.name)) : row.concept.length === 0;
}

function describe(row: Row): string {
  return `${row.relationship} ${row.type} (${row.concept?.join(' | ') ?? 'any'})`;
}

function checkValue(row: Row, item: ContentItem): string | null {
  const { value } = item;
  if (value.type === 'CODE' && row.values && !row.values.includes(key(value.code))) {
    return `value ${key(value.code)} is not among ${row.values.join(', ')}`;
  }
  if (value.type === 'NUM' && value.quantity && row.units) {
    const { unit } = value.quantity;
    if (!row.units.includes(unit.code)) return `unit ${unit.code} is not among ${row.units}`;
  }
  return null;
}

/**
 * Checks child items against the rows of a template. Each item must match a row, the items must be
 * in the order of the rows, and the number of items must be allowed by the row.
 */
function checkRows(parent: ContentItem, rows: readonly Row[], path: string): Fault[] {
  const faults: Fault[] = [];
  const counts = new Map<Row, number>();
  let last = 0;
  for (const item of parent.items) {
    const place = `${path} > ${nameOf(item)}`;
    const fitting = rows.filter((row) => matches(row, item));
    // An item may match two rows that differ only in the allowed value, such as an observer that is
    // a device or a person. The row that allows its value is used.
    const row = fitting.find((one) => checkValue(one, item) === null) ?? fitting[0];
    if (!row) {
      const form = `${item.relationship} ${item.value.type}`;
      faults.push({ path: place, rule: `no row allows ${form} here` });
      continue;
    }
    // NUM items of different rows may alternate within a section. For example, each weight is
    // followed by its centile.
    const index = rows.indexOf(row);
    if (index < last && row.type !== 'NUM' && !row.repeated) {
      faults.push({ path: place, rule: 'comes after rows that follow it in the template' });
    }
    last = Math.max(last, index);
    counts.set(row, (counts.get(row) ?? 0) + 1);
    const wrong = checkValue(row, item);
    if (wrong) faults.push({ path: place, rule: wrong });
    faults.push(...checkRows(item, rowsFor(item, row), place));
  }
  for (const row of rows) {
    const count = counts.get(row) ?? 0;
    const excused = parent.items.some(({ name }) => name && row.unless?.includes(key(name)));
    if (row.need === 'M' && count === 0 && !excused) {
      faults.push({ path, rule: `mandatory ${describe(row)} is missing` });
    }
    if (row.once && count > 1)
      faults.push({ path, rule: `${describe(row)} stands ${count} times` });
  }
  return faults;
}

function rowsFor(item: ContentItem, row: Row): readonly Row[] {
  const template = item.value.type === 'CONTAINER' ? item.value.template : null;
  return (template && GROUP_TEMPLATES[template]) || (row.rows ?? []);
}

/**
 * Checks that an ELLIPSE has four points and axes at right angles, and that regions are closed
 * (PS3.3 C.18.6.1.2).
 */
function checkGraphic({ shape, data }: Graphic, isRegion: boolean): string | null {
  if (data.length % 2 !== 0) return 'coordinates are not pairs';
  if (shape === 'ELLIPSE') {
    if (data.length !== 8) return 'an ELLIPSE has four points';
    const [ax = 0, ay = 0, bx = 0, by = 0, cx = 0, cy = 0, dx = 0, dy = 0] = data;
    const product = (bx - ax) * (dx - cx) + (by - ay) * (dy - cy);
    const lengths = Math.hypot(bx - ax, by - ay) * Math.hypot(dx - cx, dy - cy);
    if (Math.abs(product) > lengths * 1e-4) return 'the axes are not at right angles';
  }
  const closed = data[0] === data.at(-2) && data[1] === data.at(-1);
  if (shape === 'POLYLINE' && isRegion && !closed) return 'the outline of a region is not closed';
  return null;
}

function checkItem(item: ContentItem): string | null {
  const { value } = item;
  switch (value.type) {
    case 'NUM':
      if (!value.quantity) return value.qualifier ? null : 'no value and no reason';
      if (!Number.isFinite(value.quantity.value)) return 'the value is not a number';
      return value.quantity.unit.scheme === 'UCUM' ? null : 'no UCUM unit';
    case 'TEXT':
      return value.text === '' ? 'the text is empty' : null;
    case 'SCOORD':
      return checkGraphic(value.graphic, item.name?.code === '111030');
    default:
      return null;
  }
}

interface Instance {
  ReferencedSOPSequence?: unknown;
  ReferencedSOPInstanceUID?: unknown;
  ReferencedSeriesSequence?: unknown;
}

const sequence = (value: unknown): Instance[] => (Array.isArray(value) ? value : []);

/**
 * Checks that Current Requested Procedure Evidence lists exactly the images that the tree
 * references (PS3.3 C.17.2).
 */
function checkEvidence({ header, root }: SrFile): Fault[] {
  const listed = new Set(
    sequence(header.CurrentRequestedProcedureEvidenceSequence)
      .flatMap((study) => sequence(study.ReferencedSeriesSequence))
      .flatMap((series) => sequence(series.ReferencedSOPSequence))
      .map((sop) => String(sop.ReferencedSOPInstanceUID)),
  );
  const used = new Set<string>();
  for (const { value } of walk(root)) {
    if (value.type === 'IMAGE') used.add(value.image.sopInstanceUid);
  }
  const path = 'Current Requested Procedure Evidence';
  return [
    ...[...used.difference(listed)].map((uid) => ({ path, rule: `${uid} is not listed` })),
    ...[...listed.difference(used)].map((uid) => ({ path, rule: `${uid} is not referred to` })),
  ];
}

function checkBodies(root: ContentItem, template: string): Fault[] {
  const bodies = BODIES[template];
  if (!bodies) return [];
  const present = root.items.some(({ name }) => name && bodies.includes(key(name)));
  return present ? [] : [{ path: nameOf(root), rule: `none of ${bodies.join(', ')}` }];
}

/**
 * Checks an SR document of TID 1500, 2010, 5000, 5200 or 5300 against the rows of its template,
 * which neither dciodvfy nor dsrdump does.
 * @returns the faults found; empty for a conforming document.
 */
export function checkTemplate(file: SrFile): Fault[] {
  const { root } = file;
  const id = root.value.type === 'CONTAINER' ? root.value.template : null;
  const template = id === null ? undefined : ROOT_TEMPLATES[id];
  if (!id || !template) return [{ path: nameOf(root), rule: `unknown template ${id}` }];
  const title: Fault[] =
    root.name && key(root.name) === template.title
      ? []
      : [{ path: nameOf(root), rule: `the title is not ${template.title}` }];
  const items = [...walk(root)].flatMap((item) => {
    const rule = checkItem(item);
    return rule ? [{ path: nameOf(item), rule }] : [];
  });
  return [
    ...title,
    ...checkRows(root, template.rows, nameOf(root)),
    ...checkBodies(root, id),
    ...items,
    ...checkEvidence(file),
  ];
}
