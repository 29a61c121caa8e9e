import type { Point } from '../contract/image.ts';
import type { Clip, Rectangle, RgbImage } from '../contract/study.ts';
import { burnedInText } from '../measure/burned-in-text.ts';
import {
  coverScreen,
  maskOutside,
  meet,
  type ShownPicture,
  shownPictureOf,
} from '../measure/picture.ts';

/**
 * Clean Pixel Data (PS3.15 E.3.1): this file determines which part of a screen may be sent, and
 * when nothing may be sent.
 */

/**
 * Number of frames sampled evenly from a cine. Text that is in the same place in two of them is
 * confirmed.
 */
const SAMPLES = 12;
/**
 * Maximum number of frames of a long cine that are searched for text. In a shorter cine, every
 * second frame is searched.
 */
const MOST_SAMPLES = 100;
/** Number of attempts to blank text. Text that is still found afterwards cannot be blanked. */
const ROUNDS = 3;
/** If text fills more than this share of the remaining picture, the screen is a page of text. */
const MOST_TEXT = 0.3;
/**
 * A picture found by its appearance is a page if it fills more than this share of the frame. A
 * sector is smaller, because it leaves the corners free.
 */
const LARGEST_FOUND = 0.8;
/**
 * Maximum number of texts on a picture that was found by its appearance. A picture with more is
 * taken for a page of text, on which some text may be missed, because the lines of a table cross
 * the letters.
 */
const MOST_TEXTS = 10;

const NOT_DISTINGUISHED = 'the ultrasound cannot be distinguished from the rest of the screen';
const PAGE_OF_TEXT = 'too much of the picture would have to be blanked, as on a page of text';

export type Blanking = Pick<ShownPicture, 'areas' | 'text'>;

/**
 * Determines which part of a clip's frames may be shown: the ultrasound regions in the header and,
 * within them, the sector without text.
 *
 * @param withoutRegions `detect`: if the header has no region, the picture is found by its
 * appearance.
 *
 * @returns a reason if the screen must be held.
 */
export async function blankingOf(
  clip: Clip,
  withoutRegions: 'hold' | 'detect',
): Promise<Blanking | string> {
  const bounded = clip.ultrasoundAreas.length > 0 && !coverScreen(clip.ultrasoundAreas, clip);
  if (!bounded && withoutRegions === 'hold') {
    return 'its header does not say where on the screen the ultrasound is';
  }
  const shown = await shownPictureOf(bounded ? clip : { ...clip, ultrasoundAreas: [] });
  const { areas } = shown;
  const picture = litBy(clip, { areas, text: [] });
  const tooLarge = !bounded && picture.count > LARGEST_FOUND * clip.width * clip.height;
  if (!shown.known || areas.length === 0 || tooLarge) return NOT_DISTINGUISHED;
  const text = [...shown.text];
  let looked = denseSamples(clip);
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await textLeft(clip, { areas, text }, looked);
    const left = found.map(({ area }) => area);
    // Blanking cannot add text, so only frames on which text was found are searched again, together
    // with the evenly spaced samples.
    looked = [...new Set([...evenSamples(clip), ...found.map(({ frame }) => frame)])];
    if (left.length === 0) {
      const shownOf = litBy(clip, { areas, text });
      const onPicture = text.filter((one) => picture.at(middleOf(one)));
      const page =
        (!bounded && onPicture.length > MOST_TEXTS) ||
        shownOf.count < (1 - MOST_TEXT) * picture.count;
      return page ? PAGE_OF_TEXT : { areas, text };
    }
    text.push(...left);
  }
  return 'text on the picture was found again after it was blanked';
}

const spread = (frames: number, count: number): number[] => [
  ...new Set(Array.from({ length: count }, (_, n) => Math.round((n * (frames - 1)) / (count - 1)))),
];
const evenSamples = ({ frames }: Clip) => spread(frames.length, SAMPLES);

/**
 * Returns the frames in which to search for text: all frames of a short cine, and every second frame
 * of a longer one up to about `MOST_SAMPLES`. From 299 frames on, the gaps are so wide that text on
 * only three consecutive frames may be missed.
 */
