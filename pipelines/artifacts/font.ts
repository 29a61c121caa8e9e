import { type Font, openSync } from 'fontkit';

/**
 * DejaVu Sans (fonts/LICENSE): Latin, Greek and Cyrillic names are shown as they are, and a machine
 * without fonts draws the same pictures.
 */
const FILES = {
  regular: new URL('./fonts/DejaVuSans.ttf', import.meta.url).pathname,
  bold: new URL('./fonts/DejaVuSans-Bold.ttf', import.meta.url).pathname,
} as const;

export type FontWeight = keyof typeof FILES;

export const fontFile = (weight: FontWeight): string => FILES[weight];

const opened = new Map<FontWeight, Font>();

function font(weight: FontWeight): Font {
  const known = opened.get(weight);
  if (known) return known;
  const loaded = openSync(FILES[weight]);
  opened.set(weight, loaded);
  return loaded;
}

/** Width of a line of text in the unit of `size`. */
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

/** The outlines of a line of text as SVG path data, its baseline starting at (x, y). */
export function textPath(
  text: string,
  x: number,
  y: number,
  size: number,
  weight: FontWeight = 'regular',
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
        (axis % 2 === 0 ? left + value * scale : y - value * scale).toFixed(2),
      );
      parts.push(`${LETTERS[command] ?? ''}${place.join(' ')}`);
    }
    advance += position?.xAdvance ?? 0;
  });
  return parts.join('');
}
