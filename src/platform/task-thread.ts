import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { parentPort, type Transferable, Worker } from 'node:worker_threads';
import { type ErrorCode, SonogateError } from './errors/catalogue.ts';

/** Carries out one task. Rejects with the error with which the task failed. */
type RunTask<Task, Result> = (task: Task) => Promise<Result>;

type Reply<Result> =
  | { result: Result }
  | { refusal: ErrorCode; detail: string }
  | { failure: string; code: string | null };

interface ThreadLimits {
  /** Longest duration of one task in milliseconds. */
  deadlineMs: number;
  heapMib: number;
  /** Detail of the error `object_not_understood` for a task that exceeds a limit. */
  exceeded: string;
}

/**
 * Returns a function that carries out tasks on a thread, one after the other, so that they do not
 * block the caller. The thread starts with the first task. A task that exceeds a limit ends the
 * thread, but not the gateway; the next task starts another thread.
 * @param entry module that calls `carryOutTasks`.
 */
export function taskThread<Task, Result>(
  entry: URL,
  { deadlineMs, heapMib, exceeded }: ThreadLimits,
): RunTask<Task, Result> {
  let thread: Promise<Worker> | null = null;
  /**
   * The last task. Each task waits for the one before it, so that its deadline begins only when the
   * task does.
   */
  let last: Promise<unknown> = Promise.resolve();

  async function start(): Promise<Worker> {
    const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: heapMib } });
    await once(worker, 'message');
    return worker;
  }

  async function replyTo(task: Task): Promise<Reply<Result>> {
    thread ??= start();
    const worker = await thread.catch((error) => {
      thread = null;
      throw error;
    });
    const settled = new AbortController();
    const { signal } = settled;
    worker.ref();
    try {
      const replied = once(worker, 'message', { signal });
      // If the thread fails, `once` rejects with its error. If it only exits, this promise rejects
      // too.
      const ended = once(worker, 'exit', { signal }).then(() => Promise.reject(new Error('ended')));
      const late = setTimeout(deadlineMs, undefined, { signal, ref: false }).then(() =>
        Promise.reject(new Error('the deadline passed')),
      );
      worker.postMessage(task);
      const [reply] = (await Promise.race([replied, ended, late])) as [Reply<Result>];
      return reply;
    } catch (cause) {
      thread = null;
      await worker.terminate();
      throw new SonogateError('object_not_understood', exceeded, { cause });
    } finally {
      settled.abort();
      worker.unref();
    }
  }

  return async (task) => {
    const mine = last.then(() => replyTo(task));
    last = mine.catch(() => {});
    const reply = await mine;
    if ('refusal' in reply) throw new SonogateError(reply.refusal, reply.detail);
    if ('failure' in reply) throw Object.assign(new Error(reply.failure), { code: reply.code });
    return reply.result;
  };
}

/**
 * Carries out the tasks of `taskThread`; called once by the module of the thread.
 * @param moved returns the memory of a result that is moved to the caller instead of copied.
 */
export function carryOutTasks<Task, Result>(
  carryOut: RunTask<Task, Result>,
  moved: (result: Result) => Transferable[] = () => [],
): void {
  const reply = async (task: Task): Promise<void> => {
    try {
      const result = await carryOut(task);
      parentPort?.postMessage({ result } satisfies Reply<Result>, moved(result));
    } catch (error) {
      parentPort?.postMessage(fault(error));
    }
  };
  parentPort?.on('message', (task: Task) => void reply(task));
  // Reports that the thread now accepts tasks.
  parentPort?.postMessage('ready');
}

function fault(error: unknown): Reply<never> {
  if (error instanceof SonogateError) return { refusal: error.code, detail: error.detail };
  // An error copied to another thread loses its `code`.
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  return { failure: String(error), code };
}
