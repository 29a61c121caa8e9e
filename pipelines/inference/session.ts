import { inBatches } from './in-batches.ts';
import type { RegisteredModel } from './model-registry.ts';
import type { InferenceSettings, Provider } from './network.ts';
import { networkOpener } from './open-network.ts';

export interface ModelSession {
  model: RegisteredModel;
  /** What the model runs on: the processor, once a run has failed on an accelerator. */
  readonly provider: Provider;
  /** Images that it takes at a time. */
  batch: number;
  /**
   * Runs a batch: `inputs` are images of the model's input size, 0..1, row by row. Resolves to one
   * array per image: its share of the output, channel after channel.
   */
  run(inputs: readonly Float32Array[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Loads a verified model. Throws when its bytes are not those of the registry. */
export type OpenSession = (
  model: RegisteredModel,
  settings: InferenceSettings,
) => Promise<ModelSession>;

/** Gives what opens models on the thread of the caller, which each run then holds. */
export function sessionOpener(openNetwork = networkOpener()): OpenSession {
  return async (model, settings) => inBatches(model, await openNetwork(model, settings));
}

/** Opens a model on the thread of the caller. */
export const openSession: OpenSession = sessionOpener();
