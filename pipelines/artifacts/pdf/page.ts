import PDFDocument from 'pdfkit';
import type { Paper } from '../../../config/schema.ts';
import { DRAFT_NOTICE } from '../../result/render/statement.ts';
import { typeset } from '../../result/render/value-text.ts';
import { font, type PdfDocument, printable } from '../drawing/draw.ts';

/** Paper sizes in points. */
const SHEETS = {
  a4: { size: 'A4', width: 595.28, height: 841.89 },
  letter: { size: 'LETTER', width: 612, height: 792 },
} as const satisfies Record<Paper, object>;

export const MARGIN = 48;
/** Width of the printed area. On wider paper, the area is centred. */
export const WIDTH = SHEETS.a4.width - 2 * MARGIN;
const HEAD = 62;
const FOOT = 58;
/** Text size of the lines at the top and the bottom of each page. */
export const PAGE_HEAD_SIZE = 8;
/** Width kept free for the page number. */
const PAGE_NUMBER = 80;

export const INK = '#1f2933';
export const MUTED = '#616e7c';
export const ALERT = '#b3261e';
const RULE = '#cbd2d9';

type Structure = ReturnType<PdfDocument['struct']>;

/** A page that is filled from top to bottom; `y` is the position of the next block. */
export interface Page {
  doc: PdfDocument;
  /** Element of the structure tree (ISO 32000-1, 14.7) to which the next block is added. */
  parent: Structure;
  y: number;
  /** The y position at which the space for blocks ends. */
  bottom: number;
}

/** Opens an empty document with embedded fonts; `created` is stored in its properties. */
export function openDocument(title: string, created: Date, paper: Paper = 'a4'): Page {
  const { size, width, height } = SHEETS[paper];
  const doc = new PDFDocument({
    size,
    autoFirstPage: false,
    margin: 0,
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    // Tagging lets screen readers and archives find the reading order and the alternative texts.
    tagged: true,
    pdfVersion: '1.7',
    info: { Title: title, Creator: 'Sonogate', CreationDate: created, ModDate: created },
  });
  // PDFKit also accepts a font opened by fontkit, although its types do not allow it.
  for (const weight of ['regular', 'bold'] as const)
    doc.registerFont(weight, font(weight) as unknown as PDFKit.Mixins.PDFFontSource);
  doc.on('pageAdded', () => doc.translate((width - SHEETS.a4.width) / 2, 0));
  doc.addPage();
  const parent = doc.struct('Document');
  doc.addStructure(parent);
  return { doc, parent, y: HEAD, bottom: height - FOOT };
}

type Tag = 'H1' | 'H2' | 'P' | 'Sect' | 'Table' | 'TR' | 'TH' | 'TD' | 'Figure' | 'Caption';

/**
 * Draws something as one element of the structure tree; `alt` is the alternative text of a picture.
 */
export function tagged(page: Page, tag: Tag, draw: () => void, alt?: string): void {
  page.parent.add(page.doc.struct(tag, alt === undefined ? {} : { alt }, [draw]));
}

/** Puts everything that `fill` adds to the page under one element of the structure tree. */
export function within(page: Page, tag: Tag, fill: () => void): void {
  const outer = page.parent;
  const element = page.doc.struct(tag);
  outer.add(element);
  page.parent = element;
  fill();
  element.end();
  page.parent = outer;
}

/** Draws something that is not content, such as a rule or a page header. */
function artifact({ doc }: Page, draw: () => void): void {
  doc.markContent('Artifact', { type: 'Layout' });
  draw();
  doc.endMarkedContent();
}

/** Begins a new page, even if there is space left on this one. */
export function newPage(page: Page): void {
  page.doc.addPage();
  page.y = HEAD;
}

/** Begins a new page if less than `height` is left, so that a block is not split. */
export function makeRoom(page: Page, height: number): void {
  if (page.y + height > page.bottom) newPage(page);
}

interface TextStyle {
  size?: number;
  colour?: string;
  bold?: boolean;
  x?: number;
  width?: number;
  tag?: Tag;
  /** Prints the text unchanged, because it is a name, an order number or the like. */
  verbatim?: boolean;
}

