import './no-telemetry.ts';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { ProviderSetting } from '../../config/schema.ts';
import { type Accelerator, type AcceleratorRefusal, acceleratorsOf } from './accelerators.ts';
import { type RegisteredModel, readModel } from './model-registry.ts';

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
  refusal?: AcceleratorRefusal;
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

/**
 * Largest difference between two providers, in units of the output (logits, or shares of a map): on
 * the self-test more than this and the accelerator is not used. docs/model-training.md has what was
 * measured.
 */
export const PROVIDER_TOLERANCE = 1e-2;

/** Images of the batch with which an accelerator must not be slower than the processor. */
const BATCH_IMAGES = 4;

/**
 * A driver that is so much slower with one image runs in software: SwiftShader takes hundreds of
 * times as long as the processor without it.
 */
const TIMES_SLOWER_IN_SOFTWARE = 20;

/**
 * Why an accelerator is not to be used for a model; null when it is. Its answers to one image and to
 * a batch are compared with the processor's, and, where `timed`, how long they take: again, for the
 * first time compiles shaders.
 * @param pixels of an input image.
 */
export async function faultOf(
  accelerated: Network,
  processor: Network,
  { pixels, timed }: { pixels: number; timed: boolean },
): Promise<Pick<AcceleratorRefusal, 'why' | 'detail'> | null> {
  const again = timed ? 2 : 1;
  try {
    const one = await compare(accelerated, processor, { pixels, images: 1, times: again });
    if (one.difference > PROVIDER_TOLERANCE) return different(one);
    if (timed && one.accelerated > TIMES_SLOWER_IN_SOFTWARE * one.processor) {
      return { why: 'software', detail: duration(one) };
    }
    const batch = await compare(accelerated, processor, {
      pixels,
      images: BATCH_IMAGES,
      times: again,
    });
    if (batch.difference > PROVIDER_TOLERANCE) return different(batch);
    return timed && batch.accelerated > batch.processor
      ? { why: 'slower', detail: duration(batch) }
      : null;
  } catch (error) {
    return { why: 'different', detail: error instanceof Error ? error.message : String(error) };
  }
}

interface Comparison {
  images: number;
  /** Largest, in units of the output. */
  difference: number;
  /** Seconds of the last run. */
  accelerated: number;
  processor: number;
}

async function compare(
  accelerated: Network,
  processor: Network,
  { pixels, images, times }: { pixels: number; images: number; times: number },
): Promise<Comparison> {
  const sample = selfTestImages(images, pixels);
  const last = async (network: Network) => {
    let answer = await network.run(sample, images);
    for (let run = 1; run < times; run++) answer = await network.run(sample, images);
    return answer;
  };
  const found = await last(accelerated);
  const expected = await last(processor);
  return {
    images,
    difference: largestDifference(found.values, expected.values),
    accelerated: found.seconds,
    processor: expected.seconds,
  };
}

const different = ({ difference, images }: Comparison) =>
  ({
    why: 'different',
    detail: `off by ${difference.toPrecision(2)} with ${images} images, ${PROVIDER_TOLERANCE} is allowed`,
  }) as const;

const duration = ({ images, accelerated, processor }: Comparison) =>
  `${milliseconds(accelerated)} for ${images} images, the processor ${milliseconds(processor)}`;

const milliseconds = (seconds: number) => `${(seconds * 1000).toPrecision(2)} ms`;

/** Infinite where the answers are of different lengths, or one holds what is no number. */
export function largestDifference(found: Answer['values'], expected: Answer['values']): number {
  if (found.length !== expected.length) return Infinity;
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((found[i] ?? Number.NaN) - (expected[i] ?? Number.NaN));
    if (Number.isNaN(difference)) return Infinity;
    if (difference > largest) largest = difference;
  }
  return largest;
}

/** Fixed images with structure at every scale, each another, one behind the other. */
export function selfTestImages(count: number, pixels: number): Float32Array<ArrayBuffer> {
  return Float32Array.from(
    { length: count * pixels },
    (_, i) => 0.5 + 0.5 * Math.sin(i * 0.37 + (i * i) / 9001),
  );
}

