import './no-telemetry.ts';
import { once } from 'node:events';
import { MessageChannel, type Transferable, Worker } from 'node:worker_threads';
import { inBatches } from './in-batches.ts';
import type { Answer } from './network.ts';
import type { OpenSession } from './session.ts';
import type { Answered, Asked, Call, Opened } from './thread-messages.ts';

const ENTRY = new URL('./inference-thread-entry.ts', import.meta.url);

/**
 * Begins a thread for models and gives what opens them there: while one runs, its caller can decode
 * and measure. Models of the thread run one after the other. The thread holds no process open, and
 * ends with it; its own end is an error that nobody catches, so that the process ends too: what ran
 * is repeated in a new one.
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
