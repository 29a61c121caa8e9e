import { type ChildProcess, fork } from 'node:child_process';
import type {
  Job,
  ModelInUse,
  PipelineEnd,
  PipelineEvent,
} from '../../../pipelines/contract/job.ts';
import type { AcceleratorRefusalOfModel } from '../../../pipelines/inference/accelerators.ts';
import type { InferenceRun } from '../../../pipelines/inference/inference-channel.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';

/** Messages to a pipeline process. `module` is the URL of a module that exports `pipeline`. */
export type ToChild =
  | { type: 'load'; module: string; models: Job['models'] }
  | { type: 'run'; module: string; folder: string }
  | { type: 'abort' };

/**
 * Messages from a pipeline process. `error` contains the message of the exception, for our log
 * only, and whether a full disk caused it.
 */
export type FromChild =
  | { type: 'event'; event: PipelineEvent }
  | { type: 'end'; end: PipelineEnd }
  /** Answer to `load`: the module has opened its models. */
  | { type: 'prepared'; models: readonly ModelInUse[] }
  /** A model was called. */
  | { type: 'inference'; run: InferenceRun }
  /** A model does not run on an accelerator, or no longer does. */
  | { type: 'refusal'; refusal: AcceleratorRefusalOfModel }
  | { type: 'error'; message: string; outOfSpace: boolean };

/** The modules of a pipeline process; `src/app` provides them. */
export interface PipelineProgram {
  /** Path of the module that the process runs. */
  entry: string;
  /** URL of the module that is loaded before `entry` and denies the process network and threads. */
  confinement: string;
}

/** After a request to stop, a pipeline has this long before its process is killed. */
const ABORT_GRACE_MILLISECONDS = 4000;

/**
 * The environment variables that a pipeline needs; passwords and addresses of the gateway are not
 * among them.
 */
const ENVIRONMENT = [
  'PATH',
  'LANG',
  'TZ',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'CUDA_VISIBLE_DEVICES',
  'VK_DRIVER_FILES',
  'VK_ICD_FILENAMES',
  'VK_LOADER_DEVICE_SELECT',
];

/** Keeps the GPU driver from looking for a screen: Mesa would write its choice to the log. */
const WITHOUT_SCREEN = { NODEVICE_SELECT: '1' };

const LONGEST_LOG_LINE = 2000;

/** How a run ended, as seen from outside its process. */
export type RunOutcome =
  | PipelineEnd
  /**
   * The pipeline threw; `message` is for our log only. `outOfSpace` is true when it threw because
   * the disk was full.
   */
  | { type: 'failed'; message: string; outOfSpace: boolean }
  | { type: 'crashed'; reason: string }
  | { type: 'timeout' }
  | { type: 'aborted' };

interface ProcessLimits {
  /** Heap limit in megabytes. */
  memoryMegabytes: number;
  /** The only folder below which the process may write. It may also read there. */
  writable: string;
  /** Other paths that the process may read. */
  readable: readonly string[];
}

export interface Run {
  /** URL of the module that exports `pipeline`. */
  module: string;
  folder: string;
  timeoutSeconds: number;
  signal: AbortSignal;
  onEvent(event: PipelineEvent): void;
}

