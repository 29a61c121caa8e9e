import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { encapsulated, SYNTAX, ultrasound } from './dicom-sample.ts';
import { onDisk } from './on-disk.ts';

const jpeg = (grey: number) =>
  sharp({
    create: { width: 32, height: 16, channels: 3, background: { r: grey, g: grey, b: grey } },
  })
    .toColourspace('b-w')
    .jpeg()
    .toBuffer();

/** Creates a cine of three frames, the second of which cannot be decoded. */
const damagedCine = async (instance: number, last: number) =>
  ultrasound({
    instance,
    syntax: SYNTAX.jpegBaseline,
    columns: 32,
    rows: 16,
    frames: 3,
    pixels: null,
    trailer: encapsulated([await jpeg(20), (await jpeg(90)).subarray(0, 100), await jpeg(last)]),
  });

describe('cines with the same first frame, whose second frame is damaged', () => {
  const namesIn = async (files: Record<string, Buffer>) => {
    const { clips, refused } = await readStudy(await onDisk(files));
    return { read: clips.map(({ file }) => file), refused };
  };

  it('are one cine if the other frames are the same', async () => {
    const files = { a: await damagedCine(1, 200), b: await damagedCine(2, 200) };
    expect(await namesIn(files)).toEqual({
      read: ['a'],
      refused: [{ file: 'b', reason: 'duplicate of another file: the same image' }],
    });
  });

  it('are two cines if another frame differs', async () => {
    const files = { a: await damagedCine(1, 200), b: await damagedCine(2, 30) };
    expect(await namesIn(files)).toEqual({ read: ['a', 'b'], refused: [] });
  });
});

describe('many different files of the same size', () => {
  it('are each read once to be compared', async () => {
    const picture = await sharp(Buffer.alloc(64), { raw: { width: 8, height: 8, channels: 1 } })
      .png()
      .toBuffer();
    // Bytes after the end of a PNG do not belong to the picture.
    const files = Object.fromEntries(
      Array.from({ length: 600 }, (_, n) => [
        `${n}.png`,
        Buffer.concat([picture, Buffer.from(String(n).padStart(3, '0'))]),
      ]),
    );
    const onTheDisk = await onDisk(files);
    const before = process.cpuUsage();
    const { clips } = await readStudy(onTheDisk);
    const { user, system } = process.cpuUsage(before);
    expect(clips.length).toBe(600);
    expect((user + system) / 1e6).toBeLessThan(15);
  }, 120_000);
});