function denseSamples(clip: Clip): number[] {
  const { length } = clip.frames;
  const everySecond = Math.ceil(length / 2) + 1;
  const dense = spread(length, Math.max(SAMPLES, Math.min(everySecond, MOST_SAMPLES)));
  return [...new Set([...evenSamples(clip), ...dense])];
}

interface SeenText {
  frame: number;
  area: Rectangle;
}

/**
 * Returns the text that remains on the frames after blanking. Tissue that resembles letters moves.
 * In a cine of more than `SAMPLES` frames, text therefore counts only if it is in the same place on
 * two of the evenly sampled frames, or unchanged on the previous or next frame.
 */
async function textLeft(
  clip: Clip,
  blanking: Blanking,
  looked: readonly number[],
): Promise<SeenText[]> {
  const known = new Map<number, readonly Rectangle[]>();
  const sent = async (index: number): Promise<RgbImage | null> => {
    const frame = await clip.frames[index]?.rgb();
    return frame ? maskOutside(frame, blanking) : null;
  };
  const textAt = async (index: number): Promise<readonly Rectangle[]> => {
    const before = known.get(index);
    if (before) return before;
    const frame = await sent(index);
    const texts = frame ? burnedInText(frame) : [];
    known.set(index, texts);
    return texts;
  };
  const isAt = async (area: Rectangle, index: number) =>
    (await textAt(index)).some((other) => meet(area, other));
  const isBeside = async ({ frame, area }: SeenText) => {
    for (const next of [frame - 1, frame + 1]) {
      if (!(await isAt(area, next))) continue;
      const [one, other] = [await sent(frame), await sent(next)];
      if (one && other && isUnchanged(area, one, other)) return true;
    }
    return false;
  };
  const found: SeenText[] = [];
  for (const frame of looked) {
    found.push(...(await textAt(frame)).map((area) => ({ frame, area })));
  }
  if (clip.frames.length <= SAMPLES) return found;
  const even = evenSamples(clip);
  const isSpread = async ({ frame, area }: SeenText) => {
    for (const other of even.includes(frame) ? even : []) {
      if (other !== frame && (await isAt(area, other))) return true;
    }
    return false;
  };
  const confirmed: SeenText[] = [];
  for (const one of found) {
    if ((await isSpread(one)) || (await isBeside(one))) confirmed.push(one);
  }
  return confirmed;
}

/**
 * Maximum change in grey levels that lossy compression causes in a letter from frame to frame, and
 * the minimum share of a text's brightest pixels that change by no more than that. Chosen on a real
 * cine: a name was drawn over the moving tissue, and the cine was then compressed.
 */
const LETTER_CHANGE = 16;
const LEAST_UNCHANGED = 0.5;

/**
 * Returns true if the bright strokes in an area are the same on two frames. Tissue would change.
 */
function isUnchanged(
  { minX, minY, maxX, maxY }: Rectangle,
  one: RgbImage,
  other: RgbImage,
): boolean {
  const pixels: [before: number, after: number][] = [];
  for (let y = minY; y <= maxY; y += 1) {
    for (let x = minX; x <= maxX; x += 1) {
      const at = 3 * (y * one.width + x);
      const brightness = ({ data }: RgbImage) => Math.max(...data.subarray(at, at + 3));
      pixels.push([brightness(one), brightness(other)]);
    }
  }
  const most = pixels.reduce((max, [value]) => Math.max(max, value), 0);
  const mean = pixels.reduce((sum, [value]) => sum + value, 0) / pixels.length;
  const ink = pixels.filter(([value]) => value >= (mean + most) / 2);
  const same = ink.filter(([before, after]) => Math.abs(before - after) <= LETTER_CHANGE);
  return same.length >= LEAST_UNCHANGED * ink.length;
}

const middleOf = ({ minX, minY, maxX, maxY }: Rectangle): Point => ({
  x: (minX + maxX) >> 1,
  y: (minY + maxY) >> 1,
});

function litBy({ width, height }: Clip, blanking: Blanking) {
  const white = { width, height, data: new Uint8Array(width * height).fill(1) };
  const { data } = maskOutside(white, blanking, 1);
  return {
    count: data.reduce((sum, value) => sum + value, 0),
    at: ({ x, y }: Point) => data[y * width + x] === 1,
  };
}