/** A warm child process that runs one pipeline at a time. */
export class PipelineProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  #alive = true;

  constructor(
    { entry, confinement }: PipelineProgram,
    { memoryMegabytes, writable, readable }: ProcessLimits,
    logger: Logger,
  ) {
    this.#child = fork(entry, [], {
      // The process may start no processes, use no network and read no files but those of the
      // program and the work folders: it cannot reach the database or the files of other studies.
      execArgv: [
        `--max-old-space-size=${memoryMegabytes}`,
        '--permission',
        ...[writable, ...readable].map((place) => `--allow-fs-read=${place}`),
        `--allow-fs-write=${writable}`,
        '--allow-addons',
        '--allow-worker',
        '--disable-warning=SecurityWarning',
        `--import=${confinement}`,
      ],
      env: {
        ...WITHOUT_SCREEN,
        ...Object.fromEntries(
          ENVIRONMENT.flatMap((name) => {
            const value = process.env[name];
            return value === undefined ? [] : [[name, value]];
          }),
        ),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        const output = text.trimEnd().slice(0, LONGEST_LOG_LINE);
        logger.event(EVENTS.pipelineOutput, { pid: this.#child.pid, output });
      });
    }
    this.#exited = new Promise((resolve) => {
      const gone = (reason: string) => {
        this.#alive = false;
        resolve(reason);
      };
      this.#child.once('error', (error) => gone(error.message));
      this.#child.once('exit', (code, signal) => gone(signal ?? `exit code ${code}`));
    });
  }

  /** False once the process has ended; it must not be used any more. */
  get alive(): boolean {
    return this.#alive;
  }

  /**
   * Loads a pipeline and opens its models before its first run; `prepared` is called with the
   * models.
   */
  load(
    module: string,
    models: Job['models'],
    prepared: (models: readonly ModelInUse[]) => void,
  ): void {
    this.#child.on('message', (message: FromChild) => {
      if (message.type === 'prepared') prepared(message.models);
    });
    this.#send({ type: 'load', module, models });
  }

  /** Calls the listener for each call of a model, for as long as the process lives. */
  onInference(listener: (run: InferenceRun) => void): void {
    this.#child.on('message', (message: FromChild) => {
      if (message.type === 'inference') listener(message.run);
    });
  }

  /** Calls the listener for each model that does not run on an accelerator, or no longer does. */
  onRefusal(listener: (refusal: AcceleratorRefusalOfModel) => void): void {
    this.#child.on('message', (message: FromChild) => {
      if (message.type === 'refusal') listener(message.refusal);
    });
  }

  /** Runs a pipeline until it ends, in whatever way; never throws. */
  async run({ module, folder, timeoutSeconds, signal, onEvent }: Run): Promise<RunOutcome> {
    const stop = new Promise<RunOutcome>((resolve) => {
      if (signal.aborted) resolve({ type: 'aborted' });
      signal.addEventListener('abort', () => resolve({ type: 'aborted' }), { once: true });
    });
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<RunOutcome>((resolve) => {
      timer = setTimeout(() => resolve({ type: 'timeout' }), timeoutSeconds * 1000);
    });
    let onMessage = (_message: FromChild) => {};
    const end = new Promise<RunOutcome>((resolve) => {
      onMessage = (message) => {
        if (message.type === 'event') onEvent(message.event);
        else if (message.type === 'end') resolve(message.end);
        else if (message.type === 'error') {
          const { message: text, outOfSpace } = message;
          resolve({ type: 'failed', message: text, outOfSpace });
        }
      };
      this.#child.on('message', onMessage);
    });
    const crash = this.#exited.then((reason): RunOutcome => ({ type: 'crashed', reason }));

    this.#send({ type: 'run', module, folder });
    const outcome = await Promise.race([end, crash, timeout, stop]);
    clearTimeout(timer);
    if (outcome.type === 'aborted') {
      this.#send({ type: 'abort' });
      await this.#withinGrace(Promise.race([end, crash]));
    } else if (outcome.type === 'timeout') {
      await this.kill();
    }
    this.#child.off('message', onMessage);
    return outcome;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async #withinGrace(ended: Promise<unknown>): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), ABORT_GRACE_MILLISECONDS);
    await ended;
    clearTimeout(timer);
  }

  /**
   * A message that cannot be delivered is not an error: the exit of the process is reported anyway.
   */
  #send(message: ToChild): void {
    if (this.#alive) this.#child.send(message, () => {});
  }
}

/** Keeps processes warm between runs: as many processes as there are concurrent runs. */
export interface PipelinePool {
  run(run: Run): Promise<RunOutcome>;
  /** Starts a process before the first run; `prepared` is called with the models that it opened. */
  warmUp(
    module: string,
    models: Job['models'],
    prepared: (models: readonly ModelInUse[]) => void,
  ): void;
  close(): Promise<void>;
}

/** Listeners for the models of all processes. */
interface ModelListeners {
  /** A model was called. */
  onInference?(run: InferenceRun): void;
  /** A model does not run on an accelerator, or no longer does. */
  onRefusal?(refusal: AcceleratorRefusalOfModel): void;
}

export function createPipelinePool(
  program: PipelineProgram,
  limits: ProcessLimits,
  logger: Logger,
  { onInference, onRefusal }: ModelListeners = {},
): PipelinePool {
  const idle: PipelineProcess[] = [];
  const all = new Set<PipelineProcess>();

  const start = () => {
    for (const each of all) if (!each.alive) all.delete(each);
    const started = new PipelineProcess(program, limits, logger);
    if (onInference) started.onInference(onInference);
    if (onRefusal) started.onRefusal(onRefusal);
    all.add(started);
    return started;
  };
  const take = () => {
    for (let next = idle.pop(); next; next = idle.pop()) if (next.alive) return next;
    return start();
  };

  return {
    run: async (run) => {
      const taken = take();
      const outcome = await taken.run(run);
      if (taken.alive) idle.push(taken);
      return outcome;
    },
    warmUp: (module, models, prepared) => {
      const started = start();
      started.load(module, models, prepared);
      idle.push(started);
    },
    close: async () => {
      await Promise.all([...all].map((each) => each.kill()));
    },
  };
}
