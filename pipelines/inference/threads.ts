import { MessageChannel, type MessagePort, type Transferable, Worker } from 'node:worker_threads';
import { type AcceleratorRefusal, acceleratorsOf } from './accelerators.ts';
import type { RegisteredModel } from './model-registry.ts';
import type { Answer, InferenceSettings, Provider } from './open-network.ts';
import './no-telemetry.ts';
import { once } from 'node:events';
import { inBatches, type OpenSession } from './session.ts';

/** Requests to the inference thread. Networks are identified by number. */
export type Call =
  | { name: 'open'; model: RegisteredModel; settings: InferenceSettings }
  | { name: 'run'; network: number; images: Float32Array<ArrayBuffer>; count: number }
  | { name: 'release'; network: number };

export interface Opened {
  network: number;
  provider: Provider;
  refusals: readonly AcceleratorRefusal[];
}

export interface Asked {
  call: Call;
  port: MessagePort;
}

export type Answered<T> = { answer: T } | { error: Error };

const ENTRY = new URL('./inference-thread-entry.ts', import.meta.url);

/**
 * Starts an inference thread and returns a function that opens models on it. The caller can then
 * decode and measure while a model runs. The models on the thread run one at a time. The thread
 * neither keeps the process alive nor outlives it. If the thread itself fails, the uncaught error
 * ends the process, so that the work is repeated in a new one.
 */
export function startInferenceThread(): OpenSession {
  const thread = new Worker(ENTRY);
  thread.unref();

  async function ask<T>(call: Call, moved: Transferable[] = []): Promise<T> {
    const { port1: own, port2: port } = new MessageChannel();
    const answered = once(own, 'message');
    thread.postMessage({ call, port } satisfies Asked, [port, ...moved]);
    const [reply] = (await answered) as [Answered<T>];
    own.close();
    if ('error' in reply) throw reply.error;
    return reply.answer;
  }

  return async (model, settings) => {
    const { network, provider, refusals } = await ask<Opened>({ name: 'open', model, settings });
    return inBatches(model, {
      network: {
        provider,
        run: (images, count) =>
          ask<Answer>({ name: 'run', network, images, count }, [images.buffer]),
        release: () => ask<void>({ name: 'release', network }),
      },
      refusals,
    });
  };
}

/**
 * Distributes models over two inference threads. Models on the processor are assigned to the
 * threads in turn, so that two models can run at the same time. All models on an accelerator are
 * opened on the first thread, because two threads that use WebGPU simultaneously crash the process
 * (microsoft/onnxruntime#32561, reproduced with 1.30). This costs no time, because an accelerator
 * runs one model at a time anyway.
 */
export function overThreads(
  [first, second]: readonly [OpenSession, OpenSession],
  accelerators = acceleratorsOf,
): OpenSession {
  let opened = 0;

  return async (model, settings) => {
    const turn = opened++ % 2 === 0 ? first : second;
    if (turn === first) return first(model, settings);
    const onProcessor = { ...settings, provider: 'cpu' } as const;
    if (settings.provider !== 'cpu' && accelerators().present.length > 0) {
      const tried = await first(model, settings);
      if (tried.provider !== 'cpu') return tried;
      await tried.close();
    }
    return second(model, onProcessor);
  };
}
