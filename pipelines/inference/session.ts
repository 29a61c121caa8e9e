import {
  ACCELERATOR_REFUSAL,
  type AcceleratorRefusal,
  type AcceleratorRefusalOfModel,
} from './accelerators.ts';
import { INFERENCE, type InferenceRun } from './inference-channel.ts';
import type { RegisteredModel } from './model-registry.ts';
import {
  type InferenceSettings,
  networkOpener,
  type OpenedNetwork,
  type Provider,
} from './open-network.ts';

/**
 * Images per batch. On the processor, a larger batch is no faster, and every open model keeps the
 * memory that its largest batch needed. An accelerator would be underused with a small batch.
 */
const BATCH: Readonly<Record<Provider, number>> = { cpu: 4, webgpu: 32, cuda: 64 };

/**
 * Returns a session for a network on any provider. Each run is published on `INFERENCE`. Each
 * accelerator that the network does not use, or stops using, is published on `ACCELERATOR_REFUSAL`.
 */
export function inBatches(
  model: RegisteredModel,
  { network, refusals }: OpenedNetwork,
): ModelSession {
  const pixels = model.input.width * model.input.height;
  const batch = BATCH[network.provider];
  let provider = network.provider;

  const tell = (refusal: AcceleratorRefusal) =>
    ACCELERATOR_REFUSAL.publish({
      model: model.id,
      ...refusal,
    } satisfies AcceleratorRefusalOfModel);
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

export interface ModelSession {
  model: RegisteredModel;
  /**
   * Provider on which the model runs. It changes to the processor after a run has failed on an
   * accelerator.
   */
  readonly provider: Provider;
  batch: number;
  /**
   * Runs a batch. `inputs` are images of the model's input size, row by row, with values from 0 to
   * 1. Resolves to one array per image, which contains its part of the output, channel by channel.
   */
  run(inputs: readonly Float32Array[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/**
 * Loads a verified model.
 *
 * @throws if the bytes of the model differ from those in the registry.
 */
export type OpenSession = (
  model: RegisteredModel,
  settings: InferenceSettings,
) => Promise<ModelSession>;

/** Returns a function that opens models on the caller's thread. Each run blocks that thread. */
export function sessionOpener(openNetwork = networkOpener()): OpenSession {
  return async (model, settings) => inBatches(model, await openNetwork(model, settings));
}

/** Opens a model on the caller's thread. */
export const openSession: OpenSession = sessionOpener();