/**
 * A network on an accelerator that goes on with the processor once a run has thrown: a lost device
 * does not come back within a process, and what does not fit its memory never will. The run is
 * repeated there, so that its caller sees an answer alone; `refusal` of that answer says why. What
 * waited meanwhile goes to the processor too.
 */
export function withProcessorFallback(
  openOnProcessor: () => Promise<Network>,
  onAccelerator: Network,
  accelerator: Accelerator,
): Network {
  let processor: Promise<Network> | null = null;

  // What is left of a lost device may not let itself be released either.
  const changeOver = () =>
    onAccelerator
      .release()
      .catch(() => {})
      .then(openOnProcessor);
  const runOnProcessor: Network['run'] = async (images, count) => {
    processor ??= changeOver();
    return (await processor).run(images, count);
  };

  return {
    provider: accelerator,
    run: async (images, count) => {
      if (processor) return runOnProcessor(images, count);
      try {
        return await onAccelerator.run(images, count);
      } catch (error) {
        const isFirst = processor === null;
        const answer = await runOnProcessor(images, count);
        const detail = error instanceof Error ? error.message : String(error);
        return isFirst ? { ...answer, refusal: { accelerator, why: 'failed', detail } } : answer;
      }
    },
    release: async () => (processor ? (await processor).release() : onAccelerator.release()),
  };
}

/** A network, and the accelerators that it was not put on. */
export interface OpenedNetwork {
  network: Network;
  /** None that was told with an earlier model and holds for all. */
  refusals: readonly AcceleratorRefusal[];
}

export type OpenNetwork = (
  model: RegisteredModel,
  settings: InferenceSettings,
) => Promise<OpenedNetwork>;

interface Parts {
  /** Which accelerators may load on this machine, and why each other may not. */
  accelerators: typeof acceleratorsOf;
  load: LoadNetwork;
}

/** These hold for every model: to try the next would only hold up the start, and print errors. */
const FOR_ALL: readonly AcceleratorRefusal['why'][] = ['absent', 'unloadable', 'software'];

/**
 * Gives what opens verified models, each on the first provider that loads, agrees with the processor
 * and is not slower. A named one need not be fast, and none other but the processor stands in for it.
 * Throws only where a model cannot be opened on the processor.
 */
export function networkOpener({
  accelerators = acceleratorsOf,
  load = loadNetwork,
}: Partial<Parts> = {}): OpenNetwork {
  const givenUp = new Set<Accelerator>();

  return async (model, { provider, threads }) => {
    const openOnProcessor = () => load(model, 'cpu', threads);
    const processor = await openOnProcessor();
    if (provider === 'cpu') return { network: processor, refusals: [] };

    const refusals: AcceleratorRefusal[] = [];
    const refuse = (refusal: AcceleratorRefusal) => {
      refusals.push(refusal);
      if (FOR_ALL.includes(refusal.why)) givenUp.add(refusal.accelerator);
    };
    const { present, absent } = accelerators();
    const asked = (accelerator: Accelerator) =>
      !givenUp.has(accelerator) && (provider === 'auto' || provider === accelerator);
    for (const { accelerator, reason } of absent) {
      if (asked(accelerator) && provider !== 'auto') {
        refuse({ accelerator, why: 'absent', detail: reason });
      }
    }
    for (const accelerator of present.filter(asked)) {
      try {
        const network = await load(model, accelerator, threads);
        const fault = await faultOf(network, processor, {
          pixels: model.input.width * model.input.height,
          timed: provider === 'auto',
        });
        if (!fault) {
          await processor.release();
          return {
            network: withProcessorFallback(openOnProcessor, network, accelerator),
            refusals,
          };
        }
        await network.release();
        refuse({ accelerator, ...fault });
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        refuse({ accelerator, why: 'unloadable', detail });
      }
    }
    return { network: processor, refusals };
  };
}
