import { describe, expect, it } from 'vitest';
import { scaleFor } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { type Element, region, type Sample, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';

async function clipOf(sample: Sample, mmPerPx?: number) {
  const { clips } = await readStudy(await onDisk({ image: ultrasound(sample) }), {
    mmPerPx: () => mmPerPx ?? null,
  });
  const [clip] = clips;
  if (!clip) throw new Error('the sample was refused');
  return clip;
}

const spacing: Element = ['00280030', 'DS', '0.4\\0.3'];

describe('calibration (obstetric 0.4)', () => {
  it('takes mm per pixel from a tissue region in cm', async () => {
    const { regions } = await clipOf({ regions: [region()] });
    expect(regions).toEqual([
      {
        area: { minX: 0, minY: 0, maxX: 3, maxY: 1 },
        scale: { x: 0.5, y: 0.5 },
        source: 'region',
      },
    ]);
  });

  it('keeps x and y separate, and uses the absolute value of a negative delta', async () => {
    const { regions } = await clipOf({ regions: [region({ deltaX: -0.02, deltaY: 0.03 })] });
    expect(regions[0]?.scale.x).toBeCloseTo(0.2, 12);
    expect(regions[0]?.scale.y).toBeCloseTo(0.3, 12);
  });

  it.each([
    ['reaches beyond the image', region({ maxX: 9 }), /reaches outside the image of 4 x 2/],
    ['has no area', region({ maxX: 0 }), /has no area/],
    ['gives a pixel no size', region({ deltaX: 0 }), /not state the size of a pixel/],
  ])('refuses a region that %s, without any fallback', async (_, wrong, sentence) => {
    const clip = await clipOf({ regions: [wrong], extra: [spacing] }, 0.25);
    expect(clip.regions).toEqual([]);
    expect(clip.calibrationRefused).toMatch(sentence);
  });

  it('accepts a corner written one past the last pixel, as some carts do', async () => {
    const { regions } = await clipOf({ regions: [region({ maxX: 4, maxY: 2 })] });
    expect(regions[0]?.area).toEqual({ minX: 0, minY: 0, maxX: 3, maxY: 1 });
  });

  it.each([
    ['spectral Doppler', region({ format: 3, units: 4 })],
    ['an ECG strip', region({ format: 4, type: 10, units: 4 })],
    ['no physical unit', region({ units: 0 })],
  ])('never measures lengths in a region of %s', async (_, other) => {
    const { regions, calibrationRefused } = await clipOf({ regions: [other] });
    expect(regions).toEqual([]);
    expect(calibrationRefused).toBeNull();
  });

  it('uses Pixel Spacing, row first, if there is no region', async () => {
    const { regions } = await clipOf({ extra: [spacing] });
    expect(regions[0]).toMatchObject({ scale: { x: 0.3, y: 0.4 }, source: 'pixel-spacing' });
  });

  it("prefers the header to the user's scale, which is used if the header has none", async () => {
    expect((await clipOf({ regions: [region()] }, 0.25)).regions[0]?.source).toBe('region');
    expect((await clipOf({}, 0.25)).regions[0]).toMatchObject({
      scale: { x: 0.25, y: 0.25 },
      source: 'user',
    });
  });

  it('gives each of two images side by side its own scale, and none across them', async () => {
    const left = region({ maxX: 1 });
    const right = region({ minX: 2, deltaX: 0.1, deltaY: 0.1 });
    const clip = await clipOf({ regions: [left, right] });
    expect(scaleFor(clip, [{ x: 0, y: 0 }])?.scale.x).toBeCloseTo(0.5, 12);
    expect(scaleFor(clip, [{ x: 3, y: 1 }])?.scale.x).toBeCloseTo(1, 12);
    expect(
      scaleFor(clip, [
        { x: 0, y: 0 },
        { x: 3, y: 1 },
      ]),
    ).toBeNull();
  });
});
