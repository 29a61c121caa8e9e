import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Clip, Frame } from '../../../pipelines/contract/study.ts';
import { UnreadableInput } from '../../../pipelines/contract/study.ts';
import { DECODING, decodeBatch, frameBatches } from '../../../pipelines/input/decode-frames.ts';
import { clip } from '../obstetric/evidence-sample.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { encapsulated, SYNTAX, ultrasound } from './dicom-sample.ts';

const run = promisify(execFile);
const MIB = 1024 ** 2;
const WIDTH = 320;
const HEIGHT = 240;

async function measure(files: Iterable<Buffer>): Promise<{ frames: number; peak: number }> {
  const folder = await temporaryFolder();
  let count = 0;
  for (const content of files) {
    await writeFile(join(folder, `${count}.dcm`), content);
    count += 1;
  }
  const script = join(import.meta.dirname, 'peak-memory.ts');
  // With a small young generation, garbage is collected soon, so the peak shows what is kept in
  // memory.
  const argv = ['--max-semi-space-size=4', script, folder];
  return JSON.parse((await run(process.execPath, argv)).stdout);
}

async function cine(frames: number): Promise<Buffer> {
  const grey = { width: WIDTH, height: HEIGHT, channels: 3, background: '#456' } as const;
  const jpeg = await sharp({ create: grey }).toColourspace('b-w').jpeg().toBuffer();
  const even = jpeg.length % 2 === 0 ? jpeg : Buffer.concat([jpeg, Buffer.alloc(1)]);
  return ultrasound({
    syntax: SYNTAX.jpegBaseline,
    columns: WIDTH,
    rows: HEIGHT,
    frames,
    pixels: null,
    trailer: encapsulated(Array.from({ length: frames }, () => even)),
  });
}

function* stills(count: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) {
    yield ultrasound({ instance: index, extra: [['00200013', 'IS', String(index)]] });
  }
}

describe('peak memory', () => {
  it('of a cine of 2,000 frames is that of a short one: no cine is kept in memory as a whole', async () => {
    const short = await measure([await cine(40)]);
    const long = await measure([await cine(2_000)]);
    expect(long.frames).toBe(2_000);
    // All grey frames together would take 146 MiB, or 439 MiB in colour.
    expect(long.peak - short.peak).toBeLessThan(90 * MIB);
  }, 180_000);

  it('of a study of 10,000 files grows only by the headers', async () => {
    const few = await measure(stills(100));
    const many = await measure(stills(10_000));
    expect(many.frames).toBe(10_000);
    expect(many.peak - few.peak).toBeLessThan(90 * MIB);
  }, 180_000);
});

describe('frames are decoded within a budget', () => {
  const sized = (frames: number, width: number, height: number, gray: Frame['gray']): Clip =>
    clip('a.dcm', {
      width,
      height,
      frames: Array.from({ length: frames }, (_, index) => ({
        index,
        time: 0,
        gray,
        rgb: async () => ({ width, height, data: new Uint8Array(0) }),
      })),
    });
  const black = async () => ({ width: 1, height: 1, data: new Uint8Array(1) });
  const lengths = (clips: readonly Clip[], budget: { frames: number; bytes: number }) =>
    [...frameBatches(clips, budget)].map((batch) => batch.length);
  const { signal } = new AbortController();

  it('a batch is full at its number of frames or bytes, but contains at least one', () => {
    const clips = [sized(5, 10, 10, black)];
    expect(lengths(clips, { frames: 2, bytes: 1_000 })).toEqual([2, 2, 1]);
    expect(lengths(clips, { frames: 9, bytes: 300 })).toEqual([3, 2]);
    expect(lengths(clips, { frames: 9, bytes: 299 })).toEqual([2, 2, 1]);
    expect(lengths(clips, { frames: 9, bytes: 1 })).toEqual([1, 1, 1, 1, 1]);
    expect(lengths([], { frames: 9, bytes: 1 })).toEqual([]);
  });

  it('no more are decoded simultaneously than the budget allows, and in order', async () => {
    let open = 0;
    let most = 0;
    const slow = async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 2));
      open -= 1;
      return black();
    };
    const [batch = []] = frameBatches([sized(12, 10, 10, slow)]);
    const { decoded } = await decodeBatch(batch, signal);
    expect(most).toBe(DECODING.atOnce);
    expect(decoded.map(({ frame }) => frame.index)).toEqual(batch.map(({ frame }) => frame.index));
  });

  it('a frame that cannot be decoded is reported, and the others are returned', async () => {
    let call = 0;
    const second = async () => {
      call += 1;
      if (call === 2) throw new UnreadableInput('damaged');
      return black();
    };
    const [batch = []] = frameBatches([sized(3, 10, 10, second)]);
    const { decoded, refused } = await decodeBatch(batch, signal);
    expect(decoded.map(({ frame }) => frame.index)).toEqual([0, 2]);
    expect(refused).toEqual([
      { file: 'a.dcm', reason: 'read without frame 2: damaged', read: true },
    ]);
  });

  it('canceling ends it before the next frame', async () => {
    const canceled = new AbortController();
    let read = 0;
    const one = async () => {
      read += 1;
      canceled.abort(new Error('canceled'));
      return black();
    };
    const [batch = []] = frameBatches([sized(16, 10, 10, one)]);
    await expect(decodeBatch(batch, canceled.signal)).rejects.toThrow('canceled');
    expect(read).toBe(1);
  });
});
