import { describe, expect, it } from 'vitest';
import type { InferenceSettings, Provider } from '../../../pipelines/inference/open-network.ts';
import type { OpenSession } from '../../../pipelines/inference/session.ts';
import { overThreads } from '../../../pipelines/inference/threads.ts';
import { machineWith, smallModel } from './fake-networks.ts';

const model = await smallModel();

/**
 * Returns a thread that opens its models on `accelerated`, unless they must run on the processor.
 */
function thread(accelerated: Provider) {
  const open: Provider[] = [];
  const opener: OpenSession = async (_, settings) => {
    const provider = settings.provider === 'cpu' ? 'cpu' : accelerated;
    open.push(provider);
    return {
      model,
      provider,
      batch: 1,
      run: async () => [],
      close: async () => {
        open.splice(open.indexOf(provider), 1);
      },
    };
  };
  return { open, opener };
}

async function fourModels(
  accelerated: Provider,
  accelerators: ReturnType<typeof machineWith>,
  provider: InferenceSettings['provider'] = 'auto',
) {
  const threads = [thread(accelerated), thread(accelerated)] as const;
  const open = overThreads([threads[0].opener, threads[1].opener], accelerators);
  for (let n = 0; n < 4; n++) await open(model, { provider, threads: 1 });
  return threads.map((one) => one.open);
}

describe('models over two threads', () => {
  it('take turns on a machine without an accelerator', async () => {
    expect(await fourModels('cpu', machineWith())).toEqual([
      ['cpu', 'cpu'],
      ['cpu', 'cpu'],
    ]);
  });

  it('are all on the first if they run on an accelerator, which only one thread may use', async () => {
    expect(await fourModels('webgpu', machineWith('webgpu'))).toEqual([
      ['webgpu', 'webgpu', 'webgpu', 'webgpu'],
      [],
    ]);
  });

  it('take turns when the accelerator is not used', async () => {
    expect(await fourModels('cpu', machineWith('webgpu'))).toEqual([
      ['cpu', 'cpu'],
      ['cpu', 'cpu'],
    ]);
  });

  it('take turns when the processor is asked for', async () => {
    expect(await fourModels('webgpu', machineWith('webgpu'), 'cpu')).toEqual([
      ['cpu', 'cpu'],
      ['cpu', 'cpu'],
    ]);
  });
});
