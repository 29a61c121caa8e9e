import type PDFDocument from 'pdfkit';
import type { Drawing, Label, Mark } from './drawing.ts';
import { textWidth } from './font.ts';

/** A document being written by pdfkit. */
export type PdfDocument = InstanceType<typeof PDFDocument>;

const SHIFT = { start: 0, middle: 0.5, end: 1 } as const;

function drawLabel(doc: PdfDocument, label: Label): void {
  const { text, at, size, colour, bold, anchor = 'start' } = label;
  const weight = bold ? 'bold' : 'regular';
  const x = at.x - SHIFT[anchor] * textWidth(text, size, weight);
  doc.font(weight).fontSize(size).fillColor(colour);
  doc.text(text, x, at.y, { lineBreak: false, baseline: 'alphabetic' });
}

function outline(doc: PdfDocument, mark: Exclude<Mark, Label>): void {
  const [first, ...rest] = mark.points;
  if (!first) return;
  doc.moveTo(first.x, first.y);
  for (const point of rest) doc.lineTo(point.x, point.y);
}

function drawMark(doc: PdfDocument, mark: Mark): void {
  switch (mark.kind) {
    case 'label':
      drawLabel(doc, mark);
      return;
    case 'area':
      outline(doc, mark);
      doc
        .closePath()
        .fillColor(mark.colour, mark.opacity ?? 1)
        .fill();
      doc.fillOpacity(1);
      return;
    case 'path':
      outline(doc, mark);
      if (mark.closed) doc.closePath();
      doc.lineJoin('round').lineCap('round').lineWidth(mark.width).strokeColor(mark.colour);
      if (mark.dash) doc.dash(mark.dash[0], { space: mark.dash[1] });
      doc.stroke();
      if (mark.dash) doc.undash();
  }
}

/**
 * Draws with the top left corner at (x, y), `scale` points to the drawing's unit. The document has
 * the fonts `regular` and `bold` registered.
 */
export function drawOnPdf(
  doc: PdfDocument,
  drawing: Drawing,
  x: number,
  y: number,
  scale: number,
): void {
  doc.save().translate(x, y).scale(scale);
  for (const mark of drawing.marks) drawMark(doc, mark);
  doc.restore();
}
