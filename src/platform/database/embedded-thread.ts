import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';

export interface Started {
  /** Folder of the database; null keeps it in memory. */
  folder: string | null;
  /** Statements that set up PGlite's only session. */
  setUp: string;
  /** Free bytes on the disk of the folder below which no statement is begun. */
  leastFreeBytes: number;
}

/** A global of Node.js that its type definitions lack. */
declare namespace WebAssembly {
  type Module = object;
  function compile(bytes: Uint8Array): Promise<Module>;
}

/** PGlite's build of PostgreSQL, compiled once for all threads of this process. */
export interface Compiled {
  program: WebAssembly.Module;
}

export type Call =
  | {
      name: 'query';
      text: string;
      values: readonly unknown[];
      /** Name under which the session keeps the statement prepared. */
      statement?: string | undefined;
    }
  | { name: 'listen' | 'unlisten'; channel: string }
  | { name: 'close' };

export interface QueryResult<Row> {
  rows: Row[];
  rowCount?: number | null;
}

/** A message from the thread: that it is ready, the answer to a call, or a notification. */
export type Answered =
  | { ready: true }
  | { id: number; answer: QueryResult<unknown> | null }
  | {
      id: number;
      error: { message: string; code: string | undefined; constraint: string | undefined };
    }
  | { channel: string; payload: string };

/** Thrown if a statement fails, with its SQLSTATE as in node-postgres. */
class StatementError extends Error {
  override name = 'StatementError';
  readonly code: string | undefined;
  readonly constraint: string | undefined;

  constructor({
    message,
    code,
    constraint,
  }: { message: string } & Pick<StatementError, 'code' | 'constraint'>) {
    super(message);
    this.code = code;
    this.constraint = constraint;
  }
}

/**
 * Creates the error for a thread that ended unexpectedly, with node-postgres's message for a lost
 * session.
 */
const terminated = (cause: unknown) =>
  new Error('Connection terminated: the thread of the embedded database ended', { cause });

interface Waiting {
  resolve(answer: QueryResult<unknown> | null): void;
  reject(error: unknown): void;
}

/**
 * Work budget after which V8 recompiles a function with more optimisation. With the default
 * (13,000,000), it compiles most functions of PGlite soon after startup, on all cores at once, and
 * never frees the 250 to 450 MB needed for this. With this budget, the functions used most by
 * statements are still compiled within seconds of work.
 */
const TIERING_BUDGET = 200_000_000;

/**
 * Size of V8's young generation in MB, which holds the rows passed to other threads. V8 would let
 * it grow to 64 MB, which would stay resident.
 */
const YOUNG_GENERATION_MB = 8;

const ENTRY = new URL('./embedded-thread-entry.ts', import.meta.url);

let compiled: Promise<WebAssembly.Module> | null = null;

/** Returns PGlite's WebAssembly, which is compiled only once. */
function programOf(): Promise<WebAssembly.Module> {
  compiled ??= compile().catch((error) => {
    compiled = null;
    throw error;
  });
  return compiled;
}

async function compile(): Promise<WebAssembly.Module> {
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`);
  const file = new URL('./pglite.wasm', import.meta.resolve('@electric-sql/pglite'));
  const bytes = await readFile(file);
  const program = await WebAssembly.compile(bytes);
  // V8 keeps a copy. The garbage collector would notice these 9 MB only after a full collection.
  bytes.buffer.transfer(0);
  return program;
}

/**
 * Runs PGlite in a thread, so that no SQL delays a socket or a health check. If the thread ends
 * unexpectedly, the calls in progress fail like those of a lost session, and `lost` is emitted. The
 * next call then starts a new thread, which recovers the database from its folder; an in-memory
 * database is lost. The thread keeps the process alive only while a call is in progress.
 */
export class DatabaseThread extends EventEmitter<{
  lost: [Error];
  notification: [{ channel: string; payload: string }];
}> {
  readonly #started: Started;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Promise<Worker> | null = null;
  #lastId = 0;
  /**
   * Number of the database session. It increases when the thread is lost, because the transactions
   * of the earlier session no longer exist.
   */
  session = 0;

  constructor(started: Started) {
    super();
    // Removes the limit on listeners: each pool session that is subscribed to a channel has one.
    this.setMaxListeners(0);
    this.#started = started;
  }

  /**
   * Opens the database.
   * @throws the PGlite error if it cannot be opened.
   */
  async open(): Promise<void> {
    await this.#thread();
  }

  async ask<Row>(call: Call): Promise<QueryResult<Row> | null> {
    const worker = await this.#thread();
    const id = ++this.#lastId;
    const answer = new Promise<QueryResult<unknown> | null>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    worker.ref();
    worker.postMessage({ id, call });
    try {
      return (await answer) as QueryResult<Row> | null;
    } finally {
      if (this.#waiting.size === 0) worker.unref();
    }
  }

  async close(): Promise<void> {
    if (!this.#worker) return;
    await this.ask({ name: 'close' });
    const worker = await this.#worker;
    worker.removeAllListeners('exit');
    await worker.terminate();
  }

  #thread(): Promise<Worker> {
    if (this.#worker) return this.#worker;
    if (this.session > 0 && this.#started.folder === null) {
      return Promise.reject(terminated('a database in memory ends with its thread'));
    }
    this.#worker = this.#start();
    // If the database does not open, the next call tries again.
    this.#worker.catch(() => {
      this.#worker = null;
    });
    return this.#worker;
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(ENTRY, {
      workerData: { ...this.#started, program: await programOf() } satisfies Started & Compiled,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    let failure: unknown = null;
    return new Promise((resolve, reject) => {
      worker.on('message', (message: Answered) => {
        if ('ready' in message) {
          worker.unref();
          resolve(worker);
        } else this.#receive(message);
      });
      worker.on('error', (error) => {
        failure = error;
      });
      worker.on('exit', (code) => {
        const cause = failure ?? `exit code ${code}`;
        reject(cause);
        this.#lose(terminated(cause));
      });
    });
  }

  #receive(message: Exclude<Answered, { ready: true }>): void {
    if ('channel' in message) {
      this.emit('notification', message);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('error' in message) waiting?.reject(new StatementError(message.error));
    else waiting?.resolve(message.answer);
  }

  #lose(error: Error): void {
    this.#worker = null;
    this.session += 1;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
    this.emit('lost', error);
  }
}
