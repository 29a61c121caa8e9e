import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import dcmjsCodecs from 'dcmjs-codecs';
import sharp from 'sharp';
import { tarFile, zipOf } from '../pipelines/input/archive-sample.ts';
import {
  cartFile,
  dcm,
  derived,
  fetalBiometry,
  fetus,
  ln,
  measuredOn,
  obstetricReport,
  sct,
  value,
} from '../pipelines/input/cart-sr/cart-report.ts';
import {
  dicomFile,
  encapsulated,
  region,
  type Sample,
  SYNTAX,
  ultrasound,
} from '../pipelines/input/dicom-sample.ts';
import { hostileObjects } from './hostile-objects.ts';

export interface FuzzSample {
  name: string;
  bytes: Buffer;
}

const COLUMNS = 32;
const ROWS = 16;
const grays = Buffer.from(Array.from({ length: COLUMNS * ROWS }, (_, i) => (i * 37) % 251));
const colours = Buffer.from(Array.from({ length: COLUMNS * ROWS * 3 }, (_, i) => (i * 37) % 251));

const SYNTAXES = {
  rle: '1.2.840.10008.1.2.5',
  jpegLossless: '1.2.840.10008.1.2.4.70',
  jpegLs: '1.2.840.10008.1.2.4.80',
  jpeg2000: '1.2.840.10008.1.2.4.90',
} as const;

function cine(syntax: string, frame: Buffer, sample: Sample = {}): Buffer {
  const padded = frame.length % 2 === 0 ? frame : Buffer.concat([frame, Buffer.alloc(1)]);
  return ultrasound({
    syntax,
    columns: COLUMNS,
    rows: ROWS,
    frames: 2,
    regions: [region({ maxX: COLUMNS - 1, maxY: ROWS - 1 })],
    pixels: null,
    trailer: encapsulated([padded, padded], [0, padded.length + 8]),
    ...sample,
  });
}

async function encodedFrames(): Promise<FuzzSample[]> {
  const { Context, NativeCodecs } = dcmjsCodecs;
  await NativeCodecs.initializeAsync({ logCodecsInfo: false });
  const context = () =>
    new Context({
      width: COLUMNS,
      height: ROWS,
      bitsAllocated: 8,
      bitsStored: 8,
      samplesPerPixel: 1,
      pixelRepresentation: 0,
      planarConfiguration: 0,
      photometricInterpretation: 'MONOCHROME2',
      decodedBuffer: grays,
    });
  const frame = (encoded: { getEncodedBuffer(): Uint8Array | undefined }) =>
    Buffer.from(encoded.getEncodedBuffer() ?? []);
  return [
    { name: 'rle.dcm', bytes: cine(SYNTAXES.rle, frame(NativeCodecs.encodeRle(context()))) },
    {
      name: 'jpeg-ls.dcm',
      bytes: cine(SYNTAXES.jpegLs, frame(NativeCodecs.encodeJpegLs(context(), { lossy: false }))),
    },
    {
      name: 'jpeg-2000.dcm',
      bytes: cine(
        SYNTAXES.jpeg2000,
        frame(NativeCodecs.encodeJpeg2000(context(), { lossy: false })),
      ),
    },
    {
      name: 'jpeg-lossless.dcm',
      bytes: cine(
        SYNTAXES.jpegLossless,
        frame(NativeCodecs.encodeJpeg(context(), { lossy: false })),
      ),
    },
  ];
}

