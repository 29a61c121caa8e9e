import sharp from 'sharp';
import type { PhantomFrame } from './frame.ts';

/** How the frames of one file are written, as carts do. */
export interface PixelEncoding {
  compression: 'native' | 'jpeg';
  colour: 'grey' | 'rgb';
}

export const TRANSFER_SYNTAX = {
  native: '1.2.840.10008.1.2.1',
  jpeg: '1.2.840.10008.1.2.4.50',
} as const;

/** The warm screen tint of many machines: channel factors on the grey level. */
const TINT = { red: 1, green: 0.95, blue: 0.84 } as const;

const JPEG_QUALITY = 90;

export function interleavedRgb(gray: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(gray.length * 3);
  for (let i = 0; i < gray.length; i++) {
    const level = gray[i] as number;
    rgb[3 * i] = Math.round(level * TINT.red);
    rgb[3 * i + 1] = Math.round(level * TINT.green);
    rgb[3 * i + 2] = Math.round(level * TINT.blue);
  }
  return rgb;
}

/** Carts call every subsampled JPEG YBR_FULL_422 (PS3.5 8.2.1); sharp subsamples 4:2:0. */
export function photometricInterpretation({ compression, colour }: PixelEncoding): string {
  if (colour === 'grey') return 'MONOCHROME2';
  return compression === 'jpeg' ? 'YBR_FULL_422' : 'RGB';
}

/** Pixel Data as dcmjs takes it, and how much smaller it is than the pixels were. */
export interface EncodedPixels {
  pieces: ArrayBuffer[];
  compressionRatio: number;
}

const samplesPerPixel = (colour: PixelEncoding['colour']) => (colour === 'rgb' ? 3 : 1);

/** Values have an even length (PS3.5 7.1.1, A.4). */
function evenLength(parts: readonly Uint8Array[]): ArrayBuffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new Uint8Array(length + (length % 2));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole.buffer;
}

const screenPixels = ({ gray, rgb }: PhantomFrame, colour: PixelEncoding['colour']) =>
  colour === 'rgb' ? (rgb ?? interleavedRgb(gray)) : gray;

/** One JPEG baseline image. */
async function jpegFragment(frame: PhantomFrame, colour: PixelEncoding['colour']) {
  const channels = samplesPerPixel(colour);
  const raw = { width: frame.columns, height: frame.rows, channels } as const;
  const image = sharp(screenPixels(frame, colour), { raw });
  const jpeg = await (colour === 'grey' ? image.toColourspace('b-w') : image)
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer();
  return evenLength([jpeg]);
}

/** Native frames in one piece; JPEG baseline in one fragment per frame. */
export async function encodePixelData(
  frames: readonly PhantomFrame[],
  { compression, colour }: PixelEncoding,
): Promise<EncodedPixels> {
  if (compression === 'native') {
    const pieces = [evenLength(frames.map((frame) => screenPixels(frame, colour)))];
    return { pieces, compressionRatio: 1 };
  }
  const pieces = await Promise.all(frames.map((frame) => jpegFragment(frame, colour)));
  const compressed = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const samples = frames.reduce((sum, frame) => sum + frame.gray.length, 0);
  return { pieces, compressionRatio: (samples * samplesPerPixel(colour)) / compressed };
}
