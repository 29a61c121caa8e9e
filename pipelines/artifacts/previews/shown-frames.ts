import type { Clip, RgbImage } from '../../contract/study.ts';
import { UnreadableInput } from '../../contract/study.ts';
import { maskOutside, type ShownPicture, shownPictureOf } from '../../measure/picture.ts';

/** Provides the frames of a study without the parts that may show a name. */
export interface ShownFrames {
  /**
   * Returns a frame by its number (1-based), black outside the ultrasound picture and where text is
   * burned in. Null for a damaged frame, which the result already lists as refused. Nothing else
   * reads its pixels, so the caller frees them (`freeMemory`).
   */
  frame(clip: Clip, number: number): Promise<RgbImage | null>;
}

/**
 * Creates a source of frames. The ultrasound picture of a clip is located only once, when its first
 * frame is requested.
 * @param whole true if the installation is set to show whole frames, including names.
 */
export function createShownFrames(whole = false): ShownFrames {
  const pictures = new Map<Clip, Promise<ShownPicture>>();
  const pictureOf = (clip: Clip) => {
    const picture = pictures.get(clip) ?? shownPictureOf(clip);
    pictures.set(clip, picture);
    return picture;
  };
  return {
    async frame(clip, number) {
      const frame = clip.frames[number - 1];
      if (!frame) throw new RangeError(`${clip.file} has no frame ${number}`);
      try {
        const image = await frame.rgb();
        return whole
          ? { ...image, data: image.data.slice() }
          : maskOutside(image, await pictureOf(clip));
      } catch (error) {
        if (error instanceof UnreadableInput) return null;
        throw error;
      }
    },
  };
}