function nativeFiles(): FuzzSample[] {
  const explicit = ultrasound({ regions: [region(), region({ format: 3, units: 4 })] });
  const uint16 = (numbers: readonly number[]) => Buffer.from(Uint16Array.from(numbers).buffer);
  const palette = ultrasound({
    photometric: 'PALETTE COLOR',
    extra: [
      ...['00281101', '00281102', '00281103'].map((tag) => [tag, 'US', [256, 0, 16]] as const),
      ...['00281201', '00281202', '00281203'].map(
        (tag) => [tag, 'OW', uint16(Array.from({ length: 256 }, (_, i) => i * 257))] as const,
      ),
    ],
  });
  return [
    { name: 'explicit.dcm', bytes: explicit },
    { name: 'implicit.dcm', bytes: ultrasound({ syntax: SYNTAX.implicit, regions: [region()] }) },
    { name: 'big-endian.dcm', bytes: ultrasound({ syntax: SYNTAX.bigEndian }) },
    { name: 'palette.dcm', bytes: palette },
    {
      name: 'cine.dcm',
      bytes: ultrasound({
        frames: 4,
        extra: [
          ['00181063', 'DS', '33.3'],
          ['00181065', 'DS', '0\\30\\30\\31'],
        ],
        pixels: ['7FE00010', 'OB', Buffer.alloc(32, 9)],
      }),
    },
    {
      name: 'DICOMDIR',
      bytes: dicomFile(SYNTAX.explicit, [
        ['00041130', 'CS', 'SET'],
        [
          '00041220',
          'SQ',
          [
            [
              ['00041430', 'CS', 'IMAGE'],
              ['00041500', 'CS', 'IMAGES\\IM1'],
            ],
          ],
        ],
      ]),
    },
  ];
}

function reports(): FuzzSample[] {
  const length = (code: string, mm: number) =>
    value(ln(code), mm, 'mm', [derived(sct('373098007', 'Mean')), measuredOn('2.25.5', 2)]);
  const sections = ['A', 'B'].map((id) =>
    fetalBiometry(...fetus(id), length('11820-8', 71.5), length('11963-6', 50)),
  );
  return [
    { name: 'report.dcm', bytes: cartFile(obstetricReport(...sections)) },
    {
      name: 'vascular.dcm',
      bytes: cartFile({ ...obstetricReport(...sections), name: dcm('125100') }),
    },
  ];
}

async function pictures(): Promise<FuzzSample[]> {
  const picture = () => sharp(colours, { raw: { width: COLUMNS, height: ROWS, channels: 3 } });
  const pages = { width: COLUMNS, height: ROWS, pageHeight: ROWS / 2, channels: 3 } as const;
  const jpeg = await picture().jpeg().toBuffer();
  return [
    { name: 'still.jpg', bytes: jpeg },
    { name: 'still.png', bytes: await picture().png().toBuffer() },
    { name: 'still.webp', bytes: await picture().webp().toBuffer() },
    { name: 'loop.gif', bytes: await sharp(colours, { raw: pages }).gif().toBuffer() },
    {
      name: 'jpeg.dcm',
      bytes: cine(SYNTAX.jpegBaseline, jpeg, {
        samples: 3,
        photometric: 'YBR_FULL_422',
        planar: 0,
      }),
    },
  ];
}

async function archives(image: Buffer): Promise<FuzzSample[]> {
  const tar = await tarFile([
    { name: 'a/b.dcm', content: image },
    { name: 'c.dcm', content: image },
  ]);
  return [
    { name: 'study.zip', bytes: zipOf({ 'a/b.dcm': image, 'inner.zip': zipOf({ c: image }) }) },
    { name: 'study.tar', bytes: tar },
    { name: 'study.tar.gz', bytes: gzipSync(tar) },
  ];
}

/** Returns one small file of each kind that the reader supports, made from phantom values. */
export async function generatedSamples(): Promise<FuzzSample[]> {
  return [
    ...nativeFiles(),
    ...(await encodedFrames()),
    ...(await pictures()),
    ...reports(),
    ...(await archives(ultrasound({ regions: [region()] }))),
  ];
}

/**
 * Returns the files in `folder` that have at most `mostBytes` each, or an empty list if the folder
 * does not exist.
 */
export async function filesOf(folder: string, mostBytes: number): Promise<FuzzSample[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const samples: FuzzSample[] = [];
  for (const entry of entries.filter((found) => found.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if ((await stat(path)).size > mostBytes) continue;
    samples.push({ name: entry.name, bytes: await readFile(path) });
  }
  return samples.toSorted((a, b) => a.name.localeCompare(b.name));
}

/**
 * Returns the hostile headers and bombs at a thousandth of their size, at which their mutations are
 * just as hostile.
 */
export function hostileSamples(): FuzzSample[] {
  return hostileObjects('1.2.840.99', 1 / 1000).map(({ name, bytes }) => ({
    name: `${name}.dcm`,
    bytes,
  }));
}
