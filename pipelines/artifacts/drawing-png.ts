import sharp from 'sharp';
import type { Drawing, Label, Mark } from './drawing.ts';
import { textPath, textWidth } from './font.ts';

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

/** A drawing as SVG in which text is outlines, so that no font is needed to show it. */
export function toSvg({ width, height, marks }: Drawing, scale = 1): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width * scale}" height="${height * scale}" viewBox="0 0 ${width} ${height}">${marks.map(element).join('')}</svg>`;
}

/** A drawing on white as PNG, `scale` pixels to its unit. */
export function toPng(drawing: Drawing, scale: number): Promise<Buffer> {
  return sharp(Buffer.from(toSvg(drawing, scale)))
    .flatten({ background: '#ffffff' })
    .png()
    .toBuffer();
}
