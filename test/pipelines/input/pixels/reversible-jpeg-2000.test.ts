import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { decodeReversibleJpeg2000 } from '../../../../pipelines/input/pixels/ffmpeg-images.ts';
import type { PixelFormat } from '../../../../pipelines/input/pixels/pixels.ts';
import { FFMPEG_INSTALLED } from '../../../peers/ffmpeg.ts';
import { ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';
import { DECODERS_INSTALLED, inFolder, run } from '../reference-pixels.ts';

const WIDTH = 50;
const HEIGHT = 36;

const FORMAT: PixelFormat = {
  width: WIDTH,
  height: HEIGHT,
  samples: 1,
  photometric: 'MONOCHROME2',
  planar: false,
  bitsAllocated: 8,
  bitsStored: 8,
  bigEndian: false,
  palette: null,
};

function stored(samples: 1 | 3, bits: number): Buffer {
  const values = Array.from(
    { length: WIDTH * HEIGHT * samples },
    (_, index) => (index * 7919 + (index % 53) * 104_729) % 2 ** bits,
  );
  return bits === 8 ? Buffer.from(values) : Buffer.from(Uint16Array.from(values).buffer);
}

/** Returns the stored samples and their JPEG 2000 code stream, as GDCM writes it. */
async function codeStream(samples: 1 | 3, bits: number, options: readonly string[] = []) {
  const pixels = stored(samples, bits);
  const bytes = ultrasound({
    columns: WIDTH,
    rows: HEIGHT,
    samples,
    photometric: samples === 3 ? 'RGB' : 'MONOCHROME2',
    ...(samples === 3 ? { planar: 0 } : {}),
    bits: bits === 8 ? 8 : 16,
    bitsStored: bits,
    pixels: ['7FE00010', bits === 8 ? 'OB' : 'OW', pixels],
  });
  const [native] = await onDisk({ native: bytes });
  return inFolder(async (path) => {
    await run('gdcmconv', ['--j2k', ...options, native?.path ?? '', path('dcm')]);
    const written = await readFile(path('dcm'));
    const encoded = written.subarray(written.indexOf(Buffer.from('ff4fff51', 'hex')));
    return { pixels, encoded };
  });
}

it.skipIf(!DECODERS_INSTALLED || !FFMPEG_INSTALLED).each([
  [1, 8],
  [1, 10],
  [1, 12],
  [1, 16],
  [3, 8],
] as const)('%i samples of %i bits are decoded as they were stored', async (samples, bits) => {
  const { pixels, encoded } = await codeStream(samples, bits);
  const bitsAllocated = bits === 8 ? 8 : 16;
  const format: PixelFormat = { ...FORMAT, samples, bitsAllocated, bitsStored: bits };
  const decoded = await decodeReversibleJpeg2000(encoded, format);
  expect(decoded && Buffer.compare(decoded, pixels)).toBe(0);
});

it.skipIf(!DECODERS_INSTALLED)('the irreversible transform is left to OpenJPEG', async () => {
  const { encoded } = await codeStream(1, 8, ['--lossy', '--irreversible', '-r', '8']);
  expect(await decodeReversibleJpeg2000(encoded, FORMAT)).toBeNull();
});
