import PDFDocument from 'pdfkit';
import type { Paper } from '../../../config/schema.ts';
import type { PdfDocument } from '../drawing-pdf.ts';
import { fontFile } from '../font.ts';
import { DRAFT_NOTICE } from '../statement.ts';

/** In points. */
const SHEETS = {
  a4: { size: 'A4', width: 595.28, height: 841.89 },
  letter: { size: 'LETTER', width: 612, height: 792 },
} as const satisfies Record<Paper, object>;

export const MARGIN = 48;
/** Of what is printed; on wider paper it stands in the middle. */
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
  /** Where the room for blocks ends. */
  bottom: number;
}

/** An empty document with the fonts embedded. `created` stands in its properties. */
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

export interface TextStyle {
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

/** Puts patient, draft notice and page number on every page, and ends the document. */
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
