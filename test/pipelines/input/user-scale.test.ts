import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import {
  FINEST_MM_PER_PIXEL,
  PLAUSIBLE,
  userScale,
} from '../../../pipelines/input/dicom/calibration.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { obstetricInputSchema, scaleByFile } from '../../../pipelines/obstetric/input.ts';
import { onDisk } from './on-disk.ts';

/** Number of rows of an image that is 50 cm deep at 1 mm per pixel. */
const ROWS = PLAUSIBLE.deepestCm * 10;

describe('the scale given in a request (mm_per_px)', () => {
  it.each([
    ['as deep as any beam reaches', ROWS, null],
    ['a row deeper', ROWS + 1, 'mm_per_px would make the image 50 cm deep'],
    ['six times as deep', 6 * ROWS, 'mm_per_px would make the image 300 cm deep'],
  ])('of an image %s: %s rows', (_, rows, refused) => {
    const scale = userScale(10, rows, 1);
    expect(scale.refused).toBe(refused);
    expect(scale.regions).toHaveLength(refused ? 0 : 1);
  });

  it.each([
    ['at the finest of a header', FINEST_MM_PER_PIXEL, true],
    ['finer', FINEST_MM_PER_PIXEL - 1e-9, false],
  ])('%s: %s mm', (_, mm, taken) => {
    const input = { files: ['file_1'], options: { mm_per_px: mm } };
    expect(obstetricInputSchema.safeParse(input).success).toBe(taken);
  });

  it('is refused if it is impossible, which leaves the picture uncalibrated with a reason', async () => {
    const create = { width: 60, height: 200, channels: 3, background: '#888888' } as const;
    const png = await sharp({ create }).png().toBuffer();
    const { clips } = await readStudy(await onDisk({ 'a.png': png }), { mmPerPx: () => 5 });
    expect(clips[0]).toMatchObject({
      regions: [],
      calibrationRefused: 'mm_per_px would make the image 100 cm deep',
    });
  });

  it.each([
    ['for each file', [0.1, null], true],
    ['for one of two files', [0.1], false],
    ['for none', [], false],
  ])('may be a list %s: %j is accepted: %s', (_, mm, taken) => {
    const input = { files: ['a', 'b'], options: { mm_per_px: mm } };
    expect(obstetricInputSchema.safeParse(input).success).toBe(taken);
  });

  it('for each file is used for that file, and for the content of an archive', () => {
    const scale = scaleByFile([0.1, null, 0.3], ['a.png', 'b.png', 'c.zip']);
    expect(['a.png', 'b.png', 'c.zip/d.png', 'e.png'].map(scale)).toEqual([0.1, null, 0.3, null]);
    expect(scaleByFile(0.2, ['a.png'])('any')).toBe(0.2);
    expect(scaleByFile(undefined, ['a.png'])('a.png')).toBeNull();
  });
});
