import PDFDocument from 'pdfkit';
import type { Paper } from '../../../config/schema.ts';
import { DRAFT_NOTICE } from '../../result/render/statement.ts';
import { fontFile, type PdfDocument } from '../drawing/draw.ts';

/** Paper sizes in points. */
const SHEETS = {
  a4: { size: 'A4', width: 595.28, height: 841.89 },
  letter: { size: 'LETTER', width: 612, height: 792 },
} as const satisfies Record<Paper, object>;

export const MARGIN = 48;
/** Width of the printed area; on wider paper it is centred. */
export const WIDTH = SHEETS.a4.width - 2 * MARGIN;
const HEAD = 62;
const FOOT = 58;

export const INK = '#1f2933';
export const MUTED = '#616e7c';
export const ALERT = '#b3261e';
const RULE = '#cbd2d9';

/** A page that is being filled from top to bottom; `y` is where the next block begins. */
export interface Page {
  doc: PdfDocument;
  y: number;
  /** Where the space for blocks ends. */
  bottom: number;
}

/** An empty document with the fonts embedded; `created` is stored in its properties. */
export function openDocument(title: string, created: Date, paper: Paper = 'a4'): Page {
  const { size, width, height } = SHEETS[paper];
  const doc = new PDFDocument({
    size,
    autoFirstPage: false,
    margin: 0,
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    info: { Title: title, Creator: 'Sonogate', CreationDate: created, ModDate: created },
  });
  doc.registerFont('regular', fontFile('regular'));
  doc.registerFont('bold', fontFile('bold'));
  doc.on('pageAdded', () => doc.translate((width - SHEETS.a4.width) / 2, 0));
  doc.addPage();
  return { doc, y: HEAD, bottom: height - FOOT };
}

/** Begins a new page when less than `height` is left, so that no block is cut. */
export function makeRoom(page: Page, height: number): void {
  if (page.y + height <= page.bottom) return;
  page.doc.addPage();
  page.y = HEAD;
}

interface TextStyle {
  size?: number;
  colour?: string;
  bold?: boolean;
  x?: number;
  width?: number;
}

export function textHeight(page: Page, text: string, style: TextStyle = {}): number {
  const { size = 9, bold = false, width = WIDTH } = style;
  return page.doc
    .font(bold ? 'bold' : 'regular')
    .fontSize(size)
    .heightOfString(text, { width });
}

/** A paragraph at `page.y`, kept whole; moves `page.y` below it. */
export function paragraph(page: Page, text: string, style: TextStyle = {}): void {
  const { size = 9, colour = INK, bold = false, x = MARGIN, width = WIDTH } = style;
  const height = textHeight(page, text, style);
  makeRoom(page, height);
  page.doc
    .font(bold ? 'bold' : 'regular')
    .fontSize(size)
    .fillColor(colour);
  page.doc.text(text, x, page.y, { width });
  page.y += height + 3;
}

/** A heading with at least `following` points below it on the same page. */
export function heading(page: Page, text: string, following = 60): void {
  makeRoom(page, 26 + following);
  page.y += 10;
  page.doc.font('bold').fontSize(11).fillColor(INK).text(text, MARGIN, page.y);
  page.y += 16;
  rule(page);
}

export function rule({ doc, y }: Page): void {
  doc.moveTo(MARGIN, y - 1).lineTo(MARGIN + WIDTH, y - 1);
  doc.lineWidth(0.5).strokeColor(RULE).stroke();
}

function furnish(doc: PdfDocument, who: string, number: number, count: number): void {
  doc.font('bold').fontSize(8).fillColor(ALERT);
  doc.text(`${DRAFT_NOTICE} - not for diagnosis until verified`.toUpperCase(), MARGIN, 28, {
    lineBreak: false,
  });
  doc.font('regular').fillColor(MUTED);
  const half = WIDTH / 2;
  doc.text(who, MARGIN + half, 28, {
    width: half,
    align: 'right',
    height: 10,
    ellipsis: true,
  });
  doc.moveTo(MARGIN, 44).lineTo(MARGIN + WIDTH, 44);
  doc.lineWidth(0.5).strokeColor(RULE).stroke();
  const foot = doc.page.height - 38;
  doc.font('regular').fontSize(8).fillColor(MUTED);
  doc.text(
    `${DRAFT_NOTICE}. Computer-assisted; to be verified by the reporting clinician.`,
    MARGIN,
    foot,
    {
      lineBreak: false,
    },
  );
  doc.text(`Page ${number} of ${count}`, MARGIN, foot, { width: WIDTH, align: 'right' });
}

/** Adds the patient, the draft notice and the page number to every page, and ends the document. */
export function closeDocument({ doc }: Page, who: string): Promise<Buffer> {
  const { start, count } = doc.bufferedPageRange();
  for (let index = start; index < start + count; index += 1) {
    doc.switchToPage(index);
    furnish(doc, who, index - start + 1, count);
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

function drawRow(page: Page, columns: readonly Column[], cells: readonly Cell[]): void {
  let x = MARGIN;
  columns.forEach(({ width, align = 'left' }, index) => {
    const { text = '', colour = INK, bold = false } = cells[index] ?? {};
    page.doc
      .font(bold ? 'bold' : 'regular')
      .fontSize(SIZE)
      .fillColor(colour);
    page.doc.text(text, x, page.y + PADDING, { width: width - GAP, align });
    x += width;
  });
}

const headOf = (columns: readonly Column[]): Cell[] =>
  columns.map(({ title }) => ({ text: title, colour: MUTED, bold: true }));

/**
 * Returns the height of the beginning of a table: its head, the title of the first group and the
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

/** Rows under a title; an empty title is not drawn. */
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
 * Draws a table. Its rows are never split over pages, its head is repeated on each page, and the
 * title of a group stays with the first row of the group.
 */
export function groupedTable(
  page: Page,
  columns: readonly Column[],
  groups: readonly RowGroup[],
): void {
  const head = headOf(columns);
  const drawHead = () => {
    const height = rowHeight(page, columns, head);
    drawRow(page, columns, head);
    page.y += height;
    rule(page);
  };
  const first = groups.find(({ rows }) => rows.length > 0)?.rows[0];
  if (!first) return;
  makeRoom(page, startHeight(page, columns, first));
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
  page.y += 4;
}