export function textHeight(page: Page, text: string, style: TextStyle): number {
  const { size = 9, bold = false, width = WIDTH } = style;
  return page.doc
    .font(bold ? 'bold' : 'regular')
    .fontSize(size)
    .heightOfString(typeset(text), { width });
}

const PARAGRAPH_SPACE = 3;

/** Returns the height of a paragraph with the space below it. */
export const paragraphHeight = (page: Page, text: string): number =>
  textHeight(page, text, {}) + PARAGRAPH_SPACE;

/**
 * Draws a paragraph at `page.y` without splitting it, and moves `page.y` below it. Text from a
 * header or typed by a person may contain letters that the font lacks; these are replaced.
 */
export function paragraph(page: Page, given: string, style: TextStyle = {}): void {
  const text = style.verbatim ? printable(given) : typeset(printable(given));
  const { size = 9, colour = INK, bold = false, x = MARGIN, width = WIDTH, tag = 'P' } = style;
  const height = textHeight(page, text, style);
  makeRoom(page, height);
  tagged(page, tag, () => {
    page.doc
      .font(bold ? 'bold' : 'regular')
      .fontSize(size)
      .fillColor(colour);
    page.doc.text(text, x, page.y, { width });
  });
  page.y += height + PARAGRAPH_SPACE;
}

/** Height of a heading and its rule, in points. */
export const HEADING_HEIGHT = 26;

/**
 * Draws a heading and adds its bookmark. Begins a new page if less than `following` points would be
 * left below the heading.
 */
export function heading(page: Page, text: string, following: number): void {
  makeRoom(page, 24 + following);
  page.y += 8;
  page.doc.outline.addItem(text);
  tagged(page, 'H2', () => {
    page.doc.font('bold').fontSize(10.5).fillColor(INK).text(text, MARGIN, page.y);
  });
  page.y += 15;
  rule(page);
}

export function rule(page: Page, x = MARGIN, width = WIDTH): void {
  const { doc, y } = page;
  artifact(page, () => {
    doc.moveTo(x, y - 1).lineTo(x + width, y - 1);
    doc.lineWidth(0.5).strokeColor(RULE).stroke();
  });
}

/** Text on every page: the patient and the notices. */
interface Furniture {
  who: string;
  /** A second notice, printed with the draft notice. */
  notice: string | null;
  /**
   * Text stating who signed the result; null for a draft, which is marked as such on every page.
   */
  signed: string | null;
}

function furnish(doc: PdfDocument, of: Furniture, number: number, count: number): void {
  const { who, notice, signed } = of;
  doc.markContent('Artifact', { type: 'Pagination' });
  doc.font('bold').fontSize(PAGE_HEAD_SIZE).fillColor(ALERT);
  if (notice) doc.text(`${notice}.`, MARGIN, 17, { lineBreak: false });
  if (signed === null) {
    const draft = `${DRAFT_NOTICE} - not for diagnosis until verified`.toUpperCase();
    doc.text(draft, MARGIN, 28, { lineBreak: false });
  } else {
    doc
      .fillColor(MUTED)
      .text(`${signed}.`, MARGIN, 28, { width: WIDTH, height: 10, ellipsis: true });
  }
  doc.font('regular').fillColor(MUTED);
  doc.text(printable(who), MARGIN, 39, { width: WIDTH, height: 10, ellipsis: true });
  doc.moveTo(MARGIN, 52).lineTo(MARGIN + WIDTH, 52);
  doc.lineWidth(0.5).strokeColor(RULE).stroke();
  const foot = doc.page.height - 38;
  doc.font('regular').fontSize(PAGE_HEAD_SIZE).fillColor(MUTED);
  doc.text(
    signed === null
      ? `${DRAFT_NOTICE}. Computer-assisted; to be verified by the reporting clinician.`
      : `${signed}.`,
    MARGIN,
    foot,
    // The text of several signatures is longer than the line and would run into the page number.
    { width: WIDTH - PAGE_NUMBER, height: 10, ellipsis: true },
  );
  doc.text(`Page ${number} of ${count}`, MARGIN, foot, { width: WIDTH, align: 'right' });
  doc.endMarkedContent();
}

