import { UnreadableInput } from '../../contract/study.ts';
import { LIMITS } from '../limits.ts';
import type { ByteSource, Span } from '../study-file.ts';
import type { PixelDataElement } from './header.ts';

/** Byte ranges of one frame: one span, or several fragments to be concatenated. */
export type FrameSpans = readonly Span[];

const ITEM = 0xe000fffe;
const SEQUENCE_END = 0xe0ddfffe;

/**
 * Returns the byte ranges of native frames, which are stored back to back without padding (PS3.5
 * 8.1.1).
 */
export function nativeFrames(
  source: ByteSource,
  pixelData: PixelDataElement,
  frames: number,
  frameBytes: number,
): FrameSpans[] {
  const declared = pixelData.length ?? 0;
  const present = Math.min(declared, source.size - pixelData.offset);
  if (present < frames * frameBytes) {
    throw new UnreadableInput(
      `the pixel data are cut short: ${present} of ${frames * frameBytes} bytes are there`,
    );
  }
  return Array.from({ length: frames }, (_, index) => [
    { offset: pixelData.offset + index * frameBytes, length: frameBytes },
  ]);
}

async function readFragments(
  source: ByteSource,
  start: number,
): Promise<{ offsets: number[]; fragments: Span[] }> {
  const fragments: Span[] = [];
  let table: Span | null = null;
  let offset = start;
  // Some writers omit the delimiter at the end of the file.
  while (offset + 8 <= source.size) {
    const head = await source.load(offset, 8);
    const tag = head.readUInt32LE(0);
    if (tag === SEQUENCE_END) break;
    if (tag !== ITEM) throw new UnreadableInput('the compressed pixel data are damaged');
    const span = { offset: offset + 8, length: head.readUInt32LE(4) };
    if (span.offset + span.length > source.size) {
      throw new UnreadableInput('the compressed pixel data are cut short');
    }
    if (table) fragments.push(span);
    else table = span;
    if (fragments.length > LIMITS.fragments) {
      throw new UnreadableInput('the compressed pixel data have too many fragments');
    }
    offset = span.offset + span.length;
  }
  if (!table || fragments.length === 0) throw new UnreadableInput('the pixel data are empty');
  const bytes = Buffer.from(
    await source.load(table.offset, Math.min(table.length, LIMITS.framesPerClip * 4)),
  );
  const offsets = Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) =>
    bytes.readUInt32LE(index * 4),
  );
  return { offsets, fragments };
}

function groupByOffsets(fragments: readonly Span[], offsets: readonly number[]): Span[][] | null {
  const first = fragments[0];
  if (!first) return null;
  const base = first.offset - 8;
  const starts = new Map(fragments.map((span, index) => [span.offset - 8 - base, index]));
  const indices = offsets.map((offset) => starts.get(offset));
  const groups: Span[][] = [];
  for (const [frame, begin] of indices.entries()) {
    const end = frame + 1 < indices.length ? indices[frame + 1] : fragments.length;
    if (begin === undefined || end === undefined || end <= begin) return null;
    groups.push(fragments.slice(begin, end));
  }
  return groups;
}

/**
 * First bytes of a code stream. Shorter patterns also occur within frames, and a fragment may begin
 * anywhere in a frame.
 */
const CODE_STREAM_STARTS = [
  // JPEG and JPEG-LS: SOI and the start of the next marker.
  'ffd8ff',
  // JPEG 2000: SOC and SIZ.
  'ff4fff51',
  // JPEG XL.
  'ff0a',
  // The containers of JPEG XL and JPEG 2000.
  '0000000c4a584c20',
  '0000000c6a502020',
];
const LONGEST_START = 8;

function codeStreamStart(bytes: Buffer): string | null {
  const digits = bytes.toString('hex');
  return CODE_STREAM_STARTS.find((start) => digits.startsWith(start)) ?? null;
}

async function groupByMarkers(source: ByteSource, fragments: readonly Span[]): Promise<Span[][]> {
  const groups: Span[][] = [];
  let kind: string | null = null;
  for (const span of fragments) {
    const head = await source.load(span.offset, Math.min(LONGEST_START, span.length));
    const start = codeStreamStart(head);
    const open = groups.at(-1);
    // All frames of an image use the same coding.
    kind ??= start;
    if (!open || (start !== null && start === kind)) groups.push([span]);
    else open.push(span);
  }
  return groups;
}

/** Returns the fragments that follow the offset table, in file order. */
export async function encapsulatedFragments(
  source: ByteSource,
  pixelData: PixelDataElement,
): Promise<readonly Span[]> {
  return (await readFragments(source, pixelData.offset)).fragments;
}

/**
 * Returns the byte ranges of encapsulated frames (PS3.5 A.4). If there are as many fragments as
 * frames, each fragment is one frame. Otherwise the basic offset table gives the start of each
 * frame. If the table is empty or wrong, a frame starts at each fragment that begins with the
 * marker of a new code stream.
 */
export async function encapsulatedFrames(
  source: ByteSource,
  pixelData: PixelDataElement,
  frames: number,
): Promise<FrameSpans[]> {
  const { offsets, fragments } = await readFragments(source, pixelData.offset);
  if (fragments.length === frames) return fragments.map((span) => [span]);
  const byOffsets = offsets.length === frames ? groupByOffsets(fragments, offsets) : null;
  if (byOffsets) return byOffsets;
  const byMarkers = await groupByMarkers(source, fragments);
  if (byMarkers.length === frames) return byMarkers;
  throw new UnreadableInput(
    `the header announces ${frames} frames, the pixel data contain ${byMarkers.length}`,
  );
}
