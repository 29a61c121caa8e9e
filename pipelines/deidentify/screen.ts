import type { Point } from '../contract/image.ts';
import type { Clip, Rectangle } from '../contract/study.ts';
import { burnedInText } from '../measure/burned-in-text.ts';
import { coverScreen, maskOutside, type ShownPicture, shownPictureOf } from '../measure/picture.ts';

/**
 * Clean Pixel Data (PS3.15 E.3.1): determines which part of a screen may be sent, and when nothing
 * may be sent.
 */

/** Number of frames of a cine in which text is searched. */
const SAMPLES = 12;
/** Number of attempts to blank text. Text that is still found afterwards cannot be blanked. */
const ROUNDS = 3;
/** Share of the remaining picture that is text, above which a screen is a page of text. */
const MOST_TEXT = 0.3;
/**
 * Share of the frame above which a picture that was found by its appearance is a page. A sector is
 * smaller, because it leaves the corners free.
 */
const LARGEST_FOUND = 0.8;
/**
 * Number of texts above which a picture that was found by its appearance is a page of text. Further
 * text on such a page may not be found, because the lines of a table cross its letters.
 */
const MOST_TEXTS = 10;

const NOT_DISTINGUISHED = 'the ultrasound cannot be distinguished from the rest of the screen';
const PAGE_OF_TEXT = 'too much of the picture would have to be blanked, as on a page of text';

export type Blanking = Pick<ShownPicture, 'areas' | 'text'>;

/**
 * Returns which part of the frames of a clip may be shown: the ultrasound regions of the header
 * and, within them, the sector without text.
 * @param withoutRegions `detect`: if the header has no region, the picture is found by its
 *   appearance.
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
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = await textLeft(clip, { areas, text });
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

const sizeOf = ({ minX, minY, maxX, maxY }: Rectangle) => (maxX - minX + 1) * (maxY - minY + 1);

/**
 * Returns the text that remains in the frames after blanking. In a cine, text must be in two frames
 * at the same place.
 */
async function textLeft(clip: Clip, blanking: Blanking): Promise<Rectangle[]> {
  const last = clip.frames.length - 1;
  const indices = new Set(
    Array.from({ length: SAMPLES }, (_, n) => Math.round((n * last) / (SAMPLES - 1))),
  );
  const found: Rectangle[][] = [];
  for (const index of indices) {
    const frame = await clip.frames[index]?.rgb();
    if (frame) found.push(burnedInText(maskOutside(frame, blanking)));
  }
  if (found.length < 2) return found.flat();
  return found.flatMap((texts, at) =>
    texts.filter((text) =>
      found.some((others, other) => other !== at && others.some((one) => overlap(text, one))),
    ),
  );
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  const width = Math.min(a.maxX, b.maxX) - Math.max(a.minX, b.minX) + 1;
  const height = Math.min(a.maxY, b.maxY) - Math.max(a.minY, b.minY) + 1;
  return width > 0 && height > 0 && 2 * width * height >= Math.min(sizeOf(a), sizeOf(b));
}

const middleOf = ({ minX, minY, maxX, maxY }: Rectangle): Point => ({
  x: (minX + maxX) >> 1,
  y: (minY + maxY) >> 1,
});

/** Returns which pixels of a frame would be shown, and their number. */
function litBy({ width, height }: Clip, blanking: Blanking) {
  const white = { width, height, data: new Uint8Array(width * height).fill(1) };
  const { data } = maskOutside(white, blanking, 1);
  return {
    count: data.reduce((sum, value) => sum + value, 0),
    at: ({ x, y }: Point) => data[y * width + x] === 1,
  };
}
