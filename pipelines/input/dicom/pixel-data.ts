import { UnreadableInput } from '../../contract/study.ts';
import { type TransferSyntax, transferSyntax } from '../../dicom/transfer-syntaxes.ts';
import { LIMITS } from '../limits.ts';
import { decodeCompressed } from '../pixels/compressed.ts';
import type { FrameSource } from '../pixels/pixels.ts';
import {
  fromStored,
  nativeFrameBytes,
  type PixelFormat,
  type Pixels,
  readImageSize,
  readPixelFormat,
} from '../pixels/pixels.ts';
import { type ByteSource, readBytes } from '../study-file.ts';
import { listVideo, openVideo } from '../video/frames.ts';
import {
  encapsulatedFragments,
  encapsulatedFrames,
  type FrameSpans,
  nativeFrames,
} from './frame-bytes.ts';
import { type DicomHeader, numberOf, type PixelDataElement } from './header.ts';

/**
 * Returns the stored bytes of one frame.
 *
 * @throws UnreadableInput if they exceed the limit.
 */
export async function frameBytes(path: string, spans: FrameSpans): Promise<Buffer> {
  const total = spans.reduce((sum, span) => sum + span.length, 0);
  if (total > LIMITS.frameBytes) throw new UnreadableInput('a compressed frame is over the limit');
  return readBytes(path, spans);
}

/**
 * Returns the bytes of one frame from a big endian file, in which two 8-bit samples share a 16-bit
 * word and are swapped (PS3.5 A.3). A frame of odd size may begin or end within a word.
 * @param start offset of the first word.
 */
async function unswapped(path: string, [span]: FrameSpans, start: number): Promise<Buffer> {
  if (!span) return Buffer.alloc(0);
  const before = (span.offset - start) % 2;
  const after = (before + span.length) % 2;
  const words = { offset: span.offset - before, length: before + span.length + after };
  const bytes = (await frameBytes(path, [words])).swap16();
  return bytes.subarray(before, before + span.length);
}

/** @param swappedFrom offset of the first word if two samples share each word; otherwise null. */
async function decodeFrame(
  path: string,
  spans: FrameSpans,
  swappedFrom: number | null,
  format: PixelFormat,
  { coding, name }: TransferSyntax,
): Promise<Pixels> {
  if (swappedFrom !== null) return fromStored(await unswapped(path, spans, swappedFrom), format);
  const bytes = await frameBytes(path, spans);
  if (coding === 'native') return fromStored(bytes, format);
  if (coding === 'unsupported' || coding === 'video') {
    throw new UnreadableInput(`the transfer syntax ${name} is not supported`);
  }
  return decodeCompressed(bytes, format, coding);
}

/** @throws UnreadableInput if the number of frames is impossible or exceeds the limit. */
export function announcedFrames(header: DicomHeader): number {
  const frames = numberOf(header, 'NumberOfFrames') ?? 1;
  if (!Number.isInteger(frames) || frames < 1 || frames > LIMITS.framesPerClip) {
    throw new UnreadableInput(`${frames} frames are not supported`);
  }
  return frames;
}

/**
 * Checks that pixel data in YBR_FULL_422 have one chroma sample for two pixels. Some writers
 * convert the pixels to RGB or YBR_FULL and leave the old colour model in the header; which of the
 * two was stored is then unknown.
 *
 * @throws UnreadableInput if there are three samples for every pixel.
 */
function checkSharedChroma(
  { photometric, width, height }: PixelFormat,
  { length }: PixelDataElement,
  frames: number,
): void {
  if (photometric !== 'YBR_FULL_422' || (length ?? 0) < 3 * width * height * frames) return;
  throw new UnreadableInput(
    'the pixel data have three samples per pixel, but the header says YBR_FULL_422, in which two pixels share their colour',
  );
}

/**
 * Opens a video. Its fragments form one stream (PS3.5 8.2.5), and only the stream itself shows the
 * number of frames.
 */
async function openStream(
  path: string,
  source: ByteSource,
  header: DicomHeader,
  pixelData: PixelDataElement,
): Promise<FrameSource> {
  const { width, height } = readImageSize(header);
  const spans = await encapsulatedFragments(source, pixelData);
  const listing = await listVideo({ path, spans }, 'stored');
  if (listing.width !== width || listing.height !== height) {
    throw new UnreadableInput(
      `the video is ${listing.width} x ${listing.height} pixels, the header says ${width} x ${height}`,
    );
  }
  return openVideo(listing);
}

/**
 * Locates the frames of a DICOM image without decoding them.
 *
 * @throws UnreadableInput if the pixel data are missing, are truncated, contradict the header, or
 * are of an unsupported kind.
 */
export async function openPixels(
  path: string,
  source: ByteSource,
  header: DicomHeader,
): Promise<FrameSource> {
  const { pixelData } = header;
  if (!pixelData) throw new UnreadableInput('the object holds no pixel data');
  const syntax = transferSyntax(header.transferSyntax);
  if (syntax.coding === 'unsupported') {
    throw new UnreadableInput(`the transfer syntax ${syntax.name} is not supported`);
  }
  if (syntax.coding === 'video') return openStream(path, source, header, pixelData);
  const format = readPixelFormat(header);
  const frames = announcedFrames(header);
  if (syntax.coding === 'native') checkSharedChroma(format, pixelData, frames);
  const spans =
    syntax.coding === 'native'
      ? nativeFrames(source, pixelData, frames, nativeFrameBytes(format))
      : await encapsulatedFrames(source, pixelData, frames);
  const swapped = header.bigEndian && format.bitsAllocated === 8 && pixelData.words;
  const swappedFrom = swapped ? pixelData.offset : null;
  return {
    width: format.width,
    height: format.height,
    frames,
    times: null,
    decode: async (index) => decodeFrame(path, spans[index] ?? [], swappedFrom, format, syntax),
  };
}
