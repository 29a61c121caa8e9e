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
