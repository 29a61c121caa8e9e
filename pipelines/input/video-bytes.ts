import { closeSync, openSync, readSync } from 'node:fs';
import { readBytes } from './byte-source.ts';
import type { Span } from './dicom-frames.ts';

/** The bytes of a video: a whole file, or the fragments of a DICOM object one behind the other. */
export interface VideoBytes {
  path: string;
  spans: readonly Span[];
}

/** Bytes of the whole video. */
export function videoSize({ spans }: VideoBytes): number {
  return spans.reduce((sum, span) => sum + span.length, 0);
}

/** `length` bytes at `offset`, whatever fragments they lie in; fewer at the end of the video. */
export async function readVideoBytes(
  video: VideoBytes,
  offset: number,
  length: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let begin = 0;
  for (const span of video.spans) {
    const from = Math.max(offset - begin, 0);
    const to = Math.min(offset + length - begin, span.length);
    if (from < to) parts.push(await readBytes(video.path, span.offset + from, to - from));
    begin += span.length;
  }
  return Buffer.concat(parts);
}

/**
 * As `readVideoBytes`, at once. FFmpeg waits for its bytes on a thread of the very pool that would read
 * them: with as many videos open as the pool has threads, nobody would be left to read.
 */
export function readVideoBytesSync(video: VideoBytes, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(length, Math.max(videoSize(video) - offset, 0)));
  let filled = 0;
  let begin = 0;
  const file = openSync(video.path, 'r');
  try {
    for (const span of video.spans) {
      const from = Math.max(offset + filled - begin, 0);
      const to = Math.min(offset + buffer.length - begin, span.length);
      if (from < to) filled += readSync(file, buffer, filled, to - from, span.offset + from);
      begin += span.length;
    }
  } finally {
    closeSync(file);
  }
  return buffer.subarray(0, filled);
}
