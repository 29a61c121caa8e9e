import type { Clip, RgbImage } from '../../contract/study.ts';
import { UnreadableInput } from '../../contract/study.ts';
import { maskOutside, type Picture, shownPictureOf } from '../../measure/picture.ts';

/** The frames of a study without the parts that may show a name. */
export interface ShownFrames {
  /**
   * Returns the areas of a clip that show ultrasound; everything outside of them is blacked out.
   */
  areasOf(clip: Clip): Promise<Picture['areas']>;
  /**
   * Returns a frame by its number (1-based), black outside of the picture; null for a damaged
   * frame, which the result already lists as refused.
   */
  frame(clip: Clip, number: number): Promise<RgbImage | null>;
}

/** The picture of each clip is located once, when a frame of it is first requested. */
export function createShownFrames(): ShownFrames {
  const pictures = new Map<Clip, Promise<Picture>>();
  const areasOf = async (clip: Clip) => {
    const picture = pictures.get(clip) ?? shownPictureOf(clip);
    pictures.set(clip, picture);
    return (await picture).areas;
  };
  return {
    areasOf,
    async frame(clip, number) {
      const frame = clip.frames[number - 1];
      if (!frame) throw new RangeError(`${clip.file} has no frame ${number}`);
      try {
        return maskOutside(await frame.rgb(), await areasOf(clip));
      } catch (error) {
        if (error instanceof UnreadableInput) return null;
        throw error;
      }
    },
  };
}
