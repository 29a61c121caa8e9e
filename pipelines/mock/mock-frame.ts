import sharp from 'sharp';
import type { Mark } from '../artifacts/drawing.ts';
import { rectangle } from '../artifacts/drawing.ts';
import { toSvg } from '../artifacts/drawing-png.ts';
import type { Frame, RgbImage } from '../contract/study.ts';
import { MOCK, stamped } from './watermark.ts';

export const FRAME = { width: 800, height: 600 } as const;

/** A frame that shows the shape of a sector and says that it is no image. */
async function picture(): Promise<Buffer> {
  const sector: Mark = {
    kind: 'area',
    points: [
      { x: 340, y: 20 },
      { x: 460, y: 20 },
      { x: 780, y: 560 },
      { x: 20, y: 560 },
    ],
    colour: '#3a3f45',
  };
  const drawing = {
    ...FRAME,
    marks: [rectangle({ x: 0, y: 0 }, FRAME.width, FRAME.height, '#000000'), sector],
  };
  return stamped(
    await sharp(Buffer.from(toSvg(drawing)))
      .png()
      .toBuffer(),
  );
}

let drawn: Promise<RgbImage> | null = null;

/** Drawn once per process: it never changes. */
function pixels(): Promise<RgbImage> {
  drawn ??= picture()
    .then((png) => sharp(png).removeAlpha().raw().toBuffer())
    .then((data) => ({ ...FRAME, data }));
  return drawn;
}

/** One frame of a mock clip; it has no anatomy, so that nothing can be measured on it. */
export function mockFrame(index: number): Frame {
  return {
    index,
    time: index,
    gray: () => Promise.reject(new Error(`the ${MOCK} frame is for showing only`)),
    rgb: pixels,
  };
}
