import { describe, expect, it } from 'vitest';
import type { GrayImage, Point } from '../../../../pipelines/contract/image.ts';
import type { ModelSession } from '../../../../pipelines/inference/session.ts';
import { endsOfMaps, locateFemurEnds } from '../../../../pipelines/obstetric/biometry/locate.ts';

const WIDTH = 256;
const HEIGHT = 192;
const IDENTITY = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };

function mapOf(value: (x: number, y: number) => number) {
  const values = Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) =>
    value(i % WIDTH, Math.floor(i / WIDTH)),
  );
  return { width: WIDTH, height: HEIGHT, values };
}

const bump = (centre: Point, height: number) => (x: number, y: number) =>
  height * Math.exp(-((x - centre.x) ** 2 + (y - centre.y) ** 2) / (2 * 2.5 ** 2));

const LEFT = { x: 60.4, y: 80.7 };
const RIGHT = { x: 190.2, y: 101.3 };
const shaft = mapOf((x, y) => {
  const along = (x - LEFT.x) / (RIGHT.x - LEFT.x);
  const middle = LEFT.y + along * (RIGHT.y - LEFT.y);
  return along >= 0 && along <= 1 && Math.abs(y - middle) < 3 ? 1 : 0;
});

describe('endsOfMaps', () => {
  it('finds both ends to a fifth of a pixel, the left one first', () => {
    const ends = mapOf((x, y) => Math.max(bump(RIGHT, 0.9)(x, y), bump(LEFT, 0.8)(x, y)));
    const found = endsOfMaps(shaft, ends, IDENTITY, 0.5);
    expect(Math.abs((found?.ends[0].x ?? 0) - LEFT.x)).toBeLessThan(0.2);
    expect(Math.abs((found?.ends[0].y ?? 0) - LEFT.y)).toBeLessThan(0.2);
    expect(Math.abs((found?.ends[1].x ?? 0) - RIGHT.x)).toBeLessThan(0.2);
    expect(found?.accepted).toBe(true);
  });

  it('prefers two ends with bone between them to a higher peak at another place', () => {
    const elsewhere = { x: 120, y: 20 };
    const ends = mapOf((x, y) =>
      Math.max(bump(RIGHT, 0.6)(x, y), bump(LEFT, 0.6)(x, y), bump(elsewhere, 0.95)(x, y)),
    );
    const found = endsOfMaps(shaft, ends, IDENTITY, 0.5);
    expect(Math.round(found?.ends[0].x ?? 0)).toBe(60);
    expect(Math.round(found?.ends[1].x ?? 0)).toBe(190);
  });

  it('does not accept ends without bone between them', () => {
    const ends = mapOf((x, y) => Math.max(bump(RIGHT, 0.9)(x, y), bump(LEFT, 0.9)(x, y)));
    const found = endsOfMaps(
      mapOf(() => 0),
      ends,
      IDENTITY,
      0.1,
    );
    expect(found?.accepted ?? false).toBe(false);
  });

  it('returns nothing for one end', () => {
    expect(endsOfMaps(shaft, mapOf(bump(LEFT, 0.9)), IDENTITY, 0)).toBeNull();
  });
});

describe('locateFemurEnds', () => {
  const image: GrayImage = {
    width: WIDTH,
    height: HEIGHT,
    data: Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => {
      const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)];
      const end = Math.max(bump(LEFT, 155)(x, y), bump(RIGHT, 155)(x, y));
      return Math.max(20, 100 * (shaft.values[i] ?? 0) + end);
    }),
  };

  /**
   * A network that sees bone in grey pixels and ends in bright ones. On its first run, which is of
   * the image as it is, it sees everything `beyond` pixels further apart.
   */
  function network(gate: number, beyond: number) {
    const seen: Float32Array[] = [];
    const run: ModelSession['run'] = async (inputs) => {
      const shift = seen.length === 0 ? beyond : 0;
      seen.push(...inputs);
      return inputs.map((pixels) => {
        const maps = new Float32Array(2 * WIDTH * HEIGHT);
        for (let i = 0; i < WIDTH * HEIGHT; i++) {
          const from = (i % WIDTH) - WIDTH / 2 < 0 ? i + shift : i - shift;
          const value = pixels[from] ?? 0;
          maps[i] = value > 0.2 ? 1 : 0;
          maps[WIDTH * HEIGHT + i] = Math.max(0, value - 0.45) / 0.55;
        }
        return maps;
      });
    };
    const model = {
      task: 'fetal-femur',
      gate,
      input: { width: WIDTH, height: HEIGHT },
      output: { channels: ['femur-shaft', 'femur-ends'] },
    };
    return { session: { model, run } as unknown as ModelSession, seen };
  }

  const missedBy = (found: Awaited<ReturnType<typeof locateFemurEnds>>) => {
    const [one, other] = found[0]?.ends ?? [];
    return Math.max(
      Math.hypot((one?.x ?? 0) - LEFT.x, (one?.y ?? 0) - LEFT.y),
      Math.hypot((other?.x ?? 0) - RIGHT.x, (other?.y ?? 0) - RIGHT.y),
    );
  };

  it('takes the median of the ends on the image as it is and turned both ways', async () => {
    const { session, seen } = network(0.5, 6);
    expect(missedBy(await locateFemurEnds(session, [image]))).toBeLessThan(1.5);
    expect(seen).toHaveLength(6);
  });

  it('looks only once at an image without an accepted femur', async () => {
    const { session, seen } = network(1.1, 6);
    const found = await locateFemurEnds(session, [image]);
    expect(found[0]?.accepted).toBe(false);
    expect(missedBy(found)).toBeGreaterThan(4);
    expect(seen).toHaveLength(2);
  });
});
