import type { Context } from 'koa';
import type { Sharp } from 'sharp';
import { SonogateError } from '../../../platform/errors/catalogue.ts';

/** The part of an image to show, and the size to which it is scaled (PS3.18 8.3.5.1.3). */
interface Viewport {
  width: number;
  height: number;
  /** Left, top, width and height of the part; a missing value means the whole image. */
  region: { left: number; top: number; width: number | null; height: number | null };
}

type VoiFunction = 'linear' | 'linear-exact' | 'sigmoid';

/** Window on stored values (PS3.18 8.3.5.1.4). */
interface Window {
  center: number;
  width: number;
  voiFunction: VoiFunction;
}

/** How a frame is rendered (PS3.18 8.3.5.1). */
export interface Rendering {
  quality: number;
  viewport: Viewport | null;
  window: Window | null;
}

const DEFAULT_QUALITY = 90;
const LONGEST_SIDE = 4096;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/**
 * Reads the query parameters of a rendered frame. Other parameters are ignored: nothing is
 * written on the image, and it has no color profile.
 * @throws SonogateError `invalid_query`
 */
export function renderingOf({ query }: Pick<Context, 'query'>): Rendering {
  const quality = query.quality === undefined ? DEFAULT_QUALITY : Number(query.quality);
  if (!(Number.isInteger(quality) && quality >= 1 && quality <= 100)) {
    throw new SonogateError('invalid_query', 'quality is not a number from 1 to 100.');
  }
  return { quality, viewport: viewportOf(query.viewport), window: windowOf(query.window) };
}

function viewportOf(given: string | string[] | undefined): Viewport | null {
  if (given === undefined) return null;
  const parts = String(given).split(',');
  const [width = Number.NaN, height = Number.NaN, ...part] = parts.map((text, index) =>
    text === '' && index > 1 ? null : NUMBER.test(text) ? Number(text) : Number.NaN,
  );
  const sides = [width, height].every(
    (side) => side !== null && Number.isInteger(side) && side >= 1 && side <= LONGEST_SIDE,
  );
  const isPart = part.every((value) => value === null || Number.isFinite(value));
  if (![2, 6].includes(parts.length) || !sides || !isPart || width === null || height === null) {
    throw new SonogateError(
      'invalid_query',
      `viewport is not "vw,vh" or "vw,vh,sx,sy,sw,sh" with a size of at most ${LONGEST_SIDE}.`,
    );
  }
  const [left, top, regionWidth = null, regionHeight = null] = part;
  const region = { left: left ?? 0, top: top ?? 0, width: regionWidth, height: regionHeight };
  return { width, height, region };
}

function windowOf(given: string | string[] | undefined): Window | null {
  if (given === undefined) return null;
  const [center = '', width = '', name = '', more] = String(given).split(',');
  const voiFunction = (['linear', 'linear-exact', 'sigmoid'] as const).find((one) => one === name);
  const least = voiFunction === 'linear' ? 1 : Number.MIN_VALUE;
  const isWindow = NUMBER.test(center) && NUMBER.test(width) && Number(width) >= least;
  if (!voiFunction || !isWindow || more !== undefined) {
    const wanted = '"center,width,function" with linear, linear-exact or sigmoid';
    throw new SonogateError('invalid_query', `window is not ${wanted}.`);
  }
  return { center: Number(center), width: Number(width), voiFunction };
}

/** Applies the VOI LUT function to a stored value (PS3.3 C.11.2.1.2, C.11.2.1.3), from 0 to 1. */
function voi(stored: number, { center, width, voiFunction }: Window): number {
  if (voiFunction === 'sigmoid') return 1 / (1 + Math.exp((-4 * (stored - center)) / width));
  const exact = voiFunction === 'linear-exact';
  const [middle, span] = exact ? [center, width] : [center - 0.5, width - 1];
  // A window of width 1 is a threshold.
  if (stored <= middle - span / 2) return 0;
  if (stored > middle + span / 2) return 1;
  return (stored - middle) / span + 0.5;
}

/**
 * Applies a window to grey values from 0 to 255.
 * @param bitsStored of the values in the object, to which the window refers.
 * @param inverted for MONOCHROME1, of which 0 is shown white.
 */
export function windowed(
  gray: Buffer,
  window: Window,
  { bitsStored, inverted }: { bitsStored: number; inverted: boolean },
): Buffer {
  const top = 2 ** bitsStored - 1;
  const levels = Uint8Array.from({ length: 256 }, (_, level) => {
    const shown = (level / 255) * top;
    const value = voi(inverted ? top - shown : shown, window);
    return Math.round(255 * (inverted ? 1 - value : value));
  });
  return Buffer.from(gray.map((level) => levels[level] ?? 0));
}

/**
 * Cuts out the part of an image that a viewport shows, and scales it to fit without distortion. A
 * negative width or height of the part mirrors it.
 * @throws SonogateError `invalid_query` if no part of the image is in the viewport.
 */
export async function shownIn(
  image: Sharp,
  { width, height, region }: Viewport,
  size: { width: number; height: number },
): Promise<Sharp> {
  const { left, top } = region;
  const [wide, high] = [region.width ?? size.width, region.height ?? size.height];
  const from = { left: Math.max(0, Math.round(left)), top: Math.max(0, Math.round(top)) };
  const part = {
    ...from,
    width: Math.min(size.width, Math.round(left + Math.abs(wide))) - from.left,
    height: Math.min(size.height, Math.round(top + Math.abs(high))) - from.top,
  };
  if (part.width < 1 || part.height < 1) {
    throw new SonogateError('invalid_query', 'No part of the image is in the viewport.');
  }
  const cut = image
    .extract(part)
    .flop(wide < 0)
    .flip(high < 0);
  const { data, info } = await cut.raw().toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const { default: sharp } = await import('sharp');
  return sharp(data, { raw }).resize(width, height, { fit: 'inside' });
}
