import { writeFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../pipelines/contract/study.ts';
import { LIMITS } from '../../../pipelines/input/limits.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { onDisk } from './on-disk.ts';

/** Returns uniformly grey frames stacked vertically, which is how sharp accepts an animation. */
function flatFrames(side: number, grays: readonly number[]) {
  const frame = side * side * 3;
  const data = Buffer.alloc(frame * grays.length);
  for (const [index, gray] of grays.entries()) {
    data.fill(gray, index * frame, (index + 1) * frame);
  }
  const size = { width: side, height: side * grays.length, pageHeight: side };
  return sharp(data, { raw: { ...size, channels: 3 } });
}

async function clipOf(content: Buffer, mmPerPx?: number): Promise<Clip> {
  const { clips, refused } = await readStudy(await onDisk({ file: content }), {
    mmPerPx: () => mmPerPx ?? null,
  });
  expect(refused).toEqual([]);
  const [clip] = clips;
  if (!clip) throw new Error('no clip');
  return clip;
}

async function refusalOf(content: Buffer): Promise<string> {
  const { clips, refused } = await readStudy(await onDisk({ file: content }));
  expect(clips).toEqual([]);
  return refused[0]?.reason ?? '';
}

async function grayAt(clip: Clip, frame: number): Promise<number | undefined> {
  return (await clip.frames[frame]?.gray())?.data[0];
}

/**
 * Encodes a GIF89a with `frames` images of `side` x `side`. Each image contains only the code of
 * one pixel.
 */
function claiming(side: number, frames: number): Buffer {
  const size = [side & 0xff, side >> 8];
  const header = [...Buffer.from('GIF89a'), ...size, ...size, 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
  const control = [0x21, 0xf9, 4, 0, 4, 0, 0, 0];
  const image = [0x2c, 0, 0, 0, 0, ...size, ...size, 0, 2, 2, 0x44, 0x01, 0];
  const all = Array.from({ length: frames }, () => [...control, ...image]).flat();
  return Buffer.from([...header, ...all, 0x3b]);
}

const GRAYS = [0, 51, 204, 102];
const DELAYS = [40, 120, 60, 40];
const gif = () => flatFrames(16, GRAYS).gif({ delay: DELAYS }).toBuffer();
const webp = () => flatFrames(16, GRAYS).webp({ lossless: true, delay: DELAYS }).toBuffer();

describe.each([
  ['GIF', gif],
  ['lossless WebP', webp],
])('an animated %s', (_, make) => {
  it('is a clip of its frames, each with its time', async () => {
    const clip = await clipOf(await make());
    expect([clip.width, clip.height]).toEqual([16, 16]);
    expect(clip.frames.map(({ time }) => time)).toEqual([0, 0.04, 0.16, 0.22]);
    const grays = await Promise.all(GRAYS.map((_gray, index) => grayAt(clip, index)));
    expect(grays).toEqual(GRAYS);
    expect((await clip.frames[2]?.rgb())?.data).toHaveLength(16 * 16 * 3);
  });

  it('has only the scale that the user gives', async () => {
    expect((await clipOf(await make())).regions).toEqual([]);
    expect((await clipOf(await make(), 0.2)).regions).toEqual([
      {
        area: { minX: 0, minY: 0, maxX: 15, maxY: 15 },
        scale: { x: 0.2, y: 0.2 },
        source: 'user',
      },
    ]);
  });

  it('is refused if it is cut short at any point', async () => {
    const whole = await make();
    const [file] = await onDisk({ file: whole });
    if (!file) throw new Error('no file');
    for (let length = 16; length < whole.length; length += 1) {
      writeFileSync(file.path, whole.subarray(0, length));
      const { clips, refused } = await readStudy([file]);
      expect(clips, `after ${length} of ${whole.length} bytes`).toEqual([]);
      expect(refused[0]?.reason).toMatch(/cut short|damaged/);
    }
  });

  it('is read or refused, never thrown, with any of its bytes overwritten', async () => {
    const whole = await make();
    const [file] = await onDisk({ file: whole });
    if (!file) throw new Error('no file');
    for (let at = 16; at < whole.length; at += 3) {
      const damaged = Buffer.from(whole);
      damaged[at] = 0xff;
      writeFileSync(file.path, damaged);
      const { clips, refused } = await readStudy([file]);
      expect(clips.length + refused.length).toBe(1);
    }
  });
});

it('frames can be read in any order, from an animation larger than the part kept in memory', async () => {
  const side = 1024;
  const grays = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150];
  expect(side * side * 3 * grays.length).toBeGreaterThan(LIMITS.animationRunBytes);
  const clip = await clipOf(await flatFrames(side, grays).webp({ lossless: true }).toBuffer());
  for (const frame of [14, 0, 11, 9, 10, 3]) {
    expect(await grayAt(clip, frame)).toBe(grays[frame]);
  }
});

it.each([
  ['GIF', () => flatFrames(16, [102]).gif().toBuffer()],
  ['WebP', () => flatFrames(16, [102]).webp({ lossless: true }).toBuffer()],
])('a %s of one frame is a still', async (_, make) => {
  const clip = await clipOf(await make());
  expect(clip.frames.map(({ time }) => time)).toEqual([0]);
  expect(await grayAt(clip, 0)).toBe(102);
});

it('a GIF may have padding after its trailer', async () => {
  const clip = await clipOf(Buffer.concat([await gif(), Buffer.alloc(100)]));
  expect(clip.frames).toHaveLength(GRAYS.length);
});

describe('an animation over the limits is refused before it is decoded', () => {
  it('by the size of its frames', async () => {
    expect(await refusalOf(claiming(65_535, 2))).toContain('over the limit');
  });

  it('by the pixels of all its frames', async () => {
    const side = 2000;
    const frames = Math.floor(LIMITS.pixelsPerAnimation / side ** 2) + 1;
    expect(await refusalOf(claiming(side, frames))).toBe(
      `an animation of ${frames} frames of 2000 x 2000 is over the limit`,
    );
  });

  it('by their number', async () => {
    const most = claiming(1, LIMITS.framesPerClip);
    expect((await clipOf(most)).frames).toHaveLength(LIMITS.framesPerClip);
    expect(await refusalOf(claiming(1, LIMITS.framesPerClip + 1))).toContain('20001 frames');
  });
});

it('a photograph is upright by its EXIF orientation', async () => {
  const left = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#fff' } })
    .extend({ right: 16, background: '#000' })
    .toFormat('png')
    .toBuffer();
  // Orientation 6: the first row of the file is the right side of the picture (JEITA CP-3451
  // 4.6.4).
  const turned = await sharp(left).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  const clip = await clipOf(turned);
  expect([clip.width, clip.height]).toEqual([16, 32]);
  const { data } = (await clip.frames[0]?.gray()) ?? { data: [] };
  expect(data[0]).toBeGreaterThan(240);
  expect(data[31 * 16]).toBeLessThan(15);
});
