import type { GrayImage } from '../../contract/image.ts';
import { type Frame, UnreadableInput } from '../../contract/study.ts';
import { type DicomHeader, numberOf, textOf } from '../dicom/header.ts';
import { LIMITS } from '../limits.ts';
import { type Palette, readPalette } from './palette.ts';

/** Pixel format of one frame, from the header (PS3.3 C.7.6.3). */
export interface PixelFormat {
  width: number;
  height: number;
  samples: 1 | 3;
  photometric: string;
  planar: boolean;
  bitsAllocated: 8 | 16;
  bitsStored: number;
  bigEndian: boolean;
  palette: Palette | null;
}

const ONE_SAMPLE = ['MONOCHROME1', 'MONOCHROME2', 'PALETTE COLOR'];
const THREE_SAMPLES = ['RGB', 'YBR_FULL', 'YBR_FULL_422', 'YBR_ICT', 'YBR_RCT', 'XYB'];

/**
 * Returns Columns and Rows.
 *
 * @throws UnreadableInput if the image has no size or exceeds the limit.
 */
export function readImageSize(header: DicomHeader): { width: number; height: number } {
  const width = numberOf(header, 'Columns') ?? 0;
  const height = numberOf(header, 'Rows') ?? 0;
  if (width < 1 || height < 1)
    throw new UnreadableInput('the header does not state the size of the image');
  if (width * height > LIMITS.pixelsPerFrame) {
    throw new UnreadableInput(`the image of ${width} x ${height} pixels is over the limit`);
  }
  return { width, height };
}

/**
 * Reads and checks the pixel format.
 *
 * @throws UnreadableInput with the name of the unsupported property.
 */
export function readPixelFormat(header: DicomHeader): PixelFormat {
  const { width, height } = readImageSize(header);
  const samples = numberOf(header, 'SamplesPerPixel') ?? 1;
  const photometric = textOf(header, 'PhotometricInterpretation');
  const known = samples === 1 ? ONE_SAMPLE : samples === 3 ? THREE_SAMPLES : [];
  if ((samples !== 1 && samples !== 3) || !known.includes(photometric)) {
    throw new UnreadableInput(
      `pixels of ${samples} samples in ${photometric || 'an unnamed colour model'} are not supported`,
    );
  }
  const bitsAllocated = numberOf(header, 'BitsAllocated') ?? 8;
  const bitsStored = numberOf(header, 'BitsStored') ?? bitsAllocated;
  if (
    (bitsAllocated !== 8 && bitsAllocated !== 16) ||
    bitsStored < 1 ||
    bitsStored > bitsAllocated
  ) {
    throw new UnreadableInput(`pixels of ${bitsStored} bits in ${bitsAllocated} are not supported`);
  }
  // Earlier editions allowed the samples in the upper bits of their cell (PS3.5 8.1.1). If the
  // samples fill the cell, a wrong High Bit is harmless.
  const highBit = numberOf(header, 'HighBit') ?? bitsStored - 1;
  if (highBit !== bitsStored - 1 && bitsStored < bitsAllocated) {
    throw new UnreadableInput(
      `pixels of ${bitsStored} bits below the high bit ${highBit} are not supported`,
    );
  }
  if (samples === 3 && bitsAllocated !== 8) {
    throw new UnreadableInput('colour pixels of 16 bits per sample are not supported');
  }
  if (numberOf(header, 'PixelRepresentation') === 1) {
    throw new UnreadableInput('signed pixels are not supported');
  }
  return {
    width,
    height,
    samples,
    photometric,
    planar: numberOf(header, 'PlanarConfiguration') === 1,
    bitsAllocated,
    bitsStored,
    bigEndian: header.bigEndian,
    palette: photometric === 'PALETTE COLOR' ? readPalette(header) : null,
  };
}

/**
 * Returns the size of one uncompressed frame in bytes. In YBR_FULL_422, two pixels share their
 * chroma.
 */
