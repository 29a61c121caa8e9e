import { describe, expect, it } from 'vitest';
import { filledPolygon } from '../../../../pipelines/artifacts/seg/outlined-structures.ts';
import type { ModelSession } from '../../../../pipelines/inference/session.ts';
import { locateTransperineal } from '../../../../pipelines/obstetric/labor-progress/locate.ts';

const SIZE = 64;
const GATE = 0.8;
/** The image is fully lit and twice as large as the network's input. */
const IMAGE = {
  width: 2 * SIZE,
  height: 2 * SIZE,
  data: new Uint8Array(4 * SIZE * SIZE).fill(90),
};

/**
 * Returns a map that is `level` within a shape, with coordinates relative to the middle of the
 * input.
 */
const shape = (inside: (x: number, y: number) => boolean, level = 1) =>
  Float32Array.from({ length: SIZE * SIZE }, (_, i) =>
    inside((i % SIZE) - 31.5, Math.floor(i / SIZE) - 31.5) ? level : 0,
  );
const disc = (radius: number, level = 1) => shape((x, y) => Math.hypot(x, y) < radius, level);
const NOTHING = disc(0);

function sessionOf(symphysis: Float32Array, head: Float32Array): ModelSession {
  const answer = Float32Array.from([...symphysis, ...head]);
  return {
    model: {
      id: 'symphysis-head',
      input: { width: SIZE, height: SIZE },
      output: { channels: ['symphysis', 'head'] },
      gate: GATE,
    },
    batch: 1,
    provider: 'cpu',
    run: async (inputs: readonly Float32Array[]) => inputs.map(() => answer.slice()),
    close: async () => {},
  } as unknown as ModelSession;
}

async function located(symphysis: Float32Array, head: Float32Array) {
  const [found] = await locateTransperineal(sessionOf(symphysis, head), [IMAGE]);
  if (!found) throw new Error('no answer');
  return found;
}

describe('the border of a structure', () => {
  it("is the mask's in pixels of the image, not the ellipse's", async () => {
    const square = shape((x, y) => Math.max(Math.abs(x), Math.abs(y)) < 16);
    const { borders } = await located(disc(6), square);
    const border = (borders['fetal-head']?.border ?? []).map(({ x, y }): [number, number] => [
      x,
      y,
    ]);
    const pixels = filledPolygon(border, IMAGE.width, IMAGE.height);
    const area = pixels.reduce((sum, pixel) => sum + pixel, 0);
    // 32 by 32 pixels of the input are 64 by 64 of the image. An ellipse would lose the corners.
    expect(area / (64 * 64)).toBeGreaterThan(0.97);
    expect(area / (64 * 64)).toBeLessThan(1.01);
  });

  it('is returned for a head alone, which has no pair and no angle', async () => {
    const { pair, borders } = await located(NOTHING, disc(16));
    expect(pair).toBeNull();
    expect(Object.keys(borders)).toEqual(['fetal-head']);
    expect(borders['fetal-head']?.accepted).toBe(true);
  });

  it('is accepted separately even if the other structure of the pair is not', async () => {
    const { pair, borders } = await located(disc(8, 0.55), disc(16));
    expect(pair?.accepted).toBe(false);
    expect([borders.symphysis?.accepted, borders['fetal-head']?.accepted]).toEqual([false, true]);
  });

  it('is not returned if nothing is inside', async () => {
    expect(await located(NOTHING, NOTHING)).toEqual({ pair: null, borders: {} });
  });
});

describe('a bladder joined to the head', () => {
  it('is left out: the head is one convex ellipse', async () => {
    const lobes = shape((x, y) => Math.hypot(x, y - 8) < 18 || Math.hypot(x, y + 16) < 9);
    const { pair, borders } = await located(disc(6), lobes);
    const border = borders['fetal-head']?.border ?? [];
    // The input shows the image at half its size, so the middle of the head is at (31.5, 39.5) in
    // the input.
    const farthest = Math.max(...border.map(({ x, y }) => Math.hypot(x - 63.5, y - 79.5)));
    expect(farthest).toBeLessThan(2 * 18 * 1.12);
    expect(pair?.head.a).toBeLessThan(2 * 18 * 1.12);
  });
});

describe('the axis of the symphysis', () => {
  const bar = (degrees: number) => {
    const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    return shape((x, y) => Math.hypot((x * cos + y * sin) / 2, y * cos - x * sin) < 6);
  };

  async function looked(first: number, closer: number) {
    const session = sessionOf(bar(first), disc(16));
    let calls = 0;
    const run: ModelSession['run'] = async (inputs) => {
      calls += 1;
      const angle = calls === 1 ? first : closer;
      return inputs.map(() => Float32Array.from([...bar(angle), ...disc(16)]));
    };
    const [found] = await locateTransperineal({ ...session, run }, [IMAGE]);
    return found?.pair?.accepted;
  }

  it('is accepted if a closer look agrees with the first, and not if it differs', async () => {
    expect(await looked(0, 0)).toBe(true);
    expect(await looked(0, 90)).toBe(false);
  });
});
