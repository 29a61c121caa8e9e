import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { type Element, encapsulated, type Sample, SYNTAX, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';
import { DECODERS_INSTALLED, inFolder, run } from '../reference-pixels.ts';

const SIDE = 16;

async function jpegOf(gray: number): Promise<Buffer> {
  const data = Buffer.alloc(SIDE * SIDE, gray);
  const raw = { raw: { width: SIDE, height: SIDE, channels: 1 as const } };
  const jpeg = await sharp(data, raw).toColourspace('b-w').jpeg().toBuffer();
  return jpeg.length % 2 === 0 ? jpeg : Buffer.concat([jpeg, Buffer.of(0)]);
}

function object(
  fragments: readonly Buffer[],
  changes: Sample = {},
  offsets: readonly number[] = [],
) {
  return ultrasound({
    syntax: SYNTAX.jpegBaseline,
    columns: SIDE,
    rows: SIDE,
    pixels: null,
    trailer: encapsulated(fragments, offsets),
    ...changes,
  });
}

async function read(file: Buffer): Promise<{ clip: Clip | undefined; reason: string | undefined }> {
  const { clips, refused } = await readStudy(await onDisk({ file }));
  return { clip: clips[0], reason: refused[0]?.reason };
}

async function firstGrays(clip: Clip | undefined): Promise<(number | undefined)[]> {
  return Promise.all((clip?.frames ?? []).map(async ({ gray }) => (await gray()).data[0]));
}

/**
 * Returns the Extended Offset Table and its lengths (PS3.3 C.7.6.3.1.8). They have 64 bits, and the
 * basic table is left empty.
 */
function extendedOffsets(fragments: readonly Buffer[]): Element[] {
  const table = Buffer.alloc(8 * fragments.length);
  const lengths = Buffer.alloc(8 * fragments.length);
  let offset = 0n;
  for (const [index, { length }] of fragments.entries()) {
    table.writeBigUInt64LE(offset, index * 8);
    lengths.writeBigUInt64LE(BigInt(length), index * 8);
    offset += BigInt(length + 8);
  }
  return [
    ['7FE00001', 'OV', table],
    ['7FE00002', 'OV', lengths],
  ];
}

describe('frames of compressed pixel data', () => {
  it('are found with an extended offset table', async () => {
    const fragments = [await jpegOf(10), await jpegOf(200)];
    const { clip } = await read(
      object(fragments, { frames: 2, extra: extendedOffsets(fragments) }),
    );
    expect(await firstGrays(clip)).toEqual([10, 200]);
  });

  it('are found by how they begin if the offset table is wrong', async () => {
    const [one, two] = [await jpegOf(10), await jpegOf(200)];
    const half = 2 * Math.floor(one.length / 4);
    const fragments = [one.subarray(0, half), one.subarray(half), two];
    const { clip } = await read(object(fragments, { frames: 2 }, [0, 4]));
    expect(await firstGrays(clip)).toEqual([10, 200]);
  });

  it('are one if several fragments contain a single frame', async () => {
    const jpeg = await jpegOf(120);
    const half = 2 * Math.floor(jpeg.length / 4);
    const { clip } = await read(object([jpeg.subarray(0, half), jpeg.subarray(half)]));
    expect(await firstGrays(clip)).toEqual([120]);
  });

  it('are one if a later fragment begins like a JPEG XL file or another frame', async () => {
    const jpeg = await jpegOf(120);
    // A comment whose content begins the second fragment (ITU-T T.81 B.2.4.5).
    for (const begin of ['0000', 'ff0a', 'ff4f']) {
      const comment = Buffer.from(`fffe0008${begin}00000000`, 'hex');
      const whole = Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]);
      const { clip, reason } = await read(object([whole.subarray(0, 6), whole.subarray(6)]));
      expect(reason).toBeUndefined();
      expect(await firstGrays(clip)).toEqual([120]);
    }
  });

  it.each([
    ['one frame', 1, 'announces 1 frames, the pixel data contain 3'],
    ['two frames', 2, 'announces 2 frames, the pixel data contain 3'],
    ['four frames', 4, 'announces 4 frames, the pixel data contain 3'],
  ])('are refused if the header announces %s but there are three', async (_, frames, words) => {
    const fragments = [await jpegOf(1), await jpegOf(2), await jpegOf(3)];
    const { reason } = await read(object(fragments, { frames }));
    expect(reason).toContain(words);
  });

  it('are refused if the last fragment is cut short', async () => {
    const whole = object([await jpegOf(1), await jpegOf(2)], { frames: 2 });
    const { reason } = await read(whole.subarray(0, whole.length - 40));
    expect(reason).toBe('the compressed pixel data are cut short');
  });

  it('of MONOCHROME1 are inverted, so that 0 is black', async () => {
    const { clip } = await read(object([await jpegOf(30)], { photometric: 'MONOCHROME1' }));
    expect(await firstGrays(clip)).toEqual([225]);
  });
});

/** Returns three tables of 256 16-bit entries, the first one segmented (PS3.3 C.7.9.2). */
function palettes(): Element[] {
  const table = (entry: (index: number) => number) => {
    const bytes = Buffer.alloc(512);
    for (let index = 0; index < 256; index += 1) bytes.writeUInt16LE(entry(index) << 8, index * 2);
    return bytes;
  };
  const descriptors = (['1', '2', '3'] as const).map(
    (colour) => [`0028110${colour}`, 'US', [256, 0, 16]] as const,
  );
  // A discrete segment with one entry, followed by a line of 255 entries.
  const words = Uint16Array.from([0, 1, 0, 1, 255, 0xff00]);
  return [
    ...descriptors,
    ['00281202', 'OW', table((index) => 255 - index)],
    ['00281203', 'OW', table((index) => index >> 1)],
    ['00281221', 'OW', Buffer.from(words.buffer)],
  ];
}

describe.skipIf(!DECODERS_INSTALLED)('palette colour', () => {
  it.each([
    ['native', ['dcmconv', '+te']],
    ['big endian', ['dcmconv', '+tb']],
    ['RLE', ['dcmcrle']],
    ['lossless JPEG', ['dcmcjpeg', '+e1']],
    ['JPEG-LS', ['dcmcjpls', '+el']],
  ])('of a segmented and two plain tables is mapped: %s', async (_, [program = '', ...args]) => {
    const data = Buffer.from(Array.from({ length: SIDE * SIDE }, (_entry, index) => index));
    const [source] = await onDisk({
      dcm: ultrasound({
        columns: SIDE,
        rows: SIDE,
        photometric: 'PALETTE COLOR',
        extra: palettes(),
        pixels: ['7FE00010', 'OB', data],
      }),
    });
    await inFolder(async (path) => {
      await run(program, [...args, source?.path ?? '', path('dcm')]);
      const { clips, refused } = await readStudy([{ name: 'dcm', path: path('dcm') }]);
      expect(refused).toEqual([]);
      const pixels = await clips[0]?.frames[0]?.rgb();
      const expected = [...data].flatMap((value) => [value, 255 - value, value >> 1]);
      expect([...(pixels?.data ?? [])]).toEqual(expected);
    });
  });
});
