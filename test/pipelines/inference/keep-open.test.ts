import { expect, it } from 'vitest';
import { keepOpen } from '../../../pipelines/inference/keep-open.ts';
import { fakeSession, smallModel } from './fake-networks.ts';

const CPU = { provider: 'cpu', threads: 1 } as const;
const model = await smallModel();

it('opens a model once for the studies of a process, even if two need it at once', async () => {
  let opened = 0;
  const open = keepOpen(async (one) => {
    opened += 1;
    return fakeSession(one);
  });
  const [first, second] = await Promise.all([open(model, CPU), open(model, CPU)]);
  expect(first).toBe(second);
  expect(await open(model, CPU)).toBe(first);
  expect(opened).toBe(1);
});

it('opens it again for other settings or for another file of the model', async () => {
  const open = keepOpen(async (one) => fakeSession(one));
  const first = await open(model, CPU);
  expect(await open(model, { ...CPU, threads: 2 })).not.toBe(first);
  expect(await open({ ...model, sha256: 'other' }, CPU)).not.toBe(first);
});

it('reports a failure, and tries again for the next study', async () => {
  let tries = 0;
  const open = keepOpen(async (one) => {
    tries += 1;
    if (tries === 1) throw new Error('no memory');
    return fakeSession(one);
  });
  await expect(open(model, CPU)).rejects.toThrow('no memory');
  expect((await open(model, CPU)).model).toBe(model);
});
