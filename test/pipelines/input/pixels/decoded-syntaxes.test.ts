import { readFile, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { RgbImage } from '../../../../pipelines/contract/study.ts';
import { jpeg2000Tiles } from '../../../../pipelines/input/pixels/code-stream.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { encapsulated, type Sample, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';
import {
  DECODERS_INSTALLED,
  dcmtkJpegLsPixels,
  dcmtkPixels,
  difference,
  gdcmPixels,
  inFolder,
  readPnm,
  run,
  writePnm,
} from '../reference-pixels.ts';

if (!DECODERS_INSTALLED)
  console.warn('DCMTK, GDCM, OpenJPH or cjxl is absent: syntaxes are not tested');

const COLUMNS = 50;
const ROWS = 36;

/** Returns a smooth level with an edge and some noise, which is deterministic. */
function level(x: number, y: number, sample: number, top: number): number {
  const noise = ((x * 7919 + y * 104_729 + sample * 1299) % 17) / 400;
  const ramp = (x / COLUMNS + (y / ROWS) * (sample + 1)) / 4 + (x > 30 ? 0.2 : 0);
  return Math.round(Math.min(ramp + noise, 1) * top);
}

/** Returns a frame of interleaved samples with 8 bits, or with 16 bits in little endian. */
function picture(samples: 1 | 3, bits = 8): Buffer {
  const wide = bits > 8;
  const bytes = Buffer.alloc(COLUMNS * ROWS * samples * (wide ? 2 : 1));
  for (let at = 0; at < COLUMNS * ROWS * samples; at += 1) {
    const pixel = Math.floor(at / samples);
    const x = pixel % COLUMNS;
    const value = level(x, Math.floor(pixel / COLUMNS), at % samples, 2 ** bits - 1);
    if (wide) bytes.writeUInt16LE(value, at * 2);
    else bytes[at] = value;
  }
  return bytes;
}

function object(samples: 1 | 3, bits: number, changes: Sample = {}): Buffer {
  const wide = bits > 8;
  return ultrasound({
    columns: COLUMNS,
    rows: ROWS,
    samples,
    photometric: samples === 3 ? 'RGB' : 'MONOCHROME2',
    ...(samples === 3 ? { planar: 0 } : {}),
    bits: wide ? 16 : 8,
    bitsStored: bits,
    pixels: ['7FE00010', wide ? 'OW' : 'OB', picture(samples, bits)],
    ...changes,
  });
}

async function readFrame(
  file: { name: string; path: string },
  unpackTo?: string,
  frame = 0,
): Promise<RgbImage> {
  const { clips, refused } = await readStudy([file], { unpackTo });
  const pixels = await clips[0]?.frames[frame]?.rgb();
  if (!pixels) throw new Error(refused[0]?.reason);
  return pixels;
}

async function readBytes(bytes: Buffer): Promise<RgbImage> {
  const [file] = await onDisk({ file: bytes });
  if (!file) throw new Error('no file');
  return readFrame(file);
}

function wrapped(syntax: string, samples: 1 | 3, stream: Buffer, changes: Sample = {}): Buffer {
  const trailer = encapsulated([
    stream.length % 2 ? Buffer.concat([stream, Buffer.of(0)]) : stream,
  ]);
  return object(samples, 8, { syntax, pixels: null, trailer, ...changes });
}

const GRAY = { samples: 1, bits: 8 } as const;
const GRAY_12 = { samples: 1, bits: 12 } as const;
const GRAY_16 = { samples: 1, bits: 16 } as const;
const COLOUR = { samples: 3, bits: 8 } as const;

describe.skipIf(!DECODERS_INSTALLED)('an image rewritten by another program', () => {
  describe.each([
    ['implicit', ['dcmconv', '+ti'], [GRAY, GRAY_12, GRAY_16, COLOUR]],
    ['big endian', ['dcmconv', '+tb'], [GRAY, GRAY_12, GRAY_16, COLOUR]],
    ['deflated', ['dcmconv', '+td'], [GRAY, GRAY_12, COLOUR]],
    ['RLE', ['dcmcrle'], [GRAY, GRAY_12, GRAY_16, COLOUR]],
    ['JPEG lossless, process 14', ['dcmcjpeg', '+el'], [GRAY, GRAY_12, GRAY_16, COLOUR]],
    [
      'JPEG lossless, first-order prediction',
      ['dcmcjpeg', '+e1'],
      [GRAY, GRAY_12, GRAY_16, COLOUR],
    ],
    ['JPEG-LS', ['dcmcjpls', '+el'], [GRAY, GRAY_12, GRAY_16, COLOUR]],
    ['JPEG-LS, samples mixed', ['dcmcjpls', '+el', '+is'], [COLOUR]],
    ['JPEG-LS, a scan for each component', ['dcmcjpls', '+el', '+in'], [COLOUR]],
    ['JPEG 2000', ['gdcmconv', '--j2k'], [GRAY, GRAY_12, GRAY_16, COLOUR]],
  ])('%s', (_, [program = '', ...args], kinds) => {
    it.each(kinds)(
      'of $samples samples of $bits bits has the same pixels',
      async ({ samples, bits }) => {
        const native = object(samples, bits);
        await inFolder(async (path) => {
          const [source] = await onDisk({ native });
          await run(program, [...args, source?.path ?? '', path('dcm')]);
          const pixels = await readFrame({ name: 'dcm', path: path('dcm') }, path('unpacked'));
          expect(difference(pixels, await readBytes(native)).largest).toBe(0);
        });
      },
    );
  });

  it.each([
    ['JPEG baseline, 4:4:4', ['dcmcjpeg', '+eb', '+s4'], COLOUR],
    ['JPEG baseline, 4:2:2', ['dcmcjpeg', '+eb', '+s2'], COLOUR],
    ['JPEG baseline, kept as RGB', ['dcmcjpeg', '+eb', '+cr'], COLOUR],
    ['JPEG baseline, grey', ['dcmcjpeg', '+eb'], GRAY],
    ['JPEG extended of 8 bits', ['dcmcjpeg', '+ee', '+be'], GRAY],
    ['JPEG extended, colour', ['dcmcjpeg', '+ee', '+be'], COLOUR],
    ['JPEG extended of 12 bits', ['dcmcjpeg', '+ee'], GRAY_12],
    ['JPEG-LS near-lossless', ['dcmcjpls', '+en'], GRAY],
    ['JPEG-LS near-lossless, colour', ['dcmcjpls', '+en'], COLOUR],
    ['JPEG 2000, lossy', ['gdcmconv', '--j2k', '--lossy', '-r', '8'], COLOUR],
  ])('%s is lossy: the pixels are those of the reference decoder', async (name, tool, kind) => {
    const [program = '', ...args] = tool;
    await inFolder(async (path) => {
      const [source] = await onDisk({ native: object(kind.samples, kind.bits) });
      await run(program, [...args, source?.path ?? '', path('dcm')]);
      const reference = name.startsWith('JPEG-LS')
        ? dcmtkJpegLsPixels
        : name.startsWith('JPEG 2000')
          ? gdcmPixels
          : dcmtkPixels;
      const pixels = await readFrame({ name: 'dcm', path: path('dcm') });
      expect(difference(pixels, await reference(path('dcm'), 0)).mean).toBeLessThanOrEqual(2);
    });
  });

  it.each([
    ['HTJ2K lossless', '1.2.840.10008.1.2.4.201', ['-reversible', 'true']],
    [
      'HTJ2K lossless, RPCL',
      '1.2.840.10008.1.2.4.202',
      ['-reversible', 'true', '-prog_order', 'RPCL'],
    ],
    ['HTJ2K', '1.2.840.10008.1.2.4.203', ['-qstep', '0.002']],
  ])('%s from OpenJPH has the same pixels as in OpenJPH', async (_, syntax, args) => {
    for (const samples of [1, 3] as const) {
      await inFolder(async (path) => {
        const name = samples === 3 ? 'in.ppm' : 'in.pgm';
        const back = samples === 3 ? 'out.ppm' : 'out.pgm';
        await writePnm(path(name), { width: COLUMNS, height: ROWS, data: picture(samples) });
        await run('ojph_compress', ['-i', path(name), '-o', path('s.j2c'), ...args]);
        await run('ojph_expand', ['-i', path('s.j2c'), '-o', path(back)]);
        const pixels = await readBytes(wrapped(syntax, samples, await readFile(path('s.j2c'))));
        const { mean, largest } = difference(pixels, readPnm(await readFile(path(back))));
        if (syntax.endsWith('203')) expect(mean).toBeLessThanOrEqual(2);
        else expect(largest).toBe(0);
      });
    }
  });

  it.each([
    ['JPEG XL lossless', '1.2.840.10008.1.2.4.110', ['-d', '0']],
    ['JPEG XL', '1.2.840.10008.1.2.4.112', ['-d', '1']],
  ])('%s from libjxl has the same pixels as in libjxl', async (_, syntax, args) => {
    for (const samples of [1, 3] as const) {
      await inFolder(async (path) => {
        await writePnm(path('in.pnm'), { width: COLUMNS, height: ROWS, data: picture(samples) });
        await run('cjxl', [path('in.pnm'), path('s.jxl'), ...args]);
        await run('djxl', [path('s.jxl'), path('out.ppm')]);
        const pixels = await readBytes(wrapped(syntax, samples, await readFile(path('s.jxl'))));
        const { mean, largest } = difference(pixels, readPnm(await readFile(path('out.ppm'))));
        if (syntax.endsWith('112')) expect(mean).toBeLessThanOrEqual(2);
        else expect(largest).toBe(0);
      });
    }
  });

  it('JPEG XL with boxes is read including the byte that pads it to an even length', async () => {
    await inFolder(async (path) => {
      await writePnm(path('in.pnm'), { width: COLUMNS, height: ROWS, data: picture(1) });
      await run('cjxl', [path('in.pnm'), path('s.jxl'), '-d', '0', '--container=1']);
      const stream = await readFile(path('s.jxl'));
      const [plain, padded] = [stream, Buffer.concat([stream, Buffer.alloc(1)])].map((bytes) =>
        readBytes(wrapped('1.2.840.10008.1.2.4.110', 1, bytes)),
      );
      expect(await padded).toEqual(await plain);
    });
  });

  it('JPEG 2000 is refused when one of its tiles is missing', async () => {
    await inFolder(async (path) => {
      await writePnm(path('in.pgm'), { width: COLUMNS, height: ROWS, data: picture(1) });
      const args = ['-reversible', 'true', '-tile_size', '{16,16}'];
      await run('ojph_compress', ['-i', path('in.pgm'), '-o', path('s.j2c'), ...args]);
      const stream = await readFile(path('s.j2c'));
      const tiles = jpeg2000Tiles(stream)?.announced ?? 0;
      expect(tiles).toBeGreaterThan(1);
      const first = stream.indexOf(Buffer.from([0xff, 0x90]));
      const alone = stream.subarray(0, first + stream.readUInt32BE(first + 6));
      const cut = Buffer.concat([alone, Buffer.from([0xff, 0xd9])]);
      await readBytes(wrapped('1.2.840.10008.1.2.4.201', 1, stream));
      await expect(readBytes(wrapped('1.2.840.10008.1.2.4.201', 1, cut))).rejects.toThrow(
        `has 1 of its ${tiles} tiles`,
      );
    });
  });

  it('JPEG XL of 16 bits keeps all of them', async () => {
    await inFolder(async (path) => {
      const data = picture(1, 16);
      // PGM is big endian.
      await writePnm(path('in.pgm'), {
        width: COLUMNS,
        height: ROWS,
        data: Buffer.from(data).swap16(),
      });
      await run('cjxl', [path('in.pgm'), path('s.jxl'), '-d', '0']);
      const stream = await readFile(path('s.jxl'));
      const pixels = await readBytes(
        wrapped('1.2.840.10008.1.2.4.110', 1, stream, { bits: 16, bitsStored: 16 }),
      );
      expect(difference(pixels, await readBytes(object(1, 16))).largest).toBe(0);
    });
  });

  it('JPEG recompressed as JPEG XL has the pixels of the JPEG', async () => {
    await inFolder(async (path) => {
      const raw = { raw: { width: COLUMNS, height: ROWS, channels: 3 as const } };
      const jpeg = await sharp(picture(3), raw).jpeg({ quality: 90 }).toBuffer();
      await writeFile(path('in.jpg'), jpeg);
      await run('cjxl', [path('in.jpg'), path('s.jxl'), '--lossless_jpeg=1']);
      const stream = await readFile(path('s.jxl'));
      const changes = { photometric: 'YBR_FULL_422' };
      const pixels = await readBytes(wrapped('1.2.840.10008.1.2.4.111', 3, stream, changes));
      const asJpeg = await readBytes(wrapped('1.2.840.10008.1.2.4.50', 3, jpeg, changes));
      expect(difference(pixels, asJpeg).mean).toBeLessThanOrEqual(2);
    });
  });
});
