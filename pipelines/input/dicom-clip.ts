import { type Clip, type Frame, UNDESCRIBED } from '../contract/study.ts';
import { type ByteSource, readBytes, withByteSource } from './byte-source.ts';
import { decodeCompressed } from './compressed.ts';
import { encapsulatedFrames, type FrameSpans, nativeFrames } from './dicom-frames.ts';
import { type DicomHeader, numberOf, readDicomHeader, textOf } from './dicom-header.ts';
import { readCalibration, readMode } from './dicom-regions.ts';
import { LIMITS } from './limits.ts';
import { nativeFrameBytes, type PixelFormat, readPixelFormat } from './pixel-format.ts';
import { fromStored, type Pixels, toGray, toRgb } from './pixels.ts';
import { Refusal } from './refusal.ts';
import { type TransferSyntax, transferSyntax } from './transfer-syntaxes.ts';

/** Ultrasound (current and retired) and secondary capture; PS3.4 B.5. */
const IMAGE_CLASSES = new Set([
  '1.2.840.10008.5.1.4.1.1.3',
  '1.2.840.10008.5.1.4.1.1.3.1',
  '1.2.840.10008.5.1.4.1.1.6',
  '1.2.840.10008.5.1.4.1.1.6.1',
  '1.2.840.10008.5.1.4.1.1.7',
  '1.2.840.10008.5.1.4.1.1.7.1',
  '1.2.840.10008.5.1.4.1.1.7.2',
  '1.2.840.10008.5.1.4.1.1.7.3',
  '1.2.840.10008.5.1.4.1.1.7.4',
]);

function checkImage(header: DicomHeader): void {
  const sopClass = textOf(header, 'SOPClassUID');
  if (!IMAGE_CLASSES.has(sopClass)) {
    throw new Refusal(`the object is not an ultrasound image (SOP class ${sopClass || 'missing'})`);
  }
  if (!header.pixelData) throw new Refusal('the object holds no pixel data');
}

/** Seconds of each frame from the first; 0 where the header gives no frame time (in ms). */
function frameTimes(header: DicomHeader, frames: number): number[] {
  const vector = textOf(header, 'FrameTimeVector').split('\\').map(Number);
  if (vector.length === frames && vector.every(Number.isFinite)) {
    let milliseconds = 0;
    return vector.map((step, index) => {
      milliseconds += index === 0 ? 0 : step;
      return milliseconds / 1000;
    });
  }
  const step = numberOf(header, 'FrameTime') ?? 0;
  return Array.from({ length: frames }, (_, index) => (index * step) / 1000);
}

async function frameBytes(path: string, spans: FrameSpans): Promise<Buffer> {
  const total = spans.reduce((sum, span) => sum + span.length, 0);
  if (total > LIMITS.frameBytes) throw new Refusal('a compressed frame is over the limit');
  return Buffer.concat(
    await Promise.all(spans.map(({ offset, length }) => readBytes(path, offset, length))),
  );
}

/** Two 8-bit samples share a 16-bit word: in a big endian file they lie swapped (PS3.5 A.3). */
function unswap(bytes: Buffer): Buffer {
  return bytes.length % 2 === 0 ? bytes.swap16() : bytes;
}

function frameReader(
  path: string,
  spans: FrameSpans,
  header: DicomHeader,
  format: PixelFormat,
  syntax: TransferSyntax,
): () => Promise<Pixels> {
  const swapped =
    header.bigEndian && format.bitsAllocated === 8 && (header.pixelData?.words ?? false);
  return async () => {
    const bytes = await frameBytes(path, spans);
    if (syntax.coding === 'native') return fromStored(swapped ? unswap(bytes) : bytes, format);
    if (syntax.coding === 'unsupported') throw new Refusal(`${syntax.name} is not supported`);
    return decodeCompressed(bytes, format, syntax.coding);
  };
}

async function locateFrames(
  source: ByteSource,
  header: DicomHeader,
  format: PixelFormat,
  syntax: TransferSyntax,
): Promise<FrameSpans[]> {
  const frames = numberOf(header, 'NumberOfFrames') ?? 1;
  if (!Number.isInteger(frames) || frames < 1 || frames > LIMITS.framesPerClip) {
    throw new Refusal(`${frames} frames are outside of what is supported`);
  }
  const { pixelData } = header;
  if (!pixelData) throw new Refusal('the object holds no pixel data');
  if (syntax.coding === 'native') {
    return nativeFrames(source, pixelData, frames, nativeFrameBytes(format));
  }
  return encapsulatedFrames(source, pixelData, frames);
}

/**
 * Reads a DICOM image or cine. Frames are decoded when asked for, by their place in the file; the
 * first is decoded once here, so that a file that cannot be decoded is refused as a whole.
 * `mmPerPx` is the user's scale for an image that brings none.
 */
export async function readDicomClip(
  file: string,
  path: string,
  mmPerPx: number | null,
): Promise<Clip> {
  return withByteSource(path, async (source) => {
    const header = await readDicomHeader(source);
    checkImage(header);
    const syntax = transferSyntax(header.transferSyntax);
    if (syntax.coding === 'unsupported') {
      throw new Refusal(`the transfer syntax ${syntax.name} is not supported`);
    }
    const format = readPixelFormat(header);
    const spans = await locateFrames(source, header, format, syntax);
    const times = frameTimes(header, spans.length);
    const frames = spans.map((frameSpans, index): Frame => {
      const pixels = frameReader(path, frameSpans, header, format, syntax);
      return {
        index,
        time: times[index] ?? 0,
        gray: async () => toGray(await pixels()),
        rgb: async () => toRgb(await pixels()),
      };
    });
    await frames[0]?.gray();
    const { width, height } = format;
    const calibration = readCalibration(header, width, height);
    const uncalibrated = calibration.regions.length === 0 && calibration.refused === null;
    return {
      file,
      ...UNDESCRIBED,
      sopInstanceUid: textOf(header, 'SOPInstanceUID') || null,
      sopClassUid: textOf(header, 'SOPClassUID') || null,
      seriesInstanceUid: textOf(header, 'SeriesInstanceUID') || null,
      width,
      height,
      frames,
      regions: uncalibrated ? userScale(width, height, mmPerPx) : calibration.regions,
      calibrationRefused: calibration.refused,
      mode: readMode(header),
    };
  });
}

/** The whole image with the scale that the user gave; nothing where none was given. */
export function userScale(width: number, height: number, mmPerPx: number | null): Clip['regions'] {
  if (mmPerPx === null) return [];
  const area = { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 };
  return [{ area, scale: { x: mmPerPx, y: mmPerPx }, source: 'user' }];
}
