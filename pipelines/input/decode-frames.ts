import { inParallel } from '../../src/platform/in-parallel.ts';
import type { GrayImage } from '../contract/image.ts';
import {
  type Clip,
  type Frame,
  READ,
  type RefusedFile,
  UnreadableInput,
} from '../contract/study.ts';

/** Limits on the memory used for decoded frames. They do not depend on the length of a cine. */
export const DECODING = {
  /** Frames per batch. A model processes as many frames in one run. */
  frames: 16,
  /**
   * Batches in progress at the same time. Two models work on one batch each while the next is
   * decoded.
   */
  batches: 3,
  /** Bytes of grey pixels per batch. A batch always contains at least one frame. */
  bytes: 64 * 1024 * 1024,
  /**
   * Frames decoded at the same time. Each also needs memory for its compressed bytes and its
   * colours.
   */
  atOnce: 4,
  /** Files read at the same time. Reading a file includes its header and first frame. */
  files: 4,
} as const;

export interface ClipFrame {
  clip: Clip;
  frame: Frame;
}

interface DecodedFrame extends ClipFrame {
  image: GrayImage;
}

interface DecodedBatch {
  decoded: DecodedFrame[];
  /** Files that were accepted but contain frames that could not be decoded. */
  refused: RefusedFile[];
}

/** Yields every frame of `clips`, in batches within the limits of `DECODING`. */
export function* frameBatches(
  clips: readonly Clip[],
  budget: { frames: number; bytes: number } = DECODING,
): Generator<ClipFrame[]> {
  let batch: ClipFrame[] = [];
  let bytes = 0;
  for (const clip of clips) {
    const frameBytes = clip.width * clip.height;
    for (const frame of clip.frames) {
      const full = batch.length === budget.frames || bytes + frameBytes > budget.bytes;
      if (full && batch.length > 0) {
        yield batch;
        batch = [];
        bytes = 0;
      }
      batch.push({ clip, frame });
      bytes += frameBytes;
    }
  }
  if (batch.length > 0) yield batch;
}

/** Decodes the frames of a batch, `DECODING.atOnce` at a time, and returns them in batch order. */
export async function decodeBatch(
  batch: readonly ClipFrame[],
  signal: AbortSignal,
): Promise<DecodedBatch> {
  const refused: RefusedFile[] = [];
  const images = await inParallel(batch, DECODING.atOnce, async ({ clip, frame }) => {
    signal.throwIfAborted();
    try {
      return await frame.gray();
    } catch (error) {
      if (!(error instanceof UnreadableInput)) throw error;
      refused.push({
        file: clip.file,
        reason: `${READ} without frame ${frame.index + 1}: ${error.message}`,
      });
      return null;
    }
  });
  const decoded = batch.flatMap((one, index) => {
    const image = images[index];
    return image ? [{ ...one, image }] : [];
  });
  return { decoded, refused };
}
