import { subscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import {
  ACCELERATOR_REFUSAL,
  type AcceleratorRefusalOfModel,
} from '../../../pipelines/inference/accelerators.ts';
import { networkOpener } from '../../../pipelines/inference/open-network.ts';
import { sessionOpener } from '../../../pipelines/inference/session.ts';
import { fakeLibrary, machineWith, smallModel } from './fake-networks.ts';

const model = await smallModel();
const image = new Float32Array(model.input.width * model.input.height).fill(0.25);
const mean = [Float32Array.of(0.25)];

const told: AcceleratorRefusalOfModel[] = [];
subscribe(ACCELERATOR_REFUSAL.name, (refusal) => told.push(refusal as AcceleratorRefusalOfModel));

async function onAccelerator() {
  const library = fakeLibrary();
  const open = sessionOpener(
    networkOpener({ accelerators: machineWith('webgpu'), load: library.load }),
  );
  const session = await open(model, { provider: 'auto', threads: 1 });
  told.length = 0;
  return { session, library };
}

describe('a model whose accelerator is lost', () => {
  it("returns the processor's output for the failed run, and for later runs", async () => {
    const { session, library } = await onAccelerator();
    expect(await session.run([image])).toEqual(mean);
    expect(session.provider).toBe('webgpu');
    library.behaviours.webgpu = { lost: true };
    expect(await session.run([image])).toEqual(mean);
    expect(session.provider).toBe('cpu');
    library.behaviours.webgpu = {};
    expect(await session.run([image])).toEqual(mean);
    expect(session.provider).toBe('cpu');
    expect(library.open).toEqual(['cpu']);
  });

  it("is logged once, with the library's message", async () => {
    const { session, library } = await onAccelerator();
    library.behaviours.webgpu = { lost: true };
    await Promise.all([session.run([image]), session.run([image])]);
    await session.run([image]);
    expect(told).toEqual([
      { model: model.id, accelerator: 'webgpu', why: 'failed', detail: 'device lost' },
    ]);
  });

  it("releases the processor's session in its place", async () => {
    const { session, library } = await onAccelerator();
    library.behaviours.webgpu = { lost: true };
    await session.run([image]);
    await session.close();
    expect(library.open).toEqual([]);
  });

  it('throws what the processor throws, when that fails too', async () => {
    const { session, library } = await onAccelerator();
    library.behaviours.webgpu = { lost: true };
    library.behaviours.cpu = { broken: true };
    await expect(session.run([image])).rejects.toThrow('cpu does not load');
  });

  it('opens the processor again at the next run, if that failed the first time', async () => {
    const { session, library } = await onAccelerator();
    library.behaviours.webgpu = { lost: true };
    library.behaviours.cpu = { broken: true };
    await expect(session.run([image])).rejects.toThrow('cpu does not load');
    library.behaviours.cpu = {};
    await expect(session.run([image])).resolves.toHaveLength(1);
    expect(told).toMatchObject([{ accelerator: 'webgpu', detail: 'device lost' }]);
    await session.close();
    expect(library.open).toEqual([]);
  });
});
