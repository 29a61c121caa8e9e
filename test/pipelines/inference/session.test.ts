import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { readRegistry } from '../../../pipelines/inference/model-registry.ts';
import { openSession } from '../../../pipelines/inference/session.ts';
import { freeMemory } from '../../../src/platform/free-memory.ts';

const CPU = { provider: 'cpu', threads: 1 } as const;

/** Returns the same image as models/training/half_precision.py uses: a bright ring on a ramp. */
function ringImage(width: number, height: number): Float32Array {
  return Float32Array.from({ length: width * height }, (_, i) => {
    const x = i % width;
    const y = Math.floor(i / width);
    const radius = Math.hypot((x - 130) / 80, (y - 95) / 60);
    return 0.8 * Math.exp(-(((radius - 1) / 0.06) ** 2)) + (0.2 * x) / width;
  });
}

const models = await readRegistry();

describe.each(models.map((model) => [model.id, model] as const))(
  'session of %s',
  async (_, model) => {
    const session = await openSession(model, CPU);
    afterAll(() => session.close());
    const image = ringImage(model.input.width, model.input.height);

    it('returns what PyTorch returned at the export', async () => {
      const file = new URL(`../../../models/${model.id}/reference-output.json`, import.meta.url);
      const reference: { every: number; values: number[] } = JSON.parse(
        await readFile(file, 'utf8'),
      );
      const [answer = new Float32Array()] = await session.run([image]);
      reference.values.forEach((value, i) => {
        expect(Math.abs((answer[i * reference.every] ?? Number.NaN) - value)).toBeLessThan(1e-3);
      });
    });

    it('returns for each image of a batch the same as for that image alone', async () => {
      const dark = image.map((value) => value / 2);
      const [, second = new Float32Array()] = await session.run([image, dark]);
      const [alone = new Float32Array()] = await session.run([dark]);
      const difference = second.reduce(
        (largest, value, i) => Math.max(largest, Math.abs(value - (alone[i] ?? 1e9))),
        0,
      );
      expect(difference).toBeLessThan(1e-3);
    });

    it('returns the same twice, to the last bit', async () => {
      expect(await session.run([image])).toEqual(await session.run([image]));
    });

    it('runs again after its outputs have been freed', async () => {
      const outputs = await session.run([image, image]);
      const copy = outputs.map((one) => one.slice());
      freeMemory(outputs);
      expect(outputs.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
      expect(await session.run([image, image])).toEqual(copy);
    });

    it('returns nothing for no images', async () => {
      expect(await session.run([])).toEqual([]);
    });
  },
);

describe('provider', () => {
  it('with auto is one that agrees with the CPU', async () => {
    const [model] = models;
    if (!model) throw new Error('empty registry');
    const image = ringImage(model.input.width, model.input.height);
    const cpu = await openSession(model, CPU);
    const auto = await openSession(model, { provider: 'auto', threads: 1 });
    const [expected = new Float32Array()] = await cpu.run([image]);
    const [found = new Float32Array()] = await auto.run([image]);
    const difference = Math.max(...expected.map((value, i) => Math.abs(value - (found[i] ?? 1e9))));
    expect(difference).toBeLessThan(1e-2);
    await cpu.close();
    await auto.close();
  });

  it('is the CPU unless the setting says auto', async () => {
    const [model] = models;
    if (!model) throw new Error('empty registry');
    const session = await openSession(model, CPU);
    expect(session.provider).toBe('cpu');
    await session.close();
  });
});
