import { INFERENCE, type InferenceRun } from './inference-channel.ts';
import type { RegisteredModel } from './model-registry.ts';
import type { Provider } from './network.ts';
import type { OpenedNetwork } from './open-network.ts';
import { REFUSAL, type Refusal, type RefusalOfModel } from './refusal.ts';
import type { ModelSession } from './session.ts';

/**
 * Images at a time. On the processor a larger batch only holds more memory: the activations of one
 * batch are held at a time. An accelerator is idle on a small one.
 */
const BATCH: Readonly<Record<Provider, number>> = { cpu: 16, webgpu: 32, cuda: 64 };

/**
 * The session of a network, wherever it runs. Each of its runs is told on `INFERENCE`, each accelerator
 * that it does not run on, or no more, on `REFUSAL`.
 */
export function inBatches(
  model: RegisteredModel,
  { network, refusals }: OpenedNetwork,
): ModelSession {
  const pixels = model.input.width * model.input.height;
  const batch = BATCH[network.provider];
  let provider = network.provider;

  const tell = (refusal: Refusal) =>
    REFUSAL.publish({ model: model.id, ...refusal } satisfies RefusalOfModel);
  for (const refusal of refusals) tell(refusal);

  async function runBatch(images: readonly Float32Array[]): Promise<Float32Array[]> {
    const data = new Float32Array(images.length * pixels);
    images.forEach((image, n) => {
      data.set(image, n * pixels);
    });
    const { values, seconds, refusal } = await network.run(data, images.length);
    if (refusal) {
      provider = 'cpu';
      tell(refusal);
    }
    INFERENCE.publish({ model: model.id, images: images.length, seconds } satisfies InferenceRun);
    const share = values.length / images.length;
    return images.map((_, n) => values.subarray(n * share, (n + 1) * share));
  }

  return {
    model,
    get provider() {
      return provider;
    },
    batch,
    run: async (inputs) => {
      const outputs: Float32Array[] = [];
      for (let start = 0; start < inputs.length; start += batch) {
        outputs.push(...(await runBatch(inputs.slice(start, start + batch))));
      }
      return outputs;
    },
    close: () => network.release(),
  };
}
