import { inParallel } from '../../src/platform/in-parallel.ts';
import type { GrayImage } from '../contract/image.ts';
import { type Clip, type Frame, type RefusedFile, UnreadableInput } from '../contract/study.ts';

/** Limits on the memory used for decoded frames. They do not depend on the length of a cine. */
export const DECODING = {
  /**
   * Frames per batch, unless more are needed for an accelerator (`framesAtOnce`). A model may
   * process a batch in several runs.
   */
  frames: 4,
  /**
   * Batches in progress at the same time. Many small batches keep the processor cores busier than a
   * few large ones: while one is decoded or scaled, models process others.
   */
  batches: 6,
  /** Clips, structures or readers in progress at the same time; each decodes batches itself. */
  clips: 3,
  /** Bytes of grey pixels per batch. A batch always contains at least one frame. */
  bytes: 32 * 1024 * 1024,
  /**
   * Frames decoded at the same time. Each also needs memory for its compressed bytes and its
   * colours.
   */
  atOnce: 4,
  /** Files read at the same time. Reading a file includes its header and first frame. */
  files: 4,
  /** Frames per batch for models that outline structures. */
  outlined: 8,
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

/**
 * Yields every `stride`-th frame of a clip, decoded, in batches of `DECODING.outlined`. Frames that
 * cannot be decoded are left out.
 *
 * @param known 0-based numbers of frames that are left out because they were read before.
 */
export async function* sampledBatches(
  clip: Clip,
  stride: number,
  signal: AbortSignal,
  known: ReadonlySet<number> = new Set(),
): AsyncGenerator<DecodedFrame[]> {
  const wanted = clip.frames.filter((_, index) => index % stride === 0 && !known.has(index));
  for (let start = 0; start < wanted.length; start += DECODING.outlined) {
    signal.throwIfAborted();
    const frames = wanted.slice(start, start + DECODING.outlined);
    const { decoded } = await decodeBatch(
      frames.map((frame) => ({ clip, frame })),
      signal,
    );
    yield decoded;
  }
}

/** Returns at most `most` items, evenly spread and in their original order. */
export function spread<T>(items: readonly T[], most: number): T[] {
  const count = Math.min(most, items.length);
  return Array.from(
    { length: count },
    (_, n) => items[Math.floor(((n + 0.5) / count) * items.length)] as T,
  );
}

/** Decodes at most `most` frames, spread evenly over a clip. */
export async function spreadImages(
  clip: Clip,
  most: number,
  signal: AbortSignal,
): Promise<GrayImage[]> {
  const batch = spread(clip.frames, most).map((frame) => ({ clip, frame }));
  const { decoded } = await decodeBatch(batch, signal);
  return decoded.map(({ image }) => image);
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
        reason: `read without frame ${frame.index + 1}: ${error.message}`,
        read: true,
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
