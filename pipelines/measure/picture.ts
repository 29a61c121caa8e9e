import type { GrayImage, Point } from '../contract/image.ts';
import {
  type Clip,
  type Frame,
  type Rectangle,
  type RgbImage,
  UnreadableInput,
} from '../contract/study.ts';
import { burnedInText } from './burned-in-text.ts';
import { BAR_THICKNESS, detectPicture, MEASURED_MARGIN, SHOWN_MARGIN } from './picture-detector.ts';
import { clipToRectangle, rectanglePolygon, spanOfRow } from './polygon.ts';

interface Picture {
  /** Convex polygons in pixel coordinates. */
  areas: readonly (readonly Point[])[];
  /**
   * False if the picture could not be distinguished from its surroundings. `areas` is then the
   * whole frame or, if the frame may show a name, empty.
   */
  known: boolean;
}

export interface ShownPicture extends Picture {
  /** Rectangles of text inside the areas, to be blackened. */
  text: readonly Rectangle[];
}

/**
 * Regions that cover at least this share of the frame count as covering the whole screen, so they
 * do not delimit the picture.
 */
const WHOLE_SCREEN = 0.9;

/** Number of frames to analyse, spread over the first frames of the clip (about two seconds). */
const SAMPLES = 5;
const SAMPLED_FRAMES = 60;

/** Returns the image. Null for a damaged frame, which the measuring code refuses later. */
async function readable(frame: Frame | undefined): Promise<GrayImage | null> {
  try {
    return (await frame?.gray()) ?? null;
  } catch (error) {
    if (error instanceof UnreadableInput) return null;
    throw error;
  }
}

function blanked(image: GrayImage, areas: readonly Rectangle[]): GrayImage {
  const data = Uint8Array.from(image.data);
  for (const { minX, minY, maxX, maxY } of areas) {
    for (let y = minY; y <= maxY; y += 1) {
      data.fill(0, y * image.width + minX, y * image.width + maxX + 1);
    }
  }
  return { ...image, data };
}

/**
 * Finds the picture on a few frames of a clip.
 *
 * @param text areas of text, which are blackened if the picture cannot otherwise be distinguished
 * from its surroundings.
 */
async function detect(
  { frames }: Clip,
  margin: number,
  text: readonly Rectangle[] = [],
): Promise<Point[] | null> {
  const span = Math.min(frames.length, SAMPLED_FRAMES) - 1;
  const indices = new Set(
    Array.from({ length: SAMPLES }, (_, n) => Math.round((n * span) / (SAMPLES - 1))),
  );
  const images: GrayImage[] = [];
  for (const index of indices) {
    const image = await readable(frames[index]);
    if (image) images.push(image);
  }
  const found = detectPicture(images, margin);
  if (found || text.length === 0) return found;
  return detectPicture(
    images.map((image) => blanked(image, text)),
    margin,
  );
}

/**
 * Returns true if the rectangles together cover the whole screen and therefore do not delimit the
 * picture.
 */
export function coverScreen(
  areas: readonly Rectangle[],
  { width, height }: Pick<Clip, 'width' | 'height'>,
): boolean {
  const covered = new Uint8Array(width * height);
  for (const { minX, minY, maxX, maxY } of areas) {
    const [left, right] = [Math.max(0, minX), Math.min(width - 1, maxX)];
    for (let y = Math.max(0, minY); y <= Math.min(height - 1, maxY); y += 1) {
      covered.fill(1, y * width + left, y * width + right + 1);
    }
  }
  let count = 0;
  for (let at = 0; at < covered.length; at += 1) count += covered[at] ?? 0;
  return count >= WHOLE_SCREEN * covered.length;
}

const showsTrace = ({ sweeps, mode }: Clip) =>
  sweeps.length > 0 || mode === 'spectral' || mode === 'm-mode';

export function wholeFrame({ width, height }: Pick<Clip, 'width' | 'height'>): Rectangle {
  return { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 };
}

function within(detected: readonly Point[], regions: readonly Rectangle[]): Picture {
  const areas = regions.map((area) => clipToRectangle(detected, area));
  return { areas: areas.filter((area) => area.length > 2), known: true };
}

/**
 * Returns the picture of a clip for measuring: the ultrasound regions in the header. If there are
 * none, or if they cover the whole screen, it is the area that is lit and moves on a few frames.
 * This area has a wide margin, because cutting off anatomy would be worse than including a letter.
 */
async function pictureOf(clip: Clip): Promise<Picture> {
  const regions = clip.ultrasoundAreas;
  // A picture and a trace may together cover the screen. Their regions are used nevertheless,
  // because the alternative, the area that is lit and moves, would not contain the whole trace.
  const whole = showsTrace(clip)
    ? regions.some((area) => coverScreen([area], clip))
    : coverScreen(regions, clip);
  const bounded = regions.length > 0 && !whole;
  if (bounded) return { areas: regions.map(rectanglePolygon), known: true };
  const detected = await detect(clip, MEASURED_MARGIN);
  if (detected) return within(detected, [wholeFrame(clip)]);
  return { areas: [rectanglePolygon(wholeFrame(clip))], known: false };
}

/** Number of frames in which to search for text. Text rarely moves within a clip. */
const TEXT_SAMPLES = 3;

/**
 * Finds the text burned into the first, middle and last frames of a clip. If a cine has more
 * frames, a text must be in the same place on two of these three, because tissue that resembles
 * letters moves.
 */
