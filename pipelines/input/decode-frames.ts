import { inParallel } from '../../src/platform/in-parallel.ts';
import type { GrayImage } from '../contract/image.ts';
import {
  type Clip,
  type Frame,
  READ,
  type RefusedFile,
  UnreadableInput,
} from '../contract/study.ts';

/** What decoded frames may ask of this process, whatever the length of a cine. */
export const DECODING = {
  /** Frames of a batch: as many as a model takes at once. */
  frames: 16,
  /** Batches under way at the same time: while two models look at one each, the next is decoded. */
  batches: 3,
  /** Grey bytes of a batch; one frame at least. */
  bytes: 64 * 1024 * 1024,
  /** Frames decoded at the same time; each needs its compressed bytes and its colours meanwhile. */
  atOnce: 4,
  /** Files read at the same time; of each its header and its first frame. */
  files: 4,
} as const;

export interface ClipFrame {
  clip: Clip;
  frame: Frame;
}

export interface DecodedFrame extends ClipFrame {
  image: GrayImage;
}

export interface DecodedBatch {
  decoded: DecodedFrame[];
  /** Frames that could not be decoded after their file was accepted. */
  refused: RefusedFile[];
}

/** Every frame of `clips`, in batches within the budget. */
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

/** The frames of a batch in its order, `DECODING.atOnce` of them decoded at the same time. */
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