export function nativeFrameBytes(format: PixelFormat): number {
  const pixels = format.width * format.height;
  if (format.photometric === 'YBR_FULL_422') return pixels * 2;
  return pixels * format.samples * (format.bitsAllocated / 8);
}

/** One decoded frame: 8-bit grey or interleaved RGB. */
export interface Pixels {
  width: number;
  height: number;
  channels: 1 | 3;
  data: Uint8Array;
}

/** Computes the luminance by ITU-R BT.601, which JPEG and the models use. */
export function toGray({ width, height, channels, data }: Pixels): GrayImage {
  if (channels === 1) return { width, height, data };
  const gray = new Uint8Array(width * height);
  for (let i = 0, p = 0; i < gray.length; i += 1, p += 3) {
    gray[i] = Math.round(
      0.299 * (data[p] ?? 0) + 0.587 * (data[p + 1] ?? 0) + 0.114 * (data[p + 2] ?? 0),
    );
  }
  return { width, height, data: gray };
}

/** Returns a frame as interleaved RGB. */
export function toRgb({ width, height, channels, data }: Pixels): {
  width: number;
  height: number;
  data: Uint8Array;
} {
  if (channels === 3) return { width, height, data };
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0, p = 0; i < data.length; i += 1, p += 3) {
    const value = data[i] ?? 0;
    rgb[p] = value;
    rgb[p + 1] = value;
    rgb[p + 2] = value;
  }
  return { width, height, data: rgb };
}

/** Converts full-range YCbCr (PS3.3 C.7.6.3.1.2, YBR_FULL) to RGB and writes it to `rgb` at `p`. */
function writeRgb(rgb: Uint8ClampedArray, p: number, y: number, cb: number, cr: number): void {
  rgb[p] = y + 1.402 * (cr - 128);
  rgb[p + 1] = y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128);
  rgb[p + 2] = y + 1.772 * (cb - 128);
}

function ybrFull(data: Uint8Array): Uint8Array {
  const rgb = new Uint8ClampedArray(data.length);
  for (let p = 0; p < data.length; p += 3) {
    writeRgb(rgb, p, data[p] ?? 0, data[p + 1] ?? 0, data[p + 2] ?? 0);
  }
  return new Uint8Array(rgb.buffer);
}

/** Converts samples that are stored as Y1 Y2 Cb Cr, for each pair of pixels in a row, to RGB. */
function ybrFull422(data: Uint8Array, pixels: number): Uint8Array {
  const rgb = new Uint8ClampedArray(pixels * 3);
  for (let source = 0, p = 0; p < rgb.length; source += 4, p += 6) {
    const cb = data[source + 2] ?? 0;
    const cr = data[source + 3] ?? 0;
    writeRgb(rgb, p, data[source] ?? 0, cb, cr);
    writeRgb(rgb, p + 3, data[source + 1] ?? 0, cb, cr);
  }
  return new Uint8Array(rgb.buffer);
}

function interleave(data: Uint8Array, pixels: number): Uint8Array {
  const interleaved = new Uint8Array(pixels * 3);
  for (let i = 0; i < pixels; i += 1) {
    interleaved[i * 3] = data[i] ?? 0;
    interleaved[i * 3 + 1] = data[pixels + i] ?? 0;
    interleaved[i * 3 + 2] = data[2 * pixels + i] ?? 0;
  }
  return interleaved;
}

function storedValues(data: Uint8Array, format: PixelFormat): Uint8Array | Uint16Array {
  const pixels = format.width * format.height;
  // Earlier editions allowed overlays in the unused bits (PS3.5 8.1.2).
  const mask = 2 ** format.bitsStored - 1;
  if (format.bitsAllocated === 8) {
    // The result must not be a Buffer, because a Buffer's `slice` shares the memory instead of
    // copying it.
    const samples = new Uint8Array(data.buffer, data.byteOffset, pixels);
    return format.bitsStored === 8 ? samples : samples.map((sample) => sample & mask);
  }
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Uint16Array.from(
    { length: pixels },
    (_, index) => view.getUint16(index * 2, !format.bigEndian) & mask,
  );
}

