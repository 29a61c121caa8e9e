import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { readRegistry } from '../../../pipelines/inference/model-registry.ts';
import { openSession } from '../../../pipelines/inference/session.ts';
import { startInferenceThread } from '../../../pipelines/inference/threads.ts';

const CPU = { provider: 'cpu', threads: 1 } as const;

const open = startInferenceThread();
const [model] = await readRegistry();
if (!model) throw new Error('empty registry');
const { width, height } = model.input;

const image = (seed: number) =>
  Float32Array.from({ length: width * height }, (_, i) => 0.5 + 0.5 * Math.sin(seed + i * 0.37));

describe('a model on a separate thread', async () => {
  const session = await open(model, CPU);
  afterAll(() => session.close());

  it("returns the same output as on the caller's thread, to the last bit", async () => {
    const here = await openSession(model, CPU);
    // One more than a batch, so that the last batch is not full.
    const images = Array.from({ length: here.batch + 1 }, (_, n) => image(n));
    expect(await session.run(images)).toEqual(await here.run(images));
    await here.close();
  });

  it('leaves the images usable for its caller', async () => {
    const own = image(1);
    await session.run([own]);
    expect(own).toEqual(image(1));
  });

  it('keeps several calls apart', async () => {
    const seeds = [1, 2, 3, 4];
    const alone: Float32Array[][] = [];
    for (const seed of seeds) alone.push(await session.run([image(seed)]));
    expect(await Promise.all(seeds.map((seed) => session.run([image(seed)])))).toEqual(alone);
  });

  it('lets its caller work while it runs', async () => {
    let ended = false;
    let turns = 0;
    const running = session.run(Array.from({ length: session.batch }, (_, n) => image(n)));
    const watched = running.finally(() => {
      ended = true;
    });
    while (!ended) {
      await turn();
      turns++;
    }
    await watched;
    // If the model ran on this thread, there would be only two or three turns.
    expect(turns).toBeGreaterThan(100);
  });

  it('reports that it is closed', async () => {
    const closed = await open(model, CPU);
    await closed.close();
    await expect(closed.run([image(1)])).rejects.toThrow();
  });
});

it('refuses a model whose bytes differ from the registered ones', async () => {
  const other = { ...model, sha256: '0'.repeat(64) };
  await expect(open(other, CPU)).rejects.toThrow(/the registry says 0000/);
});
