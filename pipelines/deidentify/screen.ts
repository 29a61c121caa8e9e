import type { Point } from '../contract/image.ts';
import type { Clip, Rectangle } from '../contract/study.ts';
import { burnedInText } from '../measure/burned-in-text.ts';
import { maskOutside, type ShownPicture, shownPictureOf, wholeFrame } from '../measure/picture.ts';

/** Clean Pixel Data (PS3.15 E.3.1): which part of a screen stays, and when nothing may be sent. */

/** Frames of a cine in which text is looked for. */
const SAMPLES = 12;
/** Text that was found again after it was blanked, this often, cannot be blanked. */
const ROUNDS = 3;
/** Share of the remaining picture beyond which a screen is a page of text. */
const MOST_TEXT = 0.3;
/** A region that covers more than this share of the frame does not tell where the ultrasound is. */
const WHOLE_SCREEN = 0.9;
/** A picture that was found by its looks and is larger is a page: sectors leave their corners free. */
const LARGEST_FOUND = 0.8;
/**
 * Texts on a picture that was found by its looks, beyond which it is a page of text, some of which may not
 * be found: lines of a table through its letters hide them.
 */
const MOST_TEXTS = 10;

const NOT_DISTINGUISHED = 'the ultrasound cannot be distinguished from the rest of the screen';
const PAGE_OF_TEXT = 'too much of the picture would have to be blanked, as on a page of text';

export type Blanking = Pick<ShownPicture, 'areas' | 'text'>;

/**
 * Which part of the frames of a clip may be shown: the ultrasound regions of its header, within them
 * the sector, and no text.
 * @param withoutRegions `detect`: where the header has no region, the picture is found by its looks.
 * @returns a reason where the screen has to be held.
 */
export async function blankingOf(
  clip: Clip,
  withoutRegions: 'hold' | 'detect',
): Promise<Blanking | string> {
  const bounded = clip.ultrasoundAreas.length > 0 && !coversScreen(clip.ultrasoundAreas, clip);
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

function coversScreen(areas: readonly Rectangle[], clip: Clip): boolean {
  const screen = sizeOf(wholeFrame(clip));
  return areas.some((area) => sizeOf(area) >= WHOLE_SCREEN * screen);
}

const sizeOf = ({ minX, minY, maxX, maxY }: Rectangle) => (maxX - minX + 1) * (maxY - minY + 1);

/** Text in the frames as they would be sent; in a cine, what is in two frames at the same place. */
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

/** Which pixels of a frame would be shown, and how many. */
function litBy({ width, height }: Clip, blanking: Blanking) {
  const white = { width, height, data: new Uint8Array(width * height).fill(1) };
  const { data } = maskOutside(white, blanking, 1);
  return {
    count: data.reduce((sum, value) => sum + value, 0),
    at: ({ x, y }: Point) => data[y * width + x] === 1,
  };
}
