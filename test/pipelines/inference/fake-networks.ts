import { ACCELERATORS, type Accelerator } from '../../../pipelines/inference/accelerators.ts';
import { type RegisteredModel, readRegistry } from '../../../pipelines/inference/model-registry.ts';
import type { LoadNetwork, Provider } from '../../../pipelines/inference/open-network.ts';
import type { ModelSession } from '../../../pipelines/inference/session.ts';

/** How a provider behaves; absent properties mean normal behaviour. */
export interface Behaviour {
  /** The model does not load on this provider. */
  broken?: boolean;
  /** Offset added to each output. */
  off?: number;
  /** Seconds per image. */
  seconds?: number;
  /** Throws on every run. */
  lost?: boolean;
}

/** Returns the smallest model. The fake networks receive its images. */
export async function smallModel(): Promise<RegisteredModel> {
  const models = await readRegistry();
  const pixels = ({ input }: RegisteredModel) => input.width * input.height;
  const [smallest] = models.toSorted((a, b) => pixels(a) - pixels(b));
  if (!smallest) throw new Error('empty registry');
  return smallest;
}

/** Returns a session that outputs nothing. */
export const fakeSession = (model: RegisteredModel): ModelSession => ({
  model,
  provider: 'cpu',
  batch: 1,
  run: async () => [],
  close: async () => {},
});

/** Replaces the library. Each network outputs the mean of each of its images. */
export function fakeLibrary(behaviours: Partial<Record<Provider, Behaviour>> = {}) {
  const loaded: Provider[] = [];
  const open: Provider[] = [];
  const load: LoadNetwork = async (_, provider) => {
    const behaviour = () => behaviours[provider] ?? {};
    loaded.push(provider);
    if (behaviour().broken) throw new Error(`${provider} does not load`);
    open.push(provider);
    return {
      provider,
      run: async (images, count) => {
        if (!open.includes(provider)) throw new Error('released');
        const { lost, off = 0, seconds = 0.001 } = behaviour();
        if (lost) throw new Error('device lost');
        const pixels = images.length / count;
        const mean = (n: number) =>
          images
            .subarray(n * pixels, (n + 1) * pixels)
            .reduce((all, value) => all + value / pixels, 0);
        const values = Float32Array.from({ length: count }, (__, n) => mean(n) + off);
        return { values, seconds: seconds * count };
      },
      release: async () => {
        open.splice(open.indexOf(provider), 1);
      },
    };
  };
  return { load, loaded, open, behaviours };
}

/** Returns a machine with only these accelerators. */
export const machineWith =
  (...present: Accelerator[]) =>
  () => ({
    present,
    absent: ACCELERATORS.filter((one) => !present.includes(one)).map((accelerator) => ({
      accelerator,
      reason: 'not there',
    })),
  });