async function textOf({ frames }: Clip): Promise<Rectangle[]> {
  const last = frames.length - 1;
  const indices = Array.from({ length: TEXT_SAMPLES }, (_, n) =>
    Math.round((n * last) / (TEXT_SAMPLES - 1)),
  );
  const found: Rectangle[][] = [];
  for (const index of new Set(indices)) {
    try {
      const frame = await frames[index]?.rgb();
      if (frame) found.push(burnedInText(frame));
      // Text counts only if two frames show it. If the first two frames have none, the third is not
      // needed.
      const none = found.length === 2 && found.flat().length === 0;
      if (none && frames.length > TEXT_SAMPLES) return [];
    } catch (error) {
      // A damaged frame is refused later by the measuring code.
      if (!(error instanceof UnreadableInput)) throw error;
    }
  }
  if (found.length < 2 || frames.length <= TEXT_SAMPLES) return found.flat();
  return found.flatMap((texts, at) => {
    const others = found.filter((_, other) => other !== at).flat();
    return texts.filter((text) => others.some((other) => meet(text, other)));
  });
}

/**
 * Returns true if the intersection of two rectangles is at least half the area of the smaller one.
 */
export function meet(a: Rectangle, b: Rectangle): boolean {
  const width = Math.min(a.maxX, b.maxX) - Math.max(a.minX, b.minX) + 1;
  const height = Math.min(a.maxY, b.maxY) - Math.max(a.minY, b.minY) + 1;
  const size = (one: Rectangle) => (one.maxX - one.minX + 1) * (one.maxY - one.minY + 1);
  return width > 0 && height > 0 && 2 * width * height >= Math.min(size(a), size(b));
}

/**
 * Extends text near the top or bottom edge to the full width, because a title bar spans the screen.
 * Used if the picture could not be distinguished from its surroundings.
 */
function acrossBars(text: readonly Rectangle[], { width, height }: Clip): Rectangle[] {
  const bar = BAR_THICKNESS * height;
  return text.map((area) =>
    area.maxY < bar || area.minY > height - bar ? { ...area, minX: 0, maxX: width - 1 } : area,
  );
}

/**
 * Returns the parts of a clip that may be shown to others: the areas that show ultrasound, without
 * burned-in text. Burned In Annotation NO is ignored, because one of two real objects with NO shows
 * the patient's name on the tissue.
 */
export async function shownPictureOf(clip: Clip): Promise<ShownPicture> {
  const text = await textOf(clip);
  const picture = await ultrasoundOf(clip, text);
  return { ...picture, text: picture.known ? text : acrossBars(text, clip) };
}

/**
 * Returns the areas of a clip that show ultrasound. Within the regions, these are only the parts
 * that are lit and move, because names are also displayed in the corners beside a sector. Empty if
 * Burned In Annotation is YES, the header has no regions, and the picture cannot be distinguished
 * from its surroundings.
 *
 * @param text rectangles of burned-in text, if known.
 */
export async function ultrasoundOf(clip: Clip, text: readonly Rectangle[] = []): Promise<Picture> {
  const regions = clip.ultrasoundAreas;
  const bounds = regions.length > 0 ? regions : [wholeFrame(clip)];
  const bounded = { areas: bounds.map(rectanglePolygon), known: regions.length > 0 };
  // A trace fills its whole region, so the region has no corners with text.
  if (bounded.known && showsTrace(clip)) return bounded;
  const detected = await detect(clip, SHOWN_MARGIN, text);
  if (detected) return within(detected, bounds);
  return clip.burnedInAnnotation === true && !bounded.known ? { areas: [], known: false } : bounded;
}

/** `channels` are interleaved. */
function keepInside(
  image: { width: number; height: number; data: Uint8Array },
  areas: Picture['areas'],
  channels: number,
): Uint8Array {
  const { width, height, data } = image;
  const kept = new Uint8Array(data.length);
  for (const area of areas) {
    for (let y = 0; y < height; y += 1) {
      const span = spanOfRow(area, y, width);
      if (!span) continue;
      const from = (y * width + span[0]) * channels;
      const to = (y * width + span[1] + 1) * channels;
      kept.set(data.subarray(from, to), from);
    }
  }
  return kept;
}

function coversFrame(areas: Picture['areas'], { width, height }: Clip): boolean {
  return areas.some((area) => {
    const corners = [0, height - 1].map((y) => spanOfRow(area, y, width));
    // If a convex area contains all four corners, it contains the whole frame.
    return corners.every((span) => span?.[0] === 0 && span[1] === width - 1);
  });
}

/**
 * Returns a frame that is black outside the areas and where there is text. `channels` are
 * interleaved.
 */
export function maskOutside(
  image: RgbImage,
  { areas, text }: Pick<ShownPicture, 'areas' | 'text'>,
  channels: 1 | 3 = 3,
): RgbImage {
  const data = keepInside(image, areas, channels);
  for (const { minX, minY, maxX, maxY } of text) {
    for (let y = minY; y <= maxY; y += 1) {
      const row = y * image.width;
      data.fill(0, channels * (row + minX), channels * (row + maxX + 1));
    }
  }
  return { ...image, data };
}

/**
 * Returns the same clip with its luminance limited to the picture, so that text and graphics around
 * it do not affect measurements. The picture is located when the first frame is requested.
 */
export function measuredInPicture(clip: Clip): Clip {
  let bounds: Promise<Picture['areas'] | null> | null = null;
  const find = async () => {
    const { areas, known } = await pictureOf(clip);
    return known && !coversFrame(areas, clip) ? areas : null;
  };
  const frames = clip.frames.map(
    (frame): Frame => ({
      ...frame,
      async gray() {
        bounds ??= find();
        const areas = await bounds;
        const image = await frame.gray();
        return areas ? { ...image, data: keepInside(image, areas, 1) } : image;
      },
    }),
  );
  return { ...clip, frames };
}
