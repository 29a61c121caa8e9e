import { describe, expect, it } from 'vitest';
import { discVolume } from '../../../pipelines/echo/formulas.ts';
import { chamberAxis, discDiameters } from '../../../pipelines/measure/chamber.ts';
import { areaOf, contains, outlineOf } from '../../../pipelines/measure/outline.ts';
import { ventricleOutlines } from '../echo/ventricle-sample.ts';

const SIZE = 200;

function mask(inside: (x: number, y: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: SIZE * SIZE }, (_, i) =>
    inside(i % SIZE, Math.floor(i / SIZE)) ? 1 : 0,
  );
}

describe('the outline of a mask', () => {
  it('encloses as much area as the mask has pixels: a disc of radius 50 to within 0.5 %', () => {
    const disc = mask((x, y) => Math.hypot(x - 100, y - 90) <= 50);
    const outline = outlineOf(disc, SIZE) ?? [];
    expect(areaOf(outline) / (Math.PI * 50 * 50)).toBeCloseTo(1, 2);
    expect(contains(outline, { x: 100, y: 90 })).toBe(true);
    expect(contains(outline, { x: 155, y: 90 })).toBe(false);
  });
  it('surrounds the largest region, with its holes filled', () => {
    const outline = outlineOf(
      mask((x, y) => (Math.hypot(x - 60, y - 60) <= 40 && x !== 60) || (x > 150 && y > 150)),
      SIZE,
    );
    // Removing the column leaves two halves, and only the larger one is outlined.
    expect(areaOf(outline ?? [])).toBeGreaterThan(2300);
    expect(areaOf(outline ?? [])).toBeLessThan(2700);
  });
  it('is null for a few pixels', () => {
    expect(
      outlineOf(
        mask((x, y) => x < 5 && y < 5),
        SIZE,
      ),
    ).toBeNull();
  });
});

describe('the long axis', () => {
  const { lv, la, myocardium } = ventricleOutlines({ base: 50, length: 90, wall: 9 });
  it('runs from the middle of the valve plane to the apex: 90 mm', () => {
    const axis = chamberAxis(lv, { across: la, wall: myocardium });
    expect(axis?.length).toBeCloseTo(90, 0);
    expect(axis?.base.x).toBeCloseTo(100, 0);
    expect(axis?.apex).toMatchObject({ y: expect.closeTo(60, 0) });
  });
  it('distinguishes left from right as seen with the apex at the top', () => {
    const hinges = chamberAxis(lv, { across: la, wall: null })?.hinges;
    expect(hinges?.left.x).toBeLessThan(100);
    expect(hinges?.right.x).toBeGreaterThan(100);
  });
  it('is not found if neither a neighbour nor an open wall shows the valve', () => {
    expect(chamberAxis(lv, { across: null, wall: null })).toBeNull();
    const far = la.map(({ x, y }) => ({ x, y: y + 40 }));
    expect(chamberAxis(lv, { across: far, wall: null })).toBeNull();
  });
});

describe('summation of discs', () => {
  it('of half an ellipsoid 5.0 by 9 cm is 117.8 ml (exact 117.81), within 1 %', () => {
    const { lv, la, myocardium } = ventricleOutlines({ base: 50, length: 90, wall: 9 });
    const axis = chamberAxis(lv, { across: la, wall: myocardium });
    if (!axis) throw new Error('no axis');
    const diameters = discDiameters(lv, axis).map((mm) => mm / 10);
    expect(diameters).toHaveLength(20);
    expect(discVolume(diameters, axis.length / 10) / 117.81).toBeCloseTo(1, 2);
  });
});
