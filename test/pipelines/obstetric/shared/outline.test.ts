import { describe, expect, it } from 'vitest';
import type { Ellipse } from '../../../../pipelines/contract/image.ts';
import type { ModelSession } from '../../../../pipelines/inference/session.ts';
import { distanceToEllipse } from '../../../../pipelines/measure/ellipse-fit.ts';
import { locateOutline, outlineOfMask } from '../../../../pipelines/obstetric/shared/outline.ts';

const WIDTH = 256;
const HEIGHT = 192;
const IDENTITY = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };
const HEAD: Ellipse = { centre: { x: 130.3, y: 92.8 }, a: 80, b: 62, angle: 0.3 };

/** Returns a mask that falls from 1 to 0 over `softness` pixels at the border of each ellipse. */
function maskOf(ellipses: readonly Ellipse[], softness: number, height = 1) {
  const values = Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) => {
    const point = { x: i % WIDTH, y: Math.floor(i / WIDTH) };
    const inside = ellipses.map((e) => 0.5 - distanceToEllipse(e, point) / softness);
    return height * Math.min(1, Math.max(0, ...inside));
  });
  return { width: WIDTH, height: HEIGHT, values };
}

describe('outlineOfMask', () => {
  it.each([1, 4])(
    'finds the border of a mask with a blur of %d pixels to a tenth of a pixel',
    (softness) => {
      const found = outlineOfMask(maskOf([HEAD], softness), IDENTITY, 0.9);
      expect(Math.abs((found?.ellipse.a ?? 0) - HEAD.a)).toBeLessThan(0.1);
      expect(Math.abs((found?.ellipse.b ?? 0) - HEAD.b)).toBeLessThan(0.1);
      expect(found?.ellipse.centre.x).toBeCloseTo(HEAD.centre.x, 1);
      expect(found?.ellipse.angle).toBeCloseTo(HEAD.angle, 2);
      expect(found?.confidence).toBeGreaterThan(0.97);
    },
  );

  it('finds the whole ellipse even if the image cuts off a part of it', () => {
    const cut: Ellipse = { ...HEAD, centre: { x: 130, y: 50 } };
    const found = outlineOfMask(maskOf([cut], 1), IDENTITY, 0.9);
    expect(Math.abs((found?.ellipse.b ?? 0) - HEAD.b)).toBeLessThan(0.5);
    expect(found?.boundary.every(({ y }) => y > 0)).toBe(true);
  });

  it('returns the larger of two regions, with less confidence', () => {
    const second: Ellipse = { centre: { x: 230, y: 30 }, a: 20, b: 20, angle: 0 };
    const alone = outlineOfMask(maskOf([HEAD], 1), IDENTITY, 0.9);
    const beside = outlineOfMask(maskOf([HEAD, second], 1), IDENTITY, 0.9);
    expect(beside?.ellipse.a).toBeCloseTo(HEAD.a, 0);
    expect(beside?.confidence).toBeLessThan(alone?.confidence ?? 0);
  });

  it('has less confidence in an undecided mask, and accepts it only at or above the gate', () => {
    const undecided = maskOf([HEAD], 1, 0.7);
    const confidence = outlineOfMask(undecided, IDENTITY, 0)?.confidence ?? 0;
    expect(confidence).toBeLessThan(0.9);
    expect(outlineOfMask(undecided, IDENTITY, confidence)?.accepted).toBe(true);
    expect(outlineOfMask(undecided, IDENTITY, confidence + 1e-6)?.accepted).toBe(false);
  });

  it('returns nothing for an empty mask', () => {
    expect(outlineOfMask(maskOf([HEAD], 1, 0.4), IDENTITY, 0)).toBeNull();
  });

  it('returns pixels of the source image', () => {
    const placement = { scaleX: 0.5, scaleY: 0.5, offsetX: 28, offsetY: 0 };
    const found = outlineOfMask(maskOf([HEAD], 1), placement, 0.9);
    expect(Math.abs((found?.ellipse.a ?? 0) - 2 * HEAD.a)).toBeLessThan(0.2);
    expect(found?.ellipse.centre.x).toBeCloseTo((HEAD.centre.x + 0.5 - 28) * 2 - 0.5, 0);
  });
});

/**
 * Returns a model that treats everything bright as the structure. `asked` records the number of
 * images in each run.
 */
function brightnessModel(asked: number[], task = 'fetal-head'): ModelSession {
  const model = {
    task,
    input: { width: WIDTH, height: HEIGHT },
    gate: 0.9,
    output: { channels: ['mask'] },
  };
  const run = async (inputs: readonly Float32Array[]) => {
    asked.push(inputs.length);
    return inputs.map((pixels) => pixels.map((level) => Math.min(1, Math.max(0, 3 * level - 1.3))));
  };
  return { model, run } as unknown as ModelSession;
}

