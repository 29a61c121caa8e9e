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

/** Up to `length` bytes at `offset`; fewer at the end of a span, none behind the last. */
export function readVideoBytes(video: VideoBytes, offset: number, length: number): Promise<Buffer> {
  let begin = 0;
  for (const span of video.spans) {
    const within = offset - begin;
    if (within < span.length) {
      const wanted = Math.min(length, span.length - within);
      return readBytes(video.path, span.offset + within, wanted);
    }
    begin += span.length;
  }
  return Promise.resolve(Buffer.alloc(0));
}
