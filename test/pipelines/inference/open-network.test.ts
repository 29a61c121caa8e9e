import { describe, expect, it } from 'vitest';
import type { InferenceSettings } from '../../../pipelines/inference/open-network.ts';
import { networkOpener } from '../../../pipelines/inference/open-network.ts';
import { type Behaviour, fakeLibrary, machineWith, smallModel } from './fake-networks.ts';

const model = await smallModel();

const settings = (provider: InferenceSettings['provider']): InferenceSettings => ({
  provider,
  threads: 1,
});

async function openOn(
  webgpu: Behaviour,
  provider: InferenceSettings['provider'] = 'auto',
  cuda: Behaviour = { broken: true },
) {
  const library = fakeLibrary({ cuda, webgpu, cpu: { seconds: 0.005 } });
  const open = networkOpener({ accelerators: machineWith('cuda', 'webgpu'), load: library.load });
  const { network, refusals } = await open(model, settings(provider));
  return { provider: network.provider, refusals: refusals.map(({ why }) => why), library };
}

describe('a model is put on the first provider that loads, agrees and is not slower', () => {
  it('cuda before webgpu, and releases what is not used', async () => {
    const { provider, library } = await openOn({}, 'auto', {});
    expect(provider).toBe('cuda');
    expect(library.open).toEqual(['cuda']);
  });

  it.each<[string, Behaviour, string, string[]]>([
    ['as good as the processor', {}, 'webgpu', []],
    ['off by the tolerance', { off: 0.0099 }, 'webgpu', []],
    ['off by more than the tolerance', { off: 0.0101 }, 'cpu', ['different']],
    ['answers what is no number', { off: Number.NaN }, 'cpu', ['different']],
    ['fails in the self-test', { lost: true }, 'cpu', ['different']],
    ['as fast as the processor', { seconds: 0.005 }, 'webgpu', []],
    ['slower than the processor', { seconds: 0.0051 }, 'cpu', ['slower']],
    ['20 times as slow', { seconds: 0.1 }, 'cpu', ['slower']],
    ['slower than that: in software', { seconds: 0.101 }, 'cpu', ['software']],
    ['does not load', { broken: true }, 'cpu', ['unloadable']],
  ])('webgpu %s', async (_, behaviour, expected, refusals) => {
    const opened = await openOn(behaviour);
    expect(opened.provider).toBe(expected);
    expect(opened.refusals).toEqual(['unloadable', ...refusals]);
    expect(opened.library.open).toEqual([expected]);
  });

  it('with cpu loads no accelerator', async () => {
    const { provider, refusals, library } = await openOn({}, 'cpu', {});
    expect(provider).toBe('cpu');
    expect(refusals).toEqual([]);
    expect(library.loaded).toEqual(['cpu']);
  });
});

describe('a configured provider', () => {
  it('is used although another one has precedence', async () => {
    const { provider, library } = await openOn({}, 'webgpu', {});
    expect(provider).toBe('webgpu');
    expect(library.loaded).not.toContain('cuda');
  });

  it('is used although it is slow', async () => {
    expect((await openOn({ seconds: 1 }, 'webgpu')).provider).toBe('webgpu');
  });

  it.each<[string, Behaviour, string]>([
    ['differs', { off: 1 }, 'different'],
    ['does not load', { broken: true }, 'unloadable'],
  ])('is not used when it %s', async (_, behaviour, why) => {
    const opened = await openOn(behaviour, 'webgpu');
    expect(opened.provider).toBe('cpu');
    expect(opened.refusals).toEqual([why]);
  });

  it('is reported if it is not on the machine', async () => {
    const { load } = fakeLibrary();
    const open = networkOpener({ accelerators: machineWith('webgpu'), load });
    const { network, refusals } = await open(model, settings('cuda'));
    expect(network.provider).toBe('cpu');
    expect(refusals).toEqual([{ accelerator: 'cuda', why: 'absent', detail: 'not there' }]);
  });
});

describe('what applies to every model is determined with the first', () => {
  const twice = async (webgpu: Behaviour) => {
    const { load, loaded } = fakeLibrary({ webgpu, cpu: { seconds: 0.005 } });
    const open = networkOpener({ accelerators: machineWith('webgpu'), load });
    await open(model, settings('auto'));
    const { refusals } = await open(model, settings('auto'));
    return { tries: loaded.filter((provider) => provider === 'webgpu').length, refusals };
  };

  it.each<[string, Behaviour]>([
    ['does not load', { broken: true }],
    ['runs in software', { seconds: 1 }],
  ])('a provider that %s is tried once, and logged once', async (_, behaviour) => {
    expect(await twice(behaviour)).toEqual({ tries: 1, refusals: [] });
  });

  it.each<[string, Behaviour]>([
    ['differs', { off: 1 }],
    ['is a little slower', { seconds: 0.006 }],
  ])('a provider that %s may do better with the next', async (_, behaviour) => {
    const { tries, refusals } = await twice(behaviour);
    expect(tries).toBe(2);
    expect(refusals).toHaveLength(1);
  });
});
