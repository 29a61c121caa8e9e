import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { hc18Cases, readGray } from '../../../models/evaluation/cases.ts';
import { simulateFrame } from '../../../models/phantom/frame.ts';
import type { Plane as PhantomPlane } from '../../../models/phantom/labels.ts';
import { sizesAt } from '../../../models/phantom/sizes.ts';
import { distance, perimeter } from '../../../pipelines/measure/ellipse.ts';
import { median } from '../../../pipelines/measure/statistics.ts';
import { openLocator } from '../../../pipelines/obstetric/open-locator.ts';

const locator = await openLocator({ provider: 'cpu', threads: 1, allow: 'permissive' });
afterAll(() => locator.close());

const GA_DAYS = 28 * 7;

function phantoms(plane: PhantomPlane, count: number) {
  return Array.from({ length: count }, (_, i) => {
    const frame = simulateFrame({ plane, sizes: sizesAt(GA_DAYS), seed: 4000 + i });
    const { columns: width, rows: height, gray, truth } = frame;
    return { image: { width, height, data: Uint8Array.from(gray) }, truth };
  });
}

/** Returns the median relative error. It tolerates one bad frame but reveals a failing model. */
const middle = (errors: number[]) => median(errors.map(Math.abs));

describe('the locator on phantoms of 28 weeks', () => {
  it('measures head circumference within 3 %', async () => {
    const frames = phantoms('transthalamic', 5);
    const outlines = await locator.head?.(frames.map(({ image }) => image));
    const errors = frames.map(({ truth }, i) => {
      const ellipse = outlines?.[i]?.ellipse;
      const hc = ellipse ? perimeter(ellipse.a, ellipse.b) * truth.mmPerPixel : 0;
      return hc / (truth.head?.hcMm ?? Number.NaN) - 1;
    });
    expect(middle(errors)).toBeLessThan(0.03);
  });

  it('measures abdominal circumference within 5 %', async () => {
    const frames = phantoms('abdominal', 5);
    const outlines = await locator.abdomen?.(frames.map(({ image }) => image));
    const errors = frames.map(({ truth }, i) => {
      const ellipse = outlines?.[i]?.ellipse;
      const ac = ellipse ? perimeter(ellipse.a, ellipse.b) * truth.mmPerPixel : 0;
      return ac / (truth.abdomen?.acMm ?? Number.NaN) - 1;
    });
    expect(middle(errors)).toBeLessThan(0.05);
  });

  it('measures femur length within 5 %', async () => {
    const frames = phantoms('femur', 5);
    const femora = await locator.femur?.(frames.map(({ image }) => image));
    const errors = frames.map(({ truth }, i) => {
      const ends = femora?.[i]?.ends;
      const scale = { x: truth.mmPerPixel, y: truth.mmPerPixel };
      const length = ends ? distance(...ends, scale) : 0;
      return length / (truth.femur?.flMm ?? Number.NaN) - 1;
    });
    expect(middle(errors)).toBeLessThan(0.05);
  });

  it.each(['abdominal', 'femur'] as const)('identifies the %s plane', async (plane) => {
    const frames = phantoms(plane, 4);
    const estimates = (await locator.planes?.(frames.map(({ image }) => image))) ?? [];
    const right = estimates.filter(({ label }) => label === plane);
    expect(right.length).toBeGreaterThanOrEqual(3);
  });
});

describe('the locator on images without a plane', () => {
  it('classifies a blank image and a grey one as other', async () => {
    const flat = (level: number) => ({
      width: 640,
      height: 480,
      data: new Uint8Array(640 * 480).fill(level),
    });
    const estimates = await locator.planes?.([flat(0), flat(128)]);
    expect(estimates?.map(({ label }) => label)).toEqual(['other', 'other']);
  });

  it('accepts no outline and no femur on a blank image', async () => {
    const blank = { width: 640, height: 480, data: new Uint8Array(640 * 480) };
    for (const find of [locator.head, locator.abdomen, locator.femur]) {
      const [found] = (await find?.([blank])) ?? [];
      expect(found?.accepted ?? false).toBe(false);
    }
  });
});

const DATA = '../shared/data';

describe('the locator on real heads', () => {
  it.skipIf(!existsSync(`${DATA}/hc18`))(
    'measures head circumference of held-out hc18 images within 3 mm on average (needs ../shared/data)',
    async () => {
      // The list begins with the earliest pregnancies, so every tenth case is a representative
      // sample.
      const cases = (await hc18Cases(DATA, 'test')).filter((_, i) => i % 10 === 0);
      const errors: number[] = [];
      for (const { path, mmPerPixel = Number.NaN, referenceMm = Number.NaN } of cases) {
        const [outline] = (await locator.head?.([await readGray(path)])) ?? [];
        if (!outline?.accepted) continue;
        const { a, b } = outline.ellipse;
        errors.push(Math.abs(perimeter(a, b) * mmPerPixel - referenceMm));
      }
      expect(errors.length).toBeGreaterThan(12);
      expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(3);
    },
  );
});
