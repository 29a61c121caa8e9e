import { type Font, type GlyphRun, openSync } from 'fontkit';
import type PDFDocument from 'pdfkit';
import sharp from 'sharp';
import type { Drawing, Label, Mark } from './drawing.ts';

/**
 * DejaVu Sans (fonts/LICENSE), which has the Latin, Greek and Cyrillic letters that occur in names.
 * The font is bundled, so a host without fonts draws the same pictures.
 */
const FILES = {
  regular: new URL('./fonts/DejaVuSans.ttf', import.meta.url).pathname,
  bold: new URL('./fonts/DejaVuSans-Bold.ttf', import.meta.url).pathname,
} as const;

type FontWeight = keyof typeof FILES;

const opened = new Map<FontWeight, Font>();

/** Returns the font. It stays open, because reading its tables takes longer than writing a page. */
export function font(weight: FontWeight): Font {
  const known = opened.get(weight);
  if (known) return known;
  const loaded = openSync(FILES[weight]);
  rememberLayouts(loaded);
  opened.set(weight, loaded);
  return loaded;
}

/** Number of texts of each font whose layout is remembered. A report has some 500 different words. */
const MOST_REMEMBERED = 4096;

/**
 * Makes a font lay out each text only once, because reports repeat their words and laying out a
 * word can take a millisecond. PDFKit scales the positions of a run in place, so each caller gets a
 * copy of them.
 */
function rememberLayouts(face: Font): void {
  const layOut = face.layout.bind(face);
  const known = new Map<string, GlyphRun>();
  face.layout = (text) => {
    const run = known.get(text) ?? layOut(text);
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(text, run);
    const positions = run.positions.map((position) => ({ ...position }));
    return Object.create(run, { positions: { value: positions } });
  };
}

/** PDFKit would draw words in these letters in the wrong order, and without spaces. */
const RIGHT_TO_LEFT = /\p{Script=Arabic}|\p{Script=Hebrew}|\p{Script=Syriac}|\p{Script=Thaana}/u;

/** Returns true for a space, and for a character that the font has and that is drawn left to right. */
function isDrawn(character: string): boolean {
  if (/\s/.test(character)) return true;
  const isKnown = font('regular').hasGlyphForCodePoint(character.codePointAt(0) ?? 0);
  return isKnown && !RIGHT_TO_LEFT.test(character);
}

/**
 * Returns true if a text can be drawn completely. Otherwise, parts of it would be empty boxes or
 * misplaced.
 */
export const isPrintable = (text: string): boolean => [...text].every(isDrawn);

/** Returns a text with a remark in place of each part that cannot be drawn. */
export function printable(text: string): string {
  if (isPrintable(text)) return text;
  const marked = [...text].map((character) => (isDrawn(character) ? character : '\uFFFC')).join('');
  return marked.replaceAll(
    /\uFFFC(?:[\s\p{P}]*\uFFFC)*/gu,
    '[letters that this report cannot print]',
  );
}

/** Returns the width of a line of text, in the unit of `size`. */
export function textWidth(text: string, size: number, weight: FontWeight = 'regular'): number {
  const face = font(weight);
  return (face.layout(text).advanceWidth * size) / face.unitsPerEm;
}

const LETTERS: Readonly<Record<string, string>> = {
  moveTo: 'M',
  lineTo: 'L',
  quadraticCurveTo: 'Q',
  bezierCurveTo: 'C',
  closePath: 'Z',
};

/**
 * Rounds a coordinate. `toFixed` takes several times as long, and a picture has thousands of
 * coordinates.
 */
const hundredths = (value: number): number => Math.round(value * 100) / 100;

/** Returns the glyph outlines of a line of text as SVG path data. The baseline starts at (x, y). */
export function textPath(
  text: string,
  x: number,
  y: number,
  size: number,
  weight: FontWeight,
): string {
  const face = font(weight);
  const scale = size / face.unitsPerEm;
  const run = face.layout(text);
  const parts: string[] = [];
  let advance = 0;
  run.glyphs.forEach((glyph, index) => {
    const position = run.positions[index];
    const left = x + (advance + (position?.xOffset ?? 0)) * scale;
    for (const { command, args } of glyph.path.commands) {
      const place = args.map((value, axis) =>
        hundredths(axis % 2 === 0 ? left + value * scale : y - value * scale),
      );
      parts.push(`${LETTERS[command] ?? ''}${place.join(' ')}`);
    }
    advance += position?.xAdvance ?? 0;
  });
  return parts.join('');
}

const coordinates = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' ');

const SHIFT = { start: 0, middle: 0.5, end: 1 } as const;

function labelElement({ text, at, size, colour, bold, anchor = 'start' }: Label): string {
  const weight = bold ? 'bold' : 'regular';
  const x = at.x - SHIFT[anchor] * textWidth(text, size, weight);
  return `<path d="${textPath(text, x, at.y, size, weight)}" fill="${colour}"/>`;
}

function element(mark: Mark): string {
  switch (mark.kind) {
    case 'path': {
      const shape = mark.closed ? 'polygon' : 'polyline';
      const dash = mark.dash ? ` stroke-dasharray="${mark.dash.join(' ')}"` : '';
      return `<${shape} points="${coordinates(mark.points)}" fill="none" stroke="${mark.colour}" stroke-width="${mark.width}" stroke-linejoin="round" stroke-linecap="round"${dash}/>`;
    }
    case 'area':
      return `<polygon points="${coordinates(mark.points)}" fill="${mark.colour}" fill-opacity="${mark.opacity ?? 1}"/>`;
    case 'label':
      return labelElement(mark);
  }
}

/** Returns a drawing as SVG. Text is converted to outlines, so no font is needed to show it. */
export function toSvg({ width, height, marks }: Drawing, scale = 1): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width * scale}" height="${height * scale}" viewBox="0 0 ${width} ${height}">${marks.map(element).join('')}</svg>`;
}

/** Returns a drawing on a white background as PNG, with `scale` pixels per unit of the drawing. */
export function toPng(drawing: Drawing, scale: number): Promise<Buffer> {
  return sharp(Buffer.from(toSvg(drawing, scale)))
    .flatten({ background: '#ffffff' })
    .png()
    .toBuffer();
}

export type PdfDocument = InstanceType<typeof PDFDocument>;

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
 * Draws on a PDF page, with the top left corner at (x, y) and `scale` points per unit of the
 * drawing. The document must have the fonts `regular` and `bold` registered.
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
