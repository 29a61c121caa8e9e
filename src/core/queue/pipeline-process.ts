import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rename, rm, symlink, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type {
  Job,
  ModelInUse,
  PipelineEnd,
  PipelineEvent,
} from '../../../pipelines/contract/job.ts';
import type { AcceleratorRefusalOfModel } from '../../../pipelines/inference/accelerators.ts';
import type { InferenceRun } from '../../../pipelines/inference/inference-channel.ts';
import type { Reading } from '../../../pipelines/input/reading.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { PROCESS_FOLDER } from '../requests/work-folder.ts';

/** Messages to a pipeline process. `module` is the URL of a module that exports `pipeline`. */
export type ToChild =
  | { type: 'load'; module: string; models: Job['models'] }
  | { type: 'run'; module: string; folder: string }
  | { type: 'abort' };

/**
 * Messages from a pipeline process to the gateway. `error` contains the message of the exception,
 * for our log only, and whether a full disk caused it.
 */
export type FromChild =
  | { type: 'event'; event: PipelineEvent }
  | { type: 'end'; end: PipelineEnd }
  /** Answer to `load`: the module has opened its models. */
  | { type: 'prepared'; models: readonly ModelInUse[] }
  /** A model was called. */
  | { type: 'inference'; run: InferenceRun }
  /** The reading of a file, or of a frame of it, begins or has ended. */
  | { type: 'reading'; reading: Reading }
  /** A model does not run on an accelerator, or no longer runs on it. */
  | { type: 'refusal'; refusal: AcceleratorRefusalOfModel }
  | { type: 'error'; message: string; outOfSpace: boolean };

/** The modules of a pipeline process; `src/app` provides them. */
export interface PipelineProgram {
  /** Path of the module that the process runs. */
  entry: string;
  /** URL of the module that is loaded before `entry` and denies the process network and threads. */
  confinement: string;
}

/** Milliseconds between the request to stop a process and its kill. */
const ABORT_GRACE_MILLISECONDS = 4000;

/**
 * The environment variables that a pipeline needs. They include no passwords or addresses of the
 * gateway.
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

/** The outcome of a run, as the gateway sees it. */
export type RunOutcome =
  | PipelineEnd
  /**
   * The pipeline threw an exception. `message` is for our log only. `outOfSpace` is true if the
   * disk was full.
   */
  | { type: 'failed'; message: string; outOfSpace: boolean }
  | { type: 'crashed'; reason: string }
  | { type: 'timeout' }
  /** A file, or one frame of it, was not read in time, and the process was killed. */
  | { type: 'stalled'; file: string }
  | { type: 'aborted' };

interface PoolLimits {
  /** Heap limit in megabytes. */
  memoryMegabytes: number;
  /** The folder of all work folders. Each process may write only in a folder inside it. */
  work: string;
  /** Other paths that the process may read. */
  readable: readonly string[];
  /** Whether the processes use the processor only while no other process needs it. */
  yields?: boolean;
}

interface ProcessLimits extends Omit<PoolLimits, 'work'> {
  /** The only folder below which the process may write. The process may also read there. */
  writable: string;
}

export interface Run {
  /** URL of the module that exports `pipeline`. */
  module: string;
  folder: string;
  timeoutSeconds: number;
  /** The longest time in seconds to read one file, or to decode one frame. */
  readSeconds: number;
  signal: AbortSignal;
  onEvent(event: PipelineEvent): void;
}

/** A run whose folder is moved into the folder of its process, and back after the run. */
export interface PoolRun extends Run {
  /**
   * Resolves when everything that the run reported is stored; until then its folder is not moved
   * back.
   */
  settled(): Promise<void>;
}

