import { describe, expect, it } from 'vitest';
import { acceleratorsOf, type Host } from '../../../pipelines/inference/accelerators.ts';
import { readRegistry } from '../../../pipelines/inference/model-registry.ts';
import { PROVIDER_TOLERANCE } from '../../../pipelines/inference/open-network.ts';
import { openSession } from '../../../pipelines/inference/session.ts';

const host = (changes: Partial<Host>): Host => ({
  platform: 'linux',
  arch: 'x64',
  environment: {},
  holds: () => false,
  ...changes,
});

const reasons = (changes: Partial<Host>) =>
  acceleratorsOf(host(changes)).absent.map(({ reason }) => reason);

describe('accelerators are detected by their files before any library is loaded', () => {
  it('a bare host has no accelerator, and each has a reason', () => {
    expect(acceleratorsOf(host({})).present).toEqual([]);
    expect(reasons({})).toEqual([
      'the CUDA library of onnxruntime is not installed',
      'no Vulkan driver is installed',
    ]);
  });

  it.each<[string, Partial<Host>, string[]]>([
    ['the CUDA library', { holds: (path) => path.includes('providers_cuda') }, ['cuda']],
    ['a Vulkan driver', { holds: (path) => path === '/usr/share/vulkan/icd.d' }, ['webgpu']],
    ['a driver by variable', { environment: { VK_DRIVER_FILES: '/opt/icd.json' } }, ['webgpu']],
    ['both: CUDA is tried first', { holds: () => true }, ['cuda', 'webgpu']],
    ['macOS: its own driver', { platform: 'darwin' }, ['webgpu']],
  ])('%s', (_, changes, expected) => {
    expect(acceleratorsOf(host(changes)).present).toEqual(expected);
  });
});

describe('the accelerator of this host', () => {
  const { present, absent } = acceleratorsOf();

  it('gives the same numbers as the processor within the stated tolerance', async ({ skip }) => {
    if (present.length === 0) {
      return skip(absent.map(({ accelerator, reason }) => `${accelerator}: ${reason}`).join('; '));
    }
    for (const model of await readRegistry()) {
      const image = Float32Array.from(
        { length: model.input.width * model.input.height },
        (_, i) => 0.5 + 0.5 * Math.sin(i * 0.11),
      );
      const cpu = await openSession(model, { provider: 'cpu', threads: 1 });
      const found = await openSession(model, { provider: 'auto', threads: 1 });
      const [expected = new Float32Array()] = await cpu.run([image]);
      const [answer = new Float32Array()] = await found.run([image]);
      const differences = expected.map((value, i) => Math.abs(value - (answer[i] ?? Number.NaN)));
      const largest = differences.reduce((most, value) => Math.max(most, value), 0);
      expect(largest, model.id).toBeLessThanOrEqual(PROVIDER_TOLERANCE);
      await cpu.close();
      await found.close();
    }
  });
});
