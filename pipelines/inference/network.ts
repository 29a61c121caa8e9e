import './no-telemetry.ts';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { ProviderSetting } from '../../config/schema.ts';
import type { Accelerator } from './accelerators.ts';
import { type RegisteredModel, readModel } from './model-registry.ts';
import type { Refusal } from './refusal.ts';

export interface InferenceSettings {
  provider: ProviderSetting;
  /** Threads per session. A fixed number keeps the answer the same from run to run. */
  threads: number;
}

export type Provider = Accelerator | 'cpu';

/** What a network answers to one batch. */
export interface Answer {
  /** Image after image, of each channel after channel. */
  values: Float32Array;
  /** That the network worked, waiting for it not counted. */
  seconds: number;
  /** Set once, by the first run that failed on the accelerator: from it on the model runs on `cpu`. */
  refusal?: Refusal;
}

/** A loaded model that takes one batch at a time. */
export interface Network {
  /** What the model runs on. */
  provider: Provider;
  /** `images` holds `count` images of the model's input size, one behind the other. */
  run(images: Float32Array<ArrayBuffer>, count: number): Promise<Answer>;
  release(): Promise<void>;
}

/** Loads a verified model on one provider; throws where that does not load. */
export type LoadNetwork = (
  model: RegisteredModel,
  provider: Provider,
  threads: number,
) => Promise<Network>;

/** While a network runs it holds the thread that called it: the library has no other way. */
export const loadNetwork: LoadNetwork = async (model, provider, threads) => {
  const { id, input, output } = model;
  const session = await InferenceSession.create(await readModel(model), {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    // Threads that wait sleep: others decode and measure on the same cores meanwhile.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
  return {
    provider,
    async run(images, count) {
      const tensor = new Tensor('float32', images, [count, 1, input.height, input.width]);
      const begin = performance.now();
      const result = (await session.run({ [input.name]: tensor }))[output.name];
      const seconds = (performance.now() - begin) / 1000;
      if (!(result?.data instanceof Float32Array)) {
        throw new Error(`model ${id}: no float32 output "${output.name}"`);
      }
      return { values: result.data, seconds };
    },
    release: () => session.release(),
  };
};
