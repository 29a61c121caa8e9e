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
import type { Logger } from '../../platform/logging/logger.ts';
import { VERSION } from '../../platform/version.ts';
import { PROCESS_FOLDER } from '../requests/work-folder.ts';
import { COPY_OF_CACHE, CompileCache } from './compile-cache.ts';

/** Messages to a pipeline process. `module` is the URL of a module that exports `pipeline`. */
export type ToChild =
  | { type: 'load'; module: string; models: Job['models'] }
  | { type: 'run'; module: string; folder: string }
  | { type: 'abort' }
  /** Only imports the modules and ends, so that the compile cache of the process contains them. */
  | { type: 'compile'; modules: readonly string[] };

/**
 * Messages from a pipeline process to the gateway. `error` carries the exception message, which is
 * only logged, and whether a full disk caused it.
 */
export type FromChild =
  | { type: 'event'; event: PipelineEvent }
  | { type: 'end'; end: PipelineEnd }
  /** Reply to `load`: the module has opened its models. */
  | { type: 'prepared'; models: readonly ModelInUse[] }
  | { type: 'inference'; run: InferenceRun }
  /** The process has started or finished reading a file or one of its frames. */
  | { type: 'reading'; reading: Reading }
  /** A model cannot run on an accelerator, or has stopped running on it. */
  | { type: 'refusal'; refusal: AcceleratorRefusalOfModel }
  | { type: 'error'; message: string; outOfSpace: boolean };

/** The modules that a pipeline process needs, provided by `src/app`. */
export interface PipelineProgram {
  /** Path of the module that the process runs. */
  entry: string;
  /** URL of the module loaded before `entry`. It blocks network access and threads. */
  confinement: string;
  /** URLs of the modules that export a `pipeline`. */
  pipelines: readonly string[];
  /** Folder of the gateway's compile caches; null if it uses none. */
  compileCache: string | null;
}

/** Milliseconds between asking a process to stop and killing it. */
const ABORT_GRACE_MILLISECONDS = 4000;

/**
 * Environment variables that are passed to a pipeline. None of them holds a password or an address
 * of the gateway.
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

/**
 * Keeps the memory of a pipeline process small. V8 would let the space for new objects grow to
 * several times this size, and glibc would keep freed blocks in a separate heap for each of some
 * twenty threads.
 */
export const SMALL_MEMORY = {
  flags: ['--max-semi-space-size=8'],
  environment: {
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
    MALLOC_TRIM_THRESHOLD_: String(1024 * 1024),
  },
} as const;

/**
 * Switches off Mesa's device-selection layer. (Mesa is a GPU driver; this layer looks for a display
 * and logs which device it chose.)
 */
const WITHOUT_SCREEN = { NODEVICE_SELECT: '1' };

const LONGEST_LOG_LINE = 2000;

/**
 * For removing the folder of a process: another gateway on the same disk may be removing it too, and
 * a killed process may have been writing to it, so removal is repeated if the folder is not empty.
 */
const REMOVE = { recursive: true, force: true, maxRetries: 5 } as const;

export type RunOutcome =
  | PipelineEnd
  /**
   * The pipeline threw an exception. `message` is only logged. `outOfSpace` is true if the disk was
   * full.
   */
  | { type: 'failed'; message: string; outOfSpace: boolean }
  | { type: 'crashed'; reason: string }
  | { type: 'timeout' }
  /** Reading a file, or one of its frames, took too long, and the process was killed. */
  | { type: 'stalled'; file: string }
  | { type: 'aborted' };

interface PoolLimits {
  /** Heap limit in megabytes. */
  memoryMegabytes: number;
  /** The folder of all work folders. Each process may write only in a folder inside it. */
  work: string;
  /** Other paths that the process may read. */
  readable: readonly string[];
  /** True for a lower priority, so that other processes get most of the CPU. */
  yields?: boolean;
}

interface ProcessLimits extends Omit<PoolLimits, 'work'> {
  /** The only folder that the process may write to. The process may also read it. */
  writable: string;
  /** Folder of the process's compile cache, inside `writable`; null if it has no compile cache. */
  compileCache: string | null;
}

interface Run {
  /** URL of the module that exports `pipeline`. */
  module: string;
  folder: string;
  timeoutSeconds: number;
  /** Time limit in seconds for reading one file or decoding one frame. */
  readSeconds: number;
  signal: AbortSignal;
  onEvent(event: PipelineEvent): void;
}

