import { Refusal } from './refusal.ts';
import { readVideoBytes, type VideoBytes, videoSize } from './video-bytes.ts';

/** MP4 and MOV (ISO/IEC 14496-12; QuickTime may leave `ftyp` out), AVI, MPEG program stream. */
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

/** Whole length of the box at the begin of `head` (ISO/IEC 14496-12 4.2); 0: to the end. */
function boxLength(head: Buffer): number {
  const length = head.readUInt32BE(0);
  if (length !== 1) return length;
  return head.length < 16 ? Number.NaN : Number(head.readBigUInt64BE(8));
}

/** A RIFF chunk is padded to even length; writers that were stopped leave the length 0. */
function chunkLength(head: Buffer): number {
  const length = head.readUInt32LE(4);
  return length === 0 ? 0 : 8 + length + (length % 2);
}

/**
 * Throws a Refusal where a box of an MP4 or a chunk of an AVI is announced longer than the file:
 * FFmpeg gives the frames before such a cut and says nothing.
 */
export async function checkVideoEnds(video: VideoBytes): Promise<void> {
  const size = videoSize(video);
  const first = await readVideoBytes(video, 0, 12);
  if (!isIsoMedia(first) && !isAvi(first)) return;
  const lengthOf = isAvi(first) ? chunkLength : boxLength;
  // Trailing bytes too few for another head are padding.
  for (let offset = 0; offset + 8 <= size; ) {
    const head = await readVideoBytes(video, offset, 16);
    const length = lengthOf(head);
    if (length === 0) return;
    if (!(length >= 8)) throw new Refusal('the video is damaged');
    if (offset + length > size + 1) throw new Refusal('the video is cut short');
    offset += length;
  }
}
