import { type DicomHeader, numberOf, textOf } from './dicom-header.ts';
import { LIMITS } from './limits.ts';
import { type Palette, readPalette } from './palette.ts';
import { Refusal } from './refusal.ts';

/** What the header says of one frame's pixels (PS3.3 C.7.6.3). */
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

/** Columns and Rows; throws a Refusal for an image without size or over the limit. */
export function readImageSize(header: DicomHeader): { width: number; height: number } {
  const width = numberOf(header, 'Columns') ?? 0;
  const height = numberOf(header, 'Rows') ?? 0;
  if (width < 1 || height < 1) throw new Refusal('the header gives the image no size');
  if (width * height > LIMITS.pixelsPerFrame) {
    throw new Refusal(`the image of ${width} x ${height} pixels is over the limit`);
  }
  return { width, height };
}

/** Reads and checks the pixel format; throws a Refusal that names what is not supported. */
export function readPixelFormat(header: DicomHeader): PixelFormat {
  const { width, height } = readImageSize(header);
  const samples = numberOf(header, 'SamplesPerPixel') ?? 1;
  const photometric = textOf(header, 'PhotometricInterpretation');
  const known = samples === 1 ? ONE_SAMPLE : samples === 3 ? THREE_SAMPLES : [];
  if ((samples !== 1 && samples !== 3) || !known.includes(photometric)) {
    throw new Refusal(
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
    throw new Refusal(`pixels of ${bitsStored} bits in ${bitsAllocated} are not supported`);
  }
  if (samples === 3 && bitsAllocated !== 8) {
    throw new Refusal('colour pixels of 16 bits per sample are not supported');
  }
  if (numberOf(header, 'PixelRepresentation') === 1) {
    throw new Refusal('signed pixels are not supported');
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

/** Bytes of one uncompressed frame. YBR_FULL_422 shares its chroma between two pixels. */
export function nativeFrameBytes(format: PixelFormat): number {
  const pixels = format.width * format.height;
  if (format.photometric === 'YBR_FULL_422') return pixels * 2;
  return pixels * format.samples * (format.bitsAllocated / 8);
}