/** Checks that each file and each frame is read in time. */
function watchReads(seconds: number) {
  const timers = new Map<number, NodeJS.Timeout>();
  let stall = (_outcome: RunOutcome) => {};
  const stalled = new Promise<RunOutcome>((resolve) => {
    stall = resolve;
  });
  return {
    stalled,
    follow({ id, file, state }: Reading): void {
      clearTimeout(timers.get(id));
      timers.delete(id);
      if (state === 'ended') return;
      const late = setTimeout(() => stall({ type: 'stalled', file }), seconds * 1000);
      timers.set(id, late);
    },
    end(): void {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** A warm child process that runs one pipeline at a time. */
export class PipelineProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  #alive = true;

  constructor(
    { entry, confinement }: PipelineProgram,
    { memoryMegabytes, writable, readable, yields = false }: ProcessLimits,
    logger: Logger,
  ) {
    this.#child = fork(entry, [], {
      // The process may not start other processes, use the network, or read files other than the
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
        // The process ends when the gateway is no longer its parent.
        SONOGATE_PARENT_PID: String(process.pid),
        ...(yields && { SONOGATE_YIELDS: '1' }),
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

  /** False when the process has ended and cannot be used any more. */
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

  /**
   * Calls the listener for each model that does not run on an accelerator, or no longer runs on it.
   */
  onRefusal(listener: (refusal: AcceleratorRefusalOfModel) => void): void {
    this.#child.on('message', (message: FromChild) => {
      if (message.type === 'refusal') listener(message.refusal);
    });
  }

  /** Runs a pipeline until it ends with any outcome; never throws. */
  async run({
    module,
    folder,
    timeoutSeconds,
    readSeconds,
    signal,
    onEvent,
  }: Run): Promise<RunOutcome> {
    const stop = new Promise<RunOutcome>((resolve) => {
      if (signal.aborted) resolve({ type: 'aborted' });
      signal.addEventListener('abort', () => resolve({ type: 'aborted' }), { once: true });
    });
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<RunOutcome>((resolve) => {
      timer = setTimeout(() => resolve({ type: 'timeout' }), timeoutSeconds * 1000);
    });
    const reads = watchReads(readSeconds);
    let onMessage = (_message: FromChild) => {};
    const end = new Promise<RunOutcome>((resolve) => {
      onMessage = (message) => {
        if (message.type === 'event') onEvent(message.event);
        else if (message.type === 'reading') reads.follow(message.reading);
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
    const outcome = await Promise.race([end, crash, timeout, reads.stalled, stop]);
    clearTimeout(timer);
    reads.end();
    if (outcome.type === 'aborted') {
      this.#send({ type: 'abort' });
      await this.#withinGrace(Promise.race([end, crash]));
    } else if (outcome.type === 'timeout' || outcome.type === 'stalled') {
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

  /** Sends a message. A failure is ignored, because the exit of the process is reported anyway. */
  #send(message: ToChild): void {
    if (this.#alive) this.#child.send(message, () => {});
  }
}

/** Keeps processes warm between runs: as many processes as there are concurrent runs. */
export interface PipelinePool {
  run(run: PoolRun): Promise<RunOutcome>;
  /** Starts a process before the first run; `prepared` is called with the models that it opened. */
  warmUp(
    module: string,
    models: Job['models'],
    prepared: (models: readonly ModelInUse[]) => void,
  ): void;
  close(): Promise<void>;
}

interface ModelListeners {
  /** Called when a model was called. */
  onInference?(run: InferenceRun): void;
  /** Called when a model does not run on an accelerator, or no longer runs on it. */
  onRefusal?(refusal: AcceleratorRefusalOfModel): void;
}

interface Member {
  process: PipelineProcess;
  /**
   * The only folder that the process may read and write. It contains only the folder of its run.
   */
  place: string;
}

/**
 * Runs a pipeline with its folder moved to the place where its process may read and write. A link
 * remains in the old place, so that the gateway finds the folder under its usual path.
 */
async function runInside({ process, place }: Member, run: PoolRun): Promise<RunOutcome> {
  const inside = join(place, basename(run.folder));
  await rename(run.folder, inside);
  await symlink(inside, run.folder);
  try {
    return await process.run({ ...run, folder: inside });
  } finally {
    await run.settled();
    await unlink(run.folder);
    await rename(inside, run.folder);
    const left = process.alive ? await readdir(place) : [''];
    for (const name of left) await rm(join(place, name), { recursive: true, force: true });
  }
}

export function createPipelinePool(
  program: PipelineProgram,
  { work, ...limits }: PoolLimits,
  logger: Logger,
  { onInference, onRefusal }: ModelListeners = {},
): PipelinePool {
  const idle: Member[] = [];
  const all = new Set<Member>();

  const start = () => {
    for (const each of all) if (!each.process.alive) all.delete(each);
    const place = join(work, `${PROCESS_FOLDER}${randomUUID()}`);
    // Node extends the permission for a folder to everything below it only when the folder exists.
    mkdirSync(place, { recursive: true });
    const started = new PipelineProcess(program, { ...limits, writable: place }, logger);
    if (onInference) started.onInference(onInference);
    if (onRefusal) started.onRefusal(onRefusal);
    const member = { process: started, place };
    all.add(member);
    return member;
  };
  const take = () => {
    for (let next = idle.pop(); next; next = idle.pop()) if (next.process.alive) return next;
    return start();
  };

  return {
    run: async (run) => {
      const taken = take();
      const outcome = await runInside(taken, run);
      if (taken.process.alive) idle.push(taken);
      return outcome;
    },
    warmUp: (module, models, prepared) => {
      const started = start();
      started.process.load(module, models, prepared);
      idle.push(started);
    },
    close: async () => {
      await Promise.all([...all].map((each) => each.process.kill()));
      for (const { place } of all) await rm(place, { recursive: true, force: true });
    },
  };
}