/** Returns a bright ellipse on a grey image without any black. */
function brightEllipse(ellipse: Ellipse, width = 1024, height = 768) {
  const data = Uint8Array.from({ length: width * height }, (_, i) => {
    const point = { x: i % width, y: Math.floor(i / width) };
    return 60 + 180 * Math.min(1, Math.max(0, 0.5 - distanceToEllipse(ellipse, point)));
  });
  return { width, height, data };
}

describe('locateOutline', () => {
  const centre = { x: 700.2, y: 300.7 };
  it.each([
    ['takes half of the input: looked at once', { a: 258, b: 190 }, [2]],
    ['takes less: looked at twice again, enlarged', { a: 254, b: 190 }, [2, 2, 2]],
    ['is the size of a stamp', { a: 60, b: 45 }, [2, 2, 2]],
  ])('an outline that %s', async (_, axes, runs) => {
    const asked: number[] = [];
    const ellipse = { centre, ...axes, angle: 0 };
    const [found] = await locateOutline(brightnessModel(asked), [brightEllipse(ellipse)]);
    expect(asked).toEqual(runs);
    expect(Math.abs((found?.ellipse.centre.x ?? 0) - centre.x)).toBeLessThan(0.5);
    expect(Math.abs((found?.ellipse.centre.y ?? 0) - centre.y)).toBeLessThan(0.5);
    expect(Math.abs((found?.ellipse.a ?? 0) - axes.a)).toBeLessThan(1);
    expect(found?.boundary.every(({ x }) => x > centre.x - axes.a - 3)).toBe(true);
  });

  it('examines only the small ones of several images again, each at its own place', async () => {
    const asked: number[] = [];
    const small = { centre: { x: 120, y: 600 }, a: 60, b: 45, angle: 0 };
    const large = { centre: { x: 512, y: 384 }, a: 300, b: 220, angle: 0 };
    const images = [small, large].map((one) => brightEllipse(one));
    const [first, second] = await locateOutline(brightnessModel(asked), images);
    expect(asked).toEqual([4, 2, 2]);
    expect(Math.abs((first?.ellipse.centre.y ?? 0) - 600)).toBeLessThan(0.5);
    expect(Math.abs((second?.ellipse.centre.x ?? 0) - 512)).toBeLessThan(0.5);
  });
});

describe('a small head whose two looks agree', () => {
  const image = brightEllipse({ centre: { x: 700, y: 300 }, a: 60, b: 45, angle: 0 });
  const located = async (gate: number) => {
    const session = brightnessModel([]);
    const [found] = await locateOutline({ ...session, model: { ...session.model, gate } }, [image]);
    if (!found) throw new Error('no outline');
    return found;
  };

  it.each([
    [0.0099, true],
    [0.0101, false],
  ])('is accepted with a mean confidence %s below the gate: %s', async (below, accepted) => {
    const { confidence } = await located(0);
    expect((await located(confidence + below)).accepted).toBe(accepted);
  });
});

describe('locateOutline of an abdomen', () => {
  const ellipse = { centre: { x: 500, y: 380 }, a: 300, b: 250, angle: 0.2 };

  it('runs twice more, whatever the size, and fits the ellipse to both borders', async () => {
    const asked: number[] = [];
    const model = brightnessModel(asked, 'fetal-abdomen');
    const [found] = await locateOutline(model, [brightEllipse(ellipse)]);
    expect(asked).toEqual([2, 2, 2]);
    expect(found?.accepted).toBe(true);
    expect(Math.abs((found?.ellipse.a ?? 0) - ellipse.a)).toBeLessThan(1);
    expect(Math.abs((found?.ellipse.b ?? 0) - ellipse.b)).toBeLessThan(1);
  });

  it('does not accept two results that differ, however certain each of them is', async () => {
    // Returns the same disc for every input, so the ellipse follows the crop and not the image.
    const disc = maskOf([{ centre: { x: 127.5, y: 95.5 }, a: 60, b: 60, angle: 0 }], 1).values;
    const session = {
      ...brightnessModel([], 'fetal-abdomen'),
      run: async (all: readonly unknown[]) => all.map(() => disc.slice()),
    };
    const [found] = await locateOutline(session, [brightEllipse(ellipse)]);
    expect(found?.confidence).toBeGreaterThan(0.95);
    expect(found?.accepted).toBe(false);
  });
});
