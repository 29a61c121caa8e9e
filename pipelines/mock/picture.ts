import sharp from 'sharp';
import { toSvg } from '../artifacts/drawing/draw.ts';
import { type Mark, rectangle } from '../artifacts/drawing/drawing.ts';
import type { GrayImage, Point } from '../contract/image.ts';
import { type Clip, type Frame, type RgbImage, UNDESCRIBED } from '../contract/study.ts';
import { stamped } from './watermark.ts';

/**
 * Frame size in pixels. It is small, because every picture of a mock run is searched for text,
 * drawn and encoded.
 */
const FRAME = { width: 400, height: 300 } as const;

export const MM_PER_PIXEL = 0.6;

export const CENTRE: Point = { x: FRAME.width / 2, y: FRAME.height * 0.55 };

export const AREA = { minX: 0, minY: 0, maxX: FRAME.width - 1, maxY: FRAME.height - 1 };

/** Draws a sector-shaped frame with a text stating that it is not an image. */
async function picture(): Promise<Buffer> {
  const sector: Mark = {
    kind: 'area',
    points: [
      { x: 170, y: 10 },
      { x: 230, y: 10 },
      { x: 390, y: 280 },
      { x: 10, y: 280 },
    ],
    colour: '#3a3f45',
  };
  const marks = [rectangle({ x: 0, y: 0 }, FRAME.width, FRAME.height, '#000000'), sector];
  const drawing = Buffer.from(toSvg({ ...FRAME, marks }));
  return stamped(await sharp(drawing).png().toBuffer());
}

let drawn: Promise<Buffer> | null = null;

function drawnOnce(): Promise<Buffer> {
  drawn ??= picture();
  return drawn;
}

const inColour = async (): Promise<RgbImage> => ({
  ...FRAME,
  data: await sharp(await drawnOnce())
    .removeAlpha()
    .raw()
    .toBuffer(),
});

/** Returns the picture in grey. Previews search it for text that must not be shown. */
const inGray = async (): Promise<GrayImage> => ({
  ...FRAME,
  data: await sharp(await drawnOnce())
    .removeAlpha()
    .grayscale()
    .raw()
    .toBuffer(),
});

/** Returns one frame of a mock clip. It shows no anatomy, so nothing can be measured on it. */
function mockFrame(index: number, time: number): Frame {
  return { index, time, gray: inGray, rgb: inColour };
}

/** Returns a clip with this many frames, `seconds` apart. */
export function mockClip(file: string, frames: number, seconds: number): Clip {
  return {
    file,
    ...UNDESCRIBED,
    timing: frames > 1 ? 'frame-time' : 'none',
    ultrasoundAreas: [AREA],
    burnedInAnnotation: false,
    ...FRAME,
    frames: Array.from({ length: frames }, (_, index) => mockFrame(index, index * seconds)),
    regions: [{ area: AREA, scale: { x: MM_PER_PIXEL, y: MM_PER_PIXEL }, source: 'region' }],
    calibrationRefused: null,
    mode: '2d',
  };
}
