import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../pipelines/contract/study.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';

const FOLDER = '../shared/data/dicom/us';
const present = existsSync(FOLDER);
if (!present) console.warn(`${FOLDER} is absent: real DICOM files are not read`);

describe.skipIf(!present)('real ultrasound files of many vendors and transfer syntaxes', () => {
  const files = present
    ? readdirSync(FOLDER).map((name) => ({ name, path: `${FOLDER}/${name}` }))
    : [];

  async function clip(name: string): Promise<Clip> {
    const { clips } = await readStudy(files.filter((file) => file.name === name));
    const [found] = clips;
    if (!found) throw new Error(`${name} was refused`);
    return found;
  }

  it('are all read', async () => {
    for (const file of files) {
      const { clips, refused } = await readStudy([file]);
      expect(refused).toEqual([]);
      expect(clips).toHaveLength(1);
    }
  });

  async function digest(name: string, frame = 0): Promise<string> {
    const pixels = await (await clip(name)).frames[frame]?.rgb();
    if (!pixels) throw new Error(`${name} has no frame ${frame}`);
    const size = `${pixels.width} x ${pixels.height}: `;
    return size + createHash('sha256').update(pixels.data).digest('hex');
  }

  it('decode to the same pixels from JPEG-LS and from lossless JPEG 2000', async () => {
    for (const frame of [0, 11]) {
      expect(await digest('DIRW0007_12fr_j2k.dcm', frame)).toBe(
        await digest('DIRW0007_12fr_rgb_jpegls.dcm', frame),
      );
    }
  });

  it.each([
    ['US1_RLE.dcm', 'US1_UNCR.dcm'],
    ['US1_J2KR.dcm', 'US1_UNCR.dcm'],
    ['OBXXXX1A_expb.dcm', 'OBXXXX1A.dcm'],
    ['OBXXXX1A_rle.dcm', 'OBXXXX1A.dcm'],
    ['color-px.dcm', 'color-pl.dcm'],
  ])('decode %s to the pixels of %s', async (one, other) => {
    expect(await digest(one)).toBe(await digest(other));
  });

  it("use the absolute value of the Acuson loop's negative PhysicalDeltaX", async () => {
    const { regions, frames } = await clip('DIRW0007_repaired_jpegbaseline.dcm');
    expect(regions).toHaveLength(1);
    expect(regions[0]?.scale.x).toBeCloseTo(0.524781, 6);
    expect(frames).toHaveLength(65);
    // The frame times are not uniform, but they increase throughout.
    const times = frames.map(({ time }) => time);
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
  });

  it.each(['examples_ybr_color.dcm', 'examples_palette.dcm'])(
    'refuse the calibration of %s, whose region extends beyond the image',
    async (name) => {
      const { regions, calibrationRefused } = await clip(name);
      expect(regions).toEqual([]);
      expect(calibrationRefused).toContain('reaches outside the image');
    },
  );

  it('give a split screen its two regions', async () => {
    const { regions } = await clip('gdcm-US-ALOKA-16.dcm');
    expect(regions.map(({ area }) => area.minX)).toEqual([32, 336]);
  });
});
