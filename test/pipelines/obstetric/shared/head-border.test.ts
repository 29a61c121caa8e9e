import { describe, expect, it } from 'vitest';
import type { Ellipse, GrayImage } from '../../../../pipelines/contract/image.ts';
import type { ModelSession } from '../../../../pipelines/inference/session.ts';
import { distanceToEllipse } from '../../../../pipelines/measure/ellipse-fit.ts';
import { refineHeads } from '../../../../pipelines/obstetric/shared/head-border.ts';

const WIDTH = 128;
const HEIGHT = 64;
const ANGLES = 32;

const TRUE: Ellipse = { centre: { x: 300.4, y: 229.7 }, a: 151, b: 112, angle: 0.3 };

const image: GrayImage = {
  width: 640,
  height: 480,
  data: Uint8Array.from({ length: 640 * 480 }, (_, i) => {
    const point = { x: i % 640, y: Math.floor(i / 640) };
    return 40 + 180 * Math.min(1, Math.max(0, 0.5 - distanceToEllipse(TRUE, point)));
  }),
};

/** Returns the offset at which a column of the strip becomes dark, as a share of the radius. */
function edgeOf(strip: Float32Array, column: number): number {
  const levels = Array.from({ length: HEIGHT }, (_, row) => strip[row * WIDTH + column] ?? 0);
  const bright = levels.reduce((sum, level) => sum + (level * 255 - 40) / 180, 0);
  return (0.5 * bright) / HEIGHT - 0.25;
}

/** Returns a model that answers with the edges in the strip. `spoilt` answers are not trusted. */
function edgeModel({ spoilt = [] as number[], asked = [] as number[] } = {}): ModelSession {
  const run = async (strips: readonly Float32Array[]) => {
    asked.push(strips.length);
    return strips.map((strip) =>
      Float32Array.from({ length: 2 * ANGLES }, (_, i) => {
        const angle = i % ANGLES;
        const isSpoilt = spoilt.includes(angle);
        if (i >= ANGLES) return isSpoilt ? -20 : 0;
        return isSpoilt ? 0.02 : edgeOf(strip, (angle * WIDTH) / ANGLES);
      }),
    );
  };
  return { model: { input: { width: WIDTH, height: HEIGHT } }, run } as unknown as ModelSession;
}

const outline = (ellipse: Ellipse) => ({ ellipse, boundary: [], confidence: 0.97, accepted: true });
const OFF: Ellipse = { centre: { x: 303, y: 228 }, a: 154, b: 110, angle: 0.33 };

describe('refineHeads', () => {
  it('moves an outline to the border in the image, in every direction', async () => {
    const [found] = await refineHeads(edgeModel(), [image], [outline(OFF)]);
    const ellipse = found?.ellipse ?? OFF;
    expect(ellipse.centre.x).toBeCloseTo(TRUE.centre.x, 0);
    expect(ellipse.centre.y).toBeCloseTo(TRUE.centre.y, 0);
    expect(Math.abs(ellipse.a - TRUE.a)).toBeLessThan(0.3);
    expect(Math.abs(ellipse.b - TRUE.b)).toBeLessThan(0.3);
    expect(Math.abs(ellipse.angle - TRUE.angle)).toBeLessThan(0.01);
  });

  it('leaves an outline on the border where it is', async () => {
    const [found] = await refineHeads(edgeModel(), [image], [outline(TRUE)]);
    expect(Math.abs((found?.ellipse.a ?? 0) - TRUE.a)).toBeLessThan(0.2);
    expect(Math.abs((found?.ellipse.b ?? 0) - TRUE.b)).toBeLessThan(0.2);
  });

  it('hardly follows angles that the model does not trust', async () => {
    const [trusted] = await refineHeads(edgeModel(), [image], [outline(TRUE)]);
    const [found] = await refineHeads(edgeModel({ spoilt: [3, 4, 20] }), [image], [outline(TRUE)]);
    expect(Math.abs((found?.ellipse.a ?? 0) - (trusted?.ellipse.a ?? 0))).toBeLessThan(0.1);
    expect(Math.abs((found?.ellipse.b ?? 0) - (trusted?.ellipse.b ?? 0))).toBeLessThan(0.1);
  });

  it('leaves the gate to the outline, and asks for nothing where no head was found', async () => {
    const asked: number[] = [];
    const withheld = { ...outline(OFF), confidence: 0.5, accepted: false };
    const found = await refineHeads(edgeModel({ asked }), [image, image], [null, withheld]);
    expect(found).toEqual([null, expect.objectContaining({ confidence: 0.5, accepted: false })]);
    expect(asked).toEqual([2]);
  });
});
