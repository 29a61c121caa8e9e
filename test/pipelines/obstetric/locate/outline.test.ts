import { describe, expect, it } from 'vitest';
import type { Ellipse } from '../../../../pipelines/contract/image.ts';
import { distanceToEllipse } from '../../../../pipelines/obstetric/locate/ellipse-fit.ts';
import { outlineOfMask } from '../../../../pipelines/obstetric/locate/outline.ts';

const WIDTH = 256;
const HEIGHT = 192;
const IDENTITY = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };
const HEAD: Ellipse = { centre: { x: 130.3, y: 92.8 }, a: 80, b: 62, angle: 0.3 };

/** A mask that falls from 1 to 0 over `softness` pixels at the border of each ellipse. */
function maskOf(ellipses: readonly Ellipse[], softness: number, height = 1) {
  const values = Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) => {
    const point = { x: i % WIDTH, y: Math.floor(i / WIDTH) };
    const inside = ellipses.map((e) => 0.5 - distanceToEllipse(e, point) / softness);
    return height * Math.min(1, Math.max(0, ...inside));
  });
  return { width: WIDTH, height: HEIGHT, values };
}

describe('outlineOfMask', () => {
  it.each([1, 4])('finds the border of a mask %d pixels soft to a tenth of a pixel', (softness) => {
    const found = outlineOfMask(maskOf([HEAD], softness), IDENTITY, 0.9);
    expect(Math.abs((found?.ellipse.a ?? 0) - HEAD.a)).toBeLessThan(0.1);
    expect(Math.abs((found?.ellipse.b ?? 0) - HEAD.b)).toBeLessThan(0.1);
    expect(found?.ellipse.centre.x).toBeCloseTo(HEAD.centre.x, 1);
    expect(found?.ellipse.angle).toBeCloseTo(HEAD.angle, 2);
    expect(found?.confidence).toBeGreaterThan(0.97);
  });

  it('finds the whole ellipse when the image cuts a part of it off', () => {
    const cut: Ellipse = { ...HEAD, centre: { x: 130, y: 50 } };
    const found = outlineOfMask(maskOf([cut], 1), IDENTITY, 0.9);
    expect(Math.abs((found?.ellipse.b ?? 0) - HEAD.b)).toBeLessThan(0.5);
    expect(found?.boundary.every(({ y }) => y > 0)).toBe(true);
  });

  it('takes the larger of two regions and trusts it less', () => {
    const second: Ellipse = { centre: { x: 230, y: 30 }, a: 20, b: 20, angle: 0 };
    const alone = outlineOfMask(maskOf([HEAD], 1), IDENTITY, 0.9);
    const beside = outlineOfMask(maskOf([HEAD, second], 1), IDENTITY, 0.9);
    expect(beside?.ellipse.a).toBeCloseTo(HEAD.a, 0);
    expect(beside?.confidence).toBeLessThan(alone?.confidence ?? 0);
  });

  it('trusts an undecided mask less, and accepts it only at or above the gate', () => {
    const undecided = maskOf([HEAD], 1, 0.7);
    const confidence = outlineOfMask(undecided, IDENTITY, 0)?.confidence ?? 0;
    expect(confidence).toBeLessThan(0.9);
    expect(outlineOfMask(undecided, IDENTITY, confidence)?.accepted).toBe(true);
    expect(outlineOfMask(undecided, IDENTITY, confidence + 1e-6)?.accepted).toBe(false);
  });

  it('gives nothing for an empty mask', () => {
    expect(outlineOfMask(maskOf([HEAD], 1, 0.4), IDENTITY, 0)).toBeNull();
  });

  it('answers in pixels of the source image', () => {
    const placement = { scaleX: 0.5, scaleY: 0.5, offsetX: 28, offsetY: 0 };
    const found = outlineOfMask(maskOf([HEAD], 1), placement, 0.9);
    expect(Math.abs((found?.ellipse.a ?? 0) - 2 * HEAD.a)).toBeLessThan(0.2);
    expect(found?.ellipse.centre.x).toBeCloseTo((HEAD.centre.x + 0.5 - 28) * 2 - 0.5, 0);
  });
});
