import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clip } from '../../pipelines/contract/study.ts';
import { UnreadableInput } from '../../pipelines/contract/study.ts';
import { readStudy } from '../../pipelines/input/read-study.ts';

/**
 * Maximum length of a reason. A reason is a sentence for a person, not a value from the file that
 * fills a page.
 */
const LONGEST_REASON = 300;
/** PS3.5 9.1. Results, reports and FHIR refer to images by these UIDs. */
const UID = /^[0-9][0-9.]{0,63}$/;

function checkUids(uids: readonly (string | null | undefined)[]): void {
  for (const uid of uids) if (uid && !UID.test(uid)) throw new Error('an invalid UID');
}

/**
 * Returns the frames of a clip to decode: the first, the middle and the last, where offsets go
 * wrong.
 */
function framesOf({ frames }: Clip): Clip['frames'] {
  const wanted = new Set([0, frames.length >> 1, frames.length - 1]);
  return frames.filter(({ index }) => wanted.has(index));
}

async function decode(clip: Clip): Promise<void> {
  for (const frame of framesOf(clip)) {
    try {
      const gray = await frame.gray();
      if (gray.data.length !== gray.width * gray.height) throw new Error('gray of another size');
      const rgb = await frame.rgb();
      if (rgb.data.length !== rgb.width * rgb.height * 3) throw new Error('RGB of another size');
    } catch (error) {
      if (!(error instanceof UnreadableInput)) throw error;
    }
  }
}

/**
 * Reads `bytes` as a single-file study in `folder`, and decodes what a pipeline would decode.
 * Throws if the reader breaks its promises: that any file is either read or refused with a
 * printable sentence, and that calibrations are positive numbers inside the image.
 */
export async function examine(name: string, bytes: Buffer, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  try {
    const path = join(folder, 'file');
    await writeFile(path, bytes);
    const unpackTo = join(folder, 'unpacked');
    const { clips, refused, cart = [] } = await readStudy([{ name, path }], { unpackTo });
    for (const { file, reason } of refused) {
      if (!/^[\x20-\x7e]+$/.test(reason)) throw new Error(`reason not printable: ${reason}`);
      if (reason.length > LONGEST_REASON) throw new Error(`reason of ${reason.length} characters`);
      if (/\p{C}/u.test(file)) throw new Error('file name not printable');
    }
    for (const { value, unit, sopInstanceUid, image } of cart) {
      checkUids([sopInstanceUid, image?.sopInstanceUid]);
      if (!Number.isFinite(value) || unit === '')
        throw new Error('a cart value that is not finite or has no unit');
    }
    for (const clip of clips) {
      checkUids([clip.sopInstanceUid, clip.sopClassUid, clip.seriesInstanceUid]);
      for (const { area, scale } of clip.regions) {
        const inside = area.minX >= 0 && area.maxX < clip.width && area.maxY < clip.height;
        const positive = scale.x > 0 && scale.y > 0 && Number.isFinite(scale.x + scale.y);
        if (!inside || !positive) throw new Error('an impossible calibration');
      }
      if (clip.frames.some(({ time }) => !Number.isFinite(time))) throw new Error('a time of NaN');
      await decode(clip);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
