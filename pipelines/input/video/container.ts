import { closeSync, openSync, readSync } from 'node:fs';
import { UnreadableInput } from '../../contract/study.ts';
import { readBytes, type Span } from '../study-file.ts';

export interface VideoBytes {
  path: string;
  spans: readonly Span[];
}

export function videoSize({ spans }: VideoBytes): number {
  return spans.reduce((sum, span) => sum + span.length, 0);
}

/**
 * Returns `length` bytes at `offset`, reading across fragments. Fewer are returned at the end of
 * the video.
 */
export async function readVideoBytes(
  video: VideoBytes,
  offset: number,
  length: number,
): Promise<Buffer> {
  const wanted: Span[] = [];
  let begin = 0;
  for (const span of video.spans) {
    const from = Math.max(offset - begin, 0);
    const to = Math.min(offset + length - begin, span.length);
    if (from < to) wanted.push({ offset: span.offset + from, length: to - from });
    begin += span.length;
  }
  return readBytes(video.path, wanted);
}

/**
 * Synchronous version of `readVideoBytes`. FFmpeg waits for its bytes on a thread of the pool that
 * also runs asynchronous reads. If as many videos were open as the pool has threads, no thread
 * would be left for reading.
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

/**
 * Returns true for MP4 and MOV (ISO/IEC 14496-12; QuickTime may omit `ftyp`), AVI, and MPEG program
 * stream.
 */
export function isVideo(head: Buffer): boolean {
  return isIsoMedia(head) || isAvi(head) || (head.length >= 4 && head.readUInt32BE(0) === 0x1ba);
}

function isIsoMedia(head: Buffer): boolean {
  const start = head.toString('latin1', 0, 12);
  return /^.{4}(ftyp(?!heic|heix|mif1|avif)|moov|mdat|wide)/s.test(start);
}

function isAvi(head: Buffer): boolean {
  return /^RIFF.{4}AVI /s.test(head.toString('latin1', 0, 12));
}

/**
 * Returns the length of the box at the start of `head` (ISO/IEC 14496-12 4.2), or 0 if it extends
 * to the end of the file.
 */
function boxLength(head: Buffer): number {
  const length = head.readUInt32BE(0);
  if (length !== 1) return length;
  return head.length < 16 ? Number.NaN : Number(head.readBigUInt64BE(8));
}

/**
 * Returns the length of a RIFF chunk, padded to an even length, or 0 if the writer was interrupted.
 */
function chunkLength(head: Buffer): number {
  const length = head.readUInt32LE(4);
  return length === 0 ? 0 : 8 + length + (length % 2);
}

/**
 * Checks that a video is complete. FFmpeg returns the frames before a truncation without an error.
 *
 * @throws UnreadableInput if a box of an MP4 or a chunk of an AVI extends beyond the end of the
 * file.
 */
export async function checkVideoEnds(video: VideoBytes): Promise<void> {
  const size = videoSize(video);
  const first = await readVideoBytes(video, 0, 12);
  if (!isIsoMedia(first) && !isAvi(first)) return;
  const lengthOf = isAvi(first) ? chunkLength : boxLength;
  // If fewer bytes remain than a header needs, they are padding.
  for (let offset = 0; offset + 8 <= size; ) {
    const head = await readVideoBytes(video, offset, 16);
    const length = lengthOf(head);
    if (length === 0) return;
    if (!(length >= 8)) throw new UnreadableInput('the video is damaged');
    if (offset + length > size + 1) throw new UnreadableInput('the video is cut short');
    offset += length;
  }
}