function mapPalette(stored: Uint8Array | Uint16Array, palette: Palette): Uint8Array {
  const rgb = new Uint8Array(stored.length * 3);
  const last = palette.red.length - 1;
  for (let i = 0; i < stored.length; i += 1) {
    const entry = Math.min(Math.max((stored[i] ?? 0) - palette.first, 0), last);
    rgb[i * 3] = palette.red[entry] ?? 0;
    rgb[i * 3 + 1] = palette.green[entry] ?? 0;
    rgb[i * 3 + 2] = palette.blue[entry] ?? 0;
  }
  return rgb;
}

/**
 * Returns grey values from 0 to 255: the upper 8 of the stored bits, or fewer bits scaled to the
 * whole range. Returns `stored` itself if it already has these values. A loop is used, because
 * `Uint8Array.from` with a mapping function takes ten times as long.
 */
function grayOf(
  stored: Uint8Array | Uint16Array,
  { bitsStored, photometric }: PixelFormat,
): Uint8Array {
  const shift = Math.max(bitsStored - 8, 0);
  const inverted = photometric === 'MONOCHROME1';
  if (bitsStored === 8 && !inverted && stored instanceof Uint8Array) return stored;
  const top = 2 ** Math.min(bitsStored, 8) - 1;
  const levels = Uint8Array.from({ length: top + 1 }, (_, value) =>
    Math.round(((inverted ? top - value : value) * 255) / top),
  );
  const gray = new Uint8Array(stored.length);
  for (let i = 0; i < stored.length; i += 1) gray[i] = levels[(stored[i] ?? 0) >> shift] ?? 0;
  return gray;
}

/**
 * Converts the uncompressed samples of one frame, in the order stated by `format`. Samples that
 * need no conversion are not copied.
 *
 * @throws UnreadableInput if there are too few samples.
 */
export function fromStored(data: Uint8Array, format: PixelFormat): Pixels {
  if (data.length < nativeFrameBytes(format)) {
    throw new UnreadableInput('the image contains fewer pixels than its header states');
  }
  const { width, height } = format;
  const pixels = width * height;
  if (format.samples === 1) {
    const stored = storedValues(data, format);
    if (format.palette) {
      return { width, height, channels: 3, data: mapPalette(stored, format.palette) };
    }
    return { width, height, channels: 1, data: grayOf(stored, format) };
  }
  if (format.photometric === 'YBR_FULL_422') {
    return { width, height, channels: 3, data: ybrFull422(data, pixels) };
  }
  const samples = format.planar ? interleave(data, pixels) : data.subarray(0, pixels * 3);
  const rgb = format.photometric === 'YBR_FULL' ? ybrFull(samples) : samples;
  return { width, height, channels: 3, data: rgb };
}

/** Frames of the same size, decoded individually on demand. */
export interface FrameSource {
  width: number;
  height: number;
  frames: number;
  /**
   * Time of each frame according to the stream itself, in seconds from the first frame. Null if the
   * stream has no times.
   */
  times: readonly number[] | null;
  /**
   * Decodes one frame.
   * @throws UnreadableInput for a damaged frame.
   */
  decode(index: number): Promise<Pixels>;
}

/**
 * Returns the frames of a clip with their `times` (seconds from the first frame; 0 for a frame
 * without a time).
 */
export function framesOf(source: FrameSource, times: readonly number[]): Frame[] {
  return Array.from({ length: source.frames }, (_, index) => ({
    index,
    time: times[index] ?? 0,
    gray: async () => toGray(await source.decode(index)),
    rgb: async () => toRgb(await source.decode(index)),
  }));
}
