import sharp from 'sharp';
import { UnreadableInput } from '../../../../pipelines/contract/study.ts';
import { transferSyntax } from '../../../../pipelines/dicom/transfer-syntaxes.ts';
import { encapsulatedFrames, nativeFrames } from '../../../../pipelines/input/dicom/frame-bytes.ts';
import { readDicomHeader, textOf } from '../../../../pipelines/input/dicom/header.ts';
import {
  announcedFrames,
  frameBytes,
  openPixels,
} from '../../../../pipelines/input/dicom/pixel-data.ts';
import {
  nativeFrameBytes,
  type PixelFormat,
  readPixelFormat,
} from '../../../../pipelines/input/pixels/pixels.ts';
import { withByteSource } from '../../../../pipelines/input/study-file.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { type Rendering, shownIn, windowed } from './rendering.ts';

/**
 * Frames of a stored object, read one at a time. This module loads the codecs, so it is imported
 * only when needed.
 */
interface StoredFrames {
  count: number;
  /**
   * True if the frames are encapsulated and decoding preserves the photometric interpretation in
   * the header.
   */
  decodable: boolean;
  /** Returns one frame as stored. Frame numbers start at 1. */
  stored(frame: number): Promise<Buffer>;
  native(frame: number): Promise<Buffer>;
}

/**
 * Opens the frames of an object.
 * @throws SonogateError `not_acceptable` for an object without frames that can be sent
 *   individually.
 */
export function openStoredFrames(file: string): Promise<StoredFrames> {
  return readable(() =>
    withByteSource(file, async (source) => {
      const header = readDicomHeader(source);
      const { pixelData } = header;
      if (!pixelData) throw new UnreadableInput('the object has no pixel data');
      const { coding, name } = transferSyntax(header.transferSyntax);
      if (coding === 'video' || coding === 'unsupported') {
        throw new UnreadableInput(`${name} has no individual frames; retrieve the object`);
      }
      const format = readPixelFormat(header);
      const count = announcedFrames(header);
      const spans =
        coding === 'native'
          ? nativeFrames(source, pixelData, count, nativeFrameBytes(format))
          : await encapsulatedFrames(source, pixelData, count);
      const photometric = textOf(header, 'PhotometricInterpretation');
      const decodable = ['MONOCHROME2', 'RGB'].includes(photometric) && format.bitsAllocated === 8;
      return {
        count: spans.length,
        decodable: coding !== 'native' && decodable && !format.planar,
        stored: (frame: number) => readable(() => frameBytes(file, spans[frame - 1] ?? [])),
        native: (frame: number) => readable(async () => (await decoded(file, frame)).bytes),
      };
    }),
  );
}

/**
 * Renders one frame for display, as JPEG or PNG.
 * @throws SonogateError `not_found` if there is no such frame, `not_acceptable` if the object
 * cannot be decoded.
 */
export function renderFrame(
  file: string,
  frame: number,
  { type, quality, viewport, window }: Rendering & { type: string },
): Promise<Buffer> {
  return readable(async () => {
    const { bytes, width, height, channels, format } = await decoded(file, frame);
    const { bitsStored, photometric } = format;
    const isGray = photometric.startsWith('MONOCHROME');
    const inverted = photometric === 'MONOCHROME1';
    const shown = window && isGray ? windowed(bytes, window, { bitsStored, inverted }) : bytes;
    const whole = sharp(shown, { raw: { width, height, channels } });
    const image = viewport ? await shownIn(whole, viewport, { width, height }) : whole;
    return type === 'image/png' ? image.png().toBuffer() : image.jpeg({ quality }).toBuffer();
  });
}

async function decoded(
  file: string,
  frame: number,
): Promise<{
  bytes: Buffer;
  width: number;
  height: number;
  channels: 1 | 3;
  format: PixelFormat;
}> {
  return withByteSource(file, async (source) => {
    const header = readDicomHeader(source);
    const frames = await openPixels(file, source, header);
    if (frame > frames.frames) {
      throw new SonogateError('not_found', `The object has ${frames.frames} frames.`);
    }
    const { data, width, height, channels } = await frames.decode(frame - 1);
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return { bytes, width, height, channels, format: readPixelFormat(header) };
  });
}

/**
 * Runs `work` and converts `UnreadableInput` to `not_acceptable`. An object that cannot be decoded
 * is thus refused with the same error as one in a form that the caller does not accept.
 */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    throw new SonogateError('not_acceptable', `No frames can be sent: ${error.message}.`);
  }
}