/** A run whose folder is moved into the folder of its process, and moved back after the run. */
interface PoolRun extends Run {
  /**
   * Resolves when everything that the run has reported is stored. Only then is its folder moved
   * back.
   */
  settled(): Promise<void>;
}

/** Enforces the time limit for reading each file and each frame. */
function watchReads(seconds: number) {
  const timers = new Map<number, NodeJS.Timeout>();
  const { promise: stalled, resolve: stall } = Promise.withResolvers<RunOutcome>();
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
class PipelineProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<{ reason: string; code: number | null }>;
  #alive = true;

  constructor(
    { entry, confinement }: PipelineProgram,
    { memoryMegabytes, writable, readable, compileCache, yields = false }: ProcessLimits,
    logger: Logger,
  ) {
    this.#child = fork(entry, [], {
      // The process may not start other processes or use the network, and may read only its work
      // folder and the paths in `readable`. It therefore cannot reach the database or the files of
      // other studies.
      execArgv: [
        `--max-old-space-size=${memoryMegabytes}`,
        ...SMALL_MEMORY.flags,
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
        ...SMALL_MEMORY.environment,
        // Used by the process to end itself once the gateway is no longer its parent.
        SONOGATE_PARENT_PID: String(process.pid),
        ...(yields && { SONOGATE_YIELDS: '1' }),
        ...(compileCache !== null && { NODE_COMPILE_CACHE: compileCache }),
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
        logger.event('pipeline_output', { pid: this.#child.pid, output });
      });
    }
    this.#exited = new Promise((resolve) => {
      const gone = (reason: string, code: number | null = null) => {
        this.#alive = false;
        resolve({ reason, code });
      };
      this.#child.once('error', (error) => gone(error.message));
      this.#child.once('exit', (code, signal) => gone(signal ?? `exit code ${code}`, code));
    });
  }

  /** False once the process has ended or can no longer be used. */
  get alive(): boolean {
    return this.#alive;
  }

  /** Calls `listener` with every message of the process. */
  onMessage(listener: (message: FromChild) => void): void {
    this.#child.on('message', listener);
  }

  /** Loads a pipeline and opens its models ahead of the first run. The reply is `prepared`. */
  load(module: string, models: Job['models']): void {
    this.#send({ type: 'load', module, models });
  }

  /**
   * Imports the modules into the compile cache and ends the process. Returns whether it succeeded.
   * The signal kills the process.
   */
  async compile(modules: readonly string[], signal: AbortSignal): Promise<boolean> {
    signal.addEventListener('abort', () => this.#child.kill('SIGKILL'), { once: true });
    this.#send({ type: 'compile', modules });
    return (await this.#exited).code === 0;
  }

  /** Runs a pipeline and returns its outcome. Never throws. */
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
    const { promise: end, resolve } = Promise.withResolvers<RunOutcome>();
    const onMessage = (message: FromChild) => {
      if (message.type === 'event') onEvent(message.event);
      else if (message.type === 'reading') reads.follow(message.reading);
      else if (message.type === 'end') resolve(message.end);
      else if (message.type === 'error') resolve({ ...message, type: 'failed' });
    };
    this.#child.on('message', onMessage);
    const crash = this.#exited.then(({ reason }): RunOutcome => ({ type: 'crashed', reason }));

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

  /**
   * Sends a message. Failures are ignored because the exit of the process is reported separately.
   */
  #send(message: ToChild): void {
    if (this.#alive) this.#child.send(message, () => {});
  }
}

interface ModelListeners {
  onInference?(run: InferenceRun): void;
  onRefusal?(refusal: AcceleratorRefusalOfModel): void;
}

interface Member {
  process: PipelineProcess;
  /**
   * The only folder that the process may write to. It holds the folder of the current run and the
   * process's compile cache.
   */
  place: string;
}

/**
 * Moves the folder of a run to where the process may read and write, and runs the pipeline there. A
 * symbolic link in the old place lets the gateway find the folder under its usual path.
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
    if (process.alive) {
      for (const name of await readdir(place)) {
        if (name !== COPY_OF_CACHE) await rm(join(place, name), REMOVE);
      }
    } else await rm(place, REMOVE);
  }
}

/** Returns the compile cache of the pipeline processes; null if the program uses none. */
export function openCompileCache(
  program: PipelineProgram,
  limits: Omit<PoolLimits, 'work'>,
  logger: Logger,
): CompileCache | null {
  if (program.compileCache === null) return null;
  // Code compiled for another version of the gateway or of Node cannot be used.
  const folder = join(program.compileCache, `pipelines-${VERSION}-${process.version}`);
  return new CompileCache(folder, (into, signal) => {
    const settings = { ...limits, yields: true, writable: into, compileCache: into };
    return new PipelineProcess(program, settings, logger).compile(program.pipelines, signal);
  });
}

/** Keeps processes warm between runs, one for each concurrent run. */
export class PipelinePool {
  readonly #program: PipelineProgram;
  readonly #limits: PoolLimits;
  readonly #logger: Logger;
  readonly #listeners: ModelListeners;
  readonly #cache: CompileCache | null;
  readonly #idle: Member[] = [];
  readonly #all = new Set<Member>();
  readonly #warming = new Set<Promise<void>>();
  /**
   * Processes that are being started. `close` waits for them before it removes the folders, because
   * starting a process writes to its folder.
   */
  readonly #starting = new Set<Promise<Member>>();
  #closed = false;

  constructor(
    program: PipelineProgram,
    limits: PoolLimits,
    logger: Logger,
    listeners: ModelListeners = {},
  ) {
    this.#program = program;
    this.#limits = limits;
    this.#logger = logger;
    this.#listeners = listeners;
    this.#cache = openCompileCache(program, limits, logger);
    this.#cache?.sweep();
  }

  async run(run: PoolRun): Promise<RunOutcome> {
    const taken = await this.#take();
    try {
      const outcome = await runInside(taken, run);
      if (taken.process.alive) this.#idle.push(taken);
      return outcome;
    } catch (error) {
      // The folder of the run could not be moved, for example because the disk is full. Some of its
      // files may be left in the place of the process, so the process is not used again.
      await taken.process.kill();
      await rm(taken.place, REMOVE);
      throw error;
    }
  }

  /**
   * Starts a process ahead of the first run. `prepared` is called with the models it has opened.
   */
  warmUp(
    module: string,
    models: Job['models'],
    prepared: (models: readonly ModelInUse[]) => void,
  ): void {
    const ready = this.#start()
      .then((started) => {
        started.process.onMessage((message) => {
          if (message.type === 'prepared') prepared(message.models);
        });
        started.process.load(module, models);
        this.#idle.push(started);
      })
      // An error is ignored: a run that needs a process starts one itself and reports the error.
      .catch(() => {})
      .finally(() => this.#warming.delete(ready));
    this.#warming.add(ready);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#warming);
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#all].map((each) => each.process.kill()));
    await this.#cache?.close();
    for (const { place } of this.#all) await rm(place, REMOVE);
  }

  async #take(): Promise<Member> {
    await Promise.all(this.#warming);
    for (let next = this.#idle.pop(); next; next = this.#idle.pop()) {
      if (next.process.alive) return next;
      // A process that ended between two runs leaves its folder behind.
      await rm(next.place, REMOVE);
    }
    return this.#start();
  }

  #start(): Promise<Member> {
    const started = this.#open().finally(() => this.#starting.delete(started));
    this.#starting.add(started);
    return started;
  }

  async #open(): Promise<Member> {
    this.#refuseIfClosed();
    for (const each of this.#all) if (!each.process.alive) this.#all.delete(each);
    const { work, ...limits } = this.#limits;
    const place = join(work, `${PROCESS_FOLDER}${randomUUID()}`);
    // The folder must exist first: only then does Node extend the permission to everything below it.
    mkdirSync(place, { recursive: true });
    const compileCache = (await this.#cache?.copyTo(place)) ?? null;
    if (this.#closed) await rm(place, REMOVE);
    this.#refuseIfClosed();
    const settings = { ...limits, writable: place, compileCache };
    const started = new PipelineProcess(this.#program, settings, this.#logger);
    const { onInference, onRefusal } = this.#listeners;
    started.onMessage((message) => {
      if (message.type === 'inference') onInference?.(message.run);
      if (message.type === 'refusal') onRefusal?.(message.refusal);
    });
    const member = { process: started, place };
    this.#all.add(member);
    return member;
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new Error('the pool of pipeline processes is closed');
  }
}
