import type { Clip, Rectangle, RgbImage } from '../contract/study.ts';
import { burnedInText } from '../measure/burned-in-text.ts';
import { maskOutside, type ShownPicture, shownPictureOf, wholeFrame } from '../measure/picture.ts';

/** Clean Pixel Data (PS3.15 E.3.1): which part of a screen stays, and when nothing may be sent. */

/** Frames of a cine in which text is looked for. */
const SAMPLES = 12;
/** Text that was found again after it was blanked, this often, cannot be blanked. */
const ROUNDS = 3;
/** Share of the remaining picture beyond which a screen is a page of text. */
const MOST_TEXT = 0.3;
/** A region over this much of the frame says nothing of where the ultrasound is. */
const WHOLE_SCREEN = 0.9;

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
  if (!shown.known || shown.areas.length === 0) {
    return 'the ultrasound cannot be distinguished from the rest of the screen';
  }
  const text = [...shown.text];
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = await textLeft(clip, { areas: shown.areas, text });
    if (left.length === 0)
      return text.length > 0 ? checkedShare(clip, shown.areas, text) : { areas: shown.areas, text };
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

/** A page of a report has little but text where a picture would be. */
function checkedShare(
  { width, height }: Clip,
  areas: Blanking['areas'],
  text: readonly Rectangle[],
): Blanking | string {
  const white: RgbImage = { width, height, data: new Uint8Array(3 * width * height).fill(255) };
  const lit = (image: RgbImage) => image.data.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0);
  const picture = lit(maskOutside(white, { areas, text: [] }));
  const shown = lit(maskOutside(white, { areas, text }));
  return shown < (1 - MOST_TEXT) * picture
    ? 'too much of the picture would have to be blanked, as on a page of text'
    : { areas, text };
}
