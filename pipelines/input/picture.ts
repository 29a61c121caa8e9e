import type { GrayImage, Point } from '../contract/image.ts';
import type { Clip, Frame, Rectangle, RgbImage } from '../contract/study.ts';
import { detectPicture } from './picture-detector.ts';
import { clipToRectangle, rectanglePolygon, spanOfRow } from './polygon.ts';
import { Refusal } from './refusal.ts';

/** Where ultrasound is on the frames of a clip, and not a name, a menu or a ruler. */
export interface Picture {
  /** Convex polygons of pixel coordinates. */
  areas: readonly (readonly Point[])[];
  /** False: nothing told the picture from its surroundings, and `areas` is the whole frame. */
  known: boolean;
}

/** A region over so much of the frame does not bound the picture: the whole screen was meant. */
const WHOLE_SCREEN = 0.9;

/** Around what was detected, of the height of the frame. */
const MEASURED_MARGIN = 0.12;
const SHOWN_MARGIN = 0.022;

/** Frames that are looked at, spread over the first two seconds of a cine or so. */
const SAMPLES = 5;
const SAMPLED_FRAMES = 60;

/** Null for a frame that is damaged: it is refused where it is measured. */
async function readable(frame: Frame | undefined): Promise<GrayImage | null> {
  try {
    return (await frame?.gray()) ?? null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function detect({ frames }: Clip, margin: number): Promise<Point[] | null> {
  const span = Math.min(frames.length, SAMPLED_FRAMES) - 1;
  const indices = new Set(
    Array.from({ length: SAMPLES }, (_, n) => Math.round((n * span) / (SAMPLES - 1))),
  );
  const images: GrayImage[] = [];
  for (const index of indices) {
    const image = await readable(frames[index]);
    if (image) images.push(image);
  }
  return detectPicture(images, margin);
}

function coversScreen(area: Rectangle, { width, height }: Clip): boolean {
  const share = ((area.maxX - area.minX + 1) * (area.maxY - area.minY + 1)) / (width * height);
  return share >= WHOLE_SCREEN;
}

export function wholeFrame({ width, height }: Pick<Clip, 'width' | 'height'>): Rectangle {
  return { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 };
}

function within(detected: readonly Point[], regions: readonly Rectangle[]): Picture {
  const areas = regions.map((area) => clipToRectangle(detected, area));
  return { areas: areas.filter((area) => area.length > 2), known: true };
}

/**
 * The picture of a clip to measure on: by the ultrasound regions of the header; where it has none, or
 * one over the whole screen, by what is lit and moves on a few frames, with a margin that rather
 * takes in a letter than cuts off anatomy.
 */
export async function pictureOf(clip: Clip): Promise<Picture> {
  const regions = clip.ultrasoundAreas;
  const bounded = regions.length > 0 && !regions.some((area) => coversScreen(area, clip));
  if (bounded) return { areas: regions.map(rectanglePolygon), known: true };
  const detected = await detect(clip, MEASURED_MARGIN);
  if (detected) return within(detected, [wholeFrame(clip)]);
  return { areas: [rectanglePolygon(wholeFrame(clip))], known: false };
}

/**
 * The picture of a clip to show to others: its regions, and of them only what is lit and moves, for
 * names stand in the corners beside a sector too. Burned In Annotation NO is believed where there are
 * regions; YES where nothing tells the picture from its surroundings shows nothing.
 */
export async function shownPictureOf(clip: Clip): Promise<Picture> {
  const regions = clip.ultrasoundAreas;
  const bounds = regions.length > 0 ? regions : [wholeFrame(clip)];
  const bounded = { areas: bounds.map(rectanglePolygon), known: regions.length > 0 };
  // A trace has no hull of its own and no corners beside it.
  const traces = clip.sweeps.length > 0 || clip.mode === 'spectral' || clip.mode === 'm-mode';
  if (bounded.known && (clip.burnedInAnnotation === false || traces)) return bounded;
  const detected = await detect(clip, SHOWN_MARGIN);
  if (detected) return within(detected, bounds);
  return clip.burnedInAnnotation === true && !bounded.known ? { areas: [], known: false } : bounded;
}

/** A copy with all pixels outside of the areas black; `channels` are interleaved. */
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
    // Of a convex area that holds all four corners nothing is outside.
    return corners.every((span) => span?.[0] === 0 && span[1] === width - 1);
  });
}

/** A frame that is black outside of the areas. */
export function maskOutside(image: RgbImage, areas: Picture['areas']): RgbImage {
  return { ...image, data: keepInside(image, areas, 3) };
}

/**
 * The same clip with luminance of the picture alone, so that no text or graphics around it enters a
 * measurement. The picture is looked for when the first frame is asked for.
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