/** Adds the patient, the notices and the page number to every page, then ends the document. */
export function closeDocument({ doc, parent }: Page, of: Furniture): Promise<Buffer> {
  parent.end();
  const { start, count } = doc.bufferedPageRange();
  for (let index = start; index < start + count; index += 1) {
    doc.switchToPage(index);
    furnish(doc, of, index - start + 1, count);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    doc.on('data', (chunk: Buffer) => chunks.push(chunk));
    doc.on('end', () => resolve(Buffer.concat(chunks)));
    doc.on('error', reject);
    doc.end();
  });
}

export interface Column {
  title: string;
  width: number;
  align?: 'left' | 'right';
}

export interface Cell {
  text: string;
  colour?: string;
  bold?: boolean;
}

const SIZE = 8.5;
const PADDING = 3;
const GAP = 6;

function rowHeight(page: Page, columns: readonly Column[], cells: readonly Cell[]): number {
  const heights = columns.map(({ width }, index) => {
    const { text = '', bold } = cells[index] ?? {};
    return textHeight(page, text, { size: SIZE, bold, width: width - GAP });
  });
  return Math.max(...heights) + 2 * PADDING;
}

interface RowStyle {
  x?: number;
  size?: number;
  padding?: number;
  head?: boolean;
}

/** Draws one row at `page.y` and tags it as a table row. */
export function drawRow(
  page: Page,
  columns: readonly Column[],
  cells: readonly Cell[],
  { x: left = MARGIN, size = SIZE, padding = PADDING, head = false }: RowStyle = {},
): void {
  within(page, 'TR', () => {
    let x = left;
    columns.forEach(({ width, align = 'left' }, index) => {
      const { text = '', colour = INK, bold = false } = cells[index] ?? {};
      const at = x;
      tagged(page, head ? 'TH' : 'TD', () => {
        page.doc
          .font(bold ? 'bold' : 'regular')
          .fontSize(size)
          .fillColor(colour);
        page.doc.text(typeset(text), at, page.y + padding, { width: width - GAP, align });
      });
      x += width;
    });
  });
}

const headOf = (columns: readonly Column[]): Cell[] =>
  columns.map(({ title }) => ({ text: title, colour: MUTED, bold: true }));

/**
 * Returns the height needed to start a table: the header, the title of the first group and the
 * first row.
 */
export function startHeight(
  page: Page,
  columns: readonly Column[],
  first: readonly Cell[] = [],
): number {
  const rows = rowHeight(page, columns, headOf(columns)) + rowHeight(page, columns, first);
  return rows + titleHeight(page, columns);
}

const titleHeight = (page: Page, columns: readonly Column[]) =>
  rowHeight(page, columns, [{ text: 'X', bold: true }]);

/** Rows of a table under one title. An empty title is not drawn. */
interface RowGroup {
  title: string;
  rows: readonly (readonly Cell[])[];
}

/** Draws a table that has a single group without a title. */
export function table(
  page: Page,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): void {
  groupedTable(page, columns, [{ title: '', rows }]);
}

/**
 * Draws a table. Rows are never split across pages, the header is repeated on each page, and the
 * title of a group is on the same page as the first row of the group.
 */
export function groupedTable(
  page: Page,
  columns: readonly Column[],
  groups: readonly RowGroup[],
): void {
  const head = headOf(columns);
  const drawHead = () => {
    const height = rowHeight(page, columns, head);
    drawRow(page, columns, head, { head: true });
    page.y += height;
    rule(page);
  };
  const first = groups.find(({ rows }) => rows.length > 0)?.rows[0];
  if (!first) return;
  makeRoom(page, startHeight(page, columns, first));
  within(page, 'Table', () => {
    drawHead();
    const reserve = (height: number) => {
      const before = page.y;
      makeRoom(page, height);
      if (page.y < before) drawHead();
    };
    for (const { title, rows } of groups) {
      for (const [index, cells] of rows.entries()) {
        const height = rowHeight(page, columns, cells);
        const titled = index === 0 && title !== '';
        reserve(height + (titled ? titleHeight(page, columns) : 0));
        if (titled) {
          const [wide] = columns;
          const span = columns.reduce((sum, { width }) => sum + width, 0);
          if (wide) drawRow(page, [{ ...wide, width: span }], [{ text: title, bold: true }]);
          page.y += titleHeight(page, columns);
        }
        drawRow(page, columns, cells);
        page.y += height;
        rule(page);
      }
    }
  });
  page.y += 4;
}
