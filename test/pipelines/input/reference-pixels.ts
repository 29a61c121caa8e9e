import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RgbImage } from '../../../pipelines/contract/study.ts';
import { PYTHON } from '../artifacts/programs.ts';

/** Returns pixels as another program decodes them. The frame number starts at 0. */
export type Reference = (path: string, frame: number) => Promise<RgbImage>;

export const DECODERS_INSTALLED = ['dcmj2pnm', 'dcml2pnm', 'gdcmconv', 'ojph_expand', 'cjxl'].every(
  (program) => existsSync(`/usr/bin/${program}`),
);

/** While other tests keep the machine busy, GDCM takes half a minute per cine. */
const TIMEOUT_MILLISECONDS = 120_000;

/** Runs a Debian program. Throws with its message if it fails. */
export async function run(program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, { timeout: TIMEOUT_MILLISECONDS });
}

/** Provides paths in a temporary folder, which is removed afterwards. */
export async function inFolder<T>(use: (path: (name: string) => string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pixels-'));
  try {
    return await use((name) => join(folder, name));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads an 8-bit PGM or PPM image as RGB. */
export function readPnm(bytes: Buffer): RgbImage {
  const head = /^P([56])\s+(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s/.exec(
    bytes.toString('latin1', 0, 200),
  );
  if (!head) throw new Error('no PNM of 8 bits');
  const [all, kind, width, height] = head;
  const data = bytes.subarray(all.length);
  const rgb = kind === '6' ? data : Buffer.from([...data].flatMap((gray) => [gray, gray, gray]));
  return { width: Number(width), height: Number(height), data: rgb };
}

function byProgram(program: string): Reference {
  return (path, frame) =>
    inFolder(async (file) => {
      await run(program, ['--write-raw-pnm', '+F', String(frame + 1), path, file('pnm')]);
      return readPnm(await readFile(file('pnm')));
    });
}

/** Reference decoder for native, RLE and JPEG. */
export const dcmtkPixels = byProgram('dcmj2pnm');
export const dcmtkJpegLsPixels = byProgram('dcml2pnm');

/**
 * Reference decoder for JPEG 2000 and many others: GDCM decompresses, and DCMTK converts to RGB.
 */
export const gdcmPixels: Reference = (path, frame) =>
  inFolder(async (file) => {
    await run('gdcmconv', ['--raw', path, file('raw.dcm')]);
    return dcmtkPixels(file('raw.dcm'), frame);
  });

const CONVERT = `
import sys, pydicom
from pydicom.pixel_data_handlers.util import convert_color_space
data = pydicom.dcmread(sys.argv[1])
pixels = data.pixel_array if data.get('NumberOfFrames', 1) == 1 else data.pixel_array[int(sys.argv[2])]
open(sys.argv[3], 'wb').write(convert_color_space(pixels, 'YBR_FULL', 'RGB').tobytes())
print(pixels.shape[1], pixels.shape[0])
`;

/** Reference decoder for YBR_FULL, because pydicom rounds where DCMTK truncates. */
export const pydicomPixels: Reference = (path, frame) =>
  inFolder(async (file) => {
    const args = ['-c', CONVERT, path, String(frame), file('rgb')];
    const { stdout } = await promisify(execFile)(PYTHON, args);
    const [width = 0, height = 0] = stdout.trim().split(' ').map(Number);
    return { width, height, data: await readFile(file('rgb')) };
  });

/** Writes an image as binary PNM, which the encoders accept. */
export function writePnm(
  path: string,
  { width, height, data }: { width: number; height: number; data: Buffer },
): Promise<void> {
  const samples = data.length / (width * height);
  const kind = samples === 3 ? 'P6' : 'P5';
  const top = samples === 2 ? 65_535 : 255;
  return writeFile(
    path,
    Buffer.concat([Buffer.from(`${kind}\n${width} ${height}\n${top}\n`), data]),
  );
}

/**
 * Returns the mean and the largest difference between the samples of two images of the same size.
 */
export function difference(one: RgbImage, other: RgbImage): { mean: number; largest: number } {
  if (one.width !== other.width || one.height !== other.height) {
    throw new Error(`${one.width} x ${one.height} is not ${other.width} x ${other.height}`);
  }
  let sum = 0;
  let largest = 0;
  for (let at = 0; at < one.data.length; at += 1) {
    const apart = Math.abs((one.data[at] ?? 0) - (other.data[at] ?? 0));
    sum += apart;
    largest = Math.max(largest, apart);
  }
  return { mean: sum / one.data.length, largest };
}
