import { Worker } from 'node:worker_threads';
import type { Digests } from '../../src/core/studies/study-store.ts';

/**
 * A task for the thread about one object. The blocks are shared memory, which the thread only
 * reads.
 */
export interface DiskTask {
  id: number;
  path: string;
  /** Bytes before the data set; only in the first task. */
  prefix: Uint8Array | null;
  blocks: Uint8Array[];
  /** Final path without the checksum; null if the object is not complete yet. */
  finish: string | null;
  discard: boolean;
}

export type DiskAnswer =
  /** The thread no longer needs the oldest `read` blocks, so they may be filled again. */
  | { id: number; read: number }
  /** Writing failed. `finish` will report the reason. */
  | { id: number; failed: true }
  /**
   * The content, the name and the folder of the object are synced. If the digests are null, they
   * follow in a later answer.
   */
  | { id: number; durable: { path: string; bytes: number }; digests: Digests | null }
  | { id: number; digests: Digests }
  | { id: number; discarded: true }
  | { id: number; error: { message: string; code: string | undefined } };

export interface DiskSettings {
  /**
   * True to compute the digests of data sets. With a bucket, they are needed before the receipt of
   * an object is confirmed. If false, the digests are null.
   */
  dataSetDigests: boolean;
}

/** A durable object. */
interface WrittenObject {
  path: string;
  bytes: number;
  /** Rejects only if the thread ends before the digests are computed. */
  digests: Promise<Digests>;
}

interface ObjectFile {
  /** Copies bytes of the data set. Resolves when more may follow. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Makes the object durable under its final path: `to`, with the CRC-32 of its content before the
   * suffix.
   * @throws the file system error.
   */
  finish(to: string): Promise<WrittenObject>;
  discard(): Promise<void>;
}

const BLOCK_BYTES = 128 * 1024;
/**
 * Number of blocks that are sent to the thread together, because each message wakes the thread.
 * With this number, half of a 0.5 MB image is written while the other half arrives.
 */
const SENT_TOGETHER = 2;
/**
 * Maximum number of blocks of one object that the thread has not read yet. At this number, the
 * sender has to wait.
 */
const MOST_BEHIND = 16;
/**
 * Number of blocks after which the thread reports that it has read them. They are reported
 * together, because each message wakes the main thread.
 */
export const REPORTED_TOGETHER = 8;
/**
 * Maximum number of spare blocks kept for later objects; enough for as many concurrent
 * associations.
 */
const MOST_SPARE = 32;

const ENTRY = new URL('./disk-thread.ts', import.meta.url);

/**
 * Writes, hashes and syncs received objects on a thread, so that a slow sync does not block an
 * association. Bytes are copied once, into reusable blocks of shared memory. Objects finished at
 * the same moment share the syncs of their folders.
 */
export class DiskWriter {
  readonly #files = new Map<number, WritingFile>();
  readonly #spare: Buffer[] = [];
  readonly #settings: DiskSettings;
  #thread: Worker | null = null;
  #lastId = 0;

  constructor(settings: DiskSettings) {
    this.#settings = settings;
  }

  /**
   * Opens the file of an object.
   * @param path where the object is while it arrives; its folder is created if missing.
   * @param prefix bytes before the data set.
   */
  open(path: string, prefix: Uint8Array): ObjectFile {
    const id = ++this.#lastId;
    const file = new WritingFile(id, path, prefix, {
      block: () => this.#spare.pop() ?? Buffer.from(new SharedArrayBuffer(BLOCK_BYTES)),
      spare: (block) => {
        if (this.#spare.length < MOST_SPARE) this.#spare.push(block);
      },
      send: (task) => this.#send(task, file),
    });
    return file;
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = null;
  }

  #send(task: DiskTask, file: WritingFile): void {
    this.#files.set(task.id, file);
    this.#thread ??= this.#start();
    this.#thread.ref();
    this.#thread.postMessage(task);
  }

  #start(): Worker {
    const thread = new Worker(ENTRY, {
      workerData: this.#settings,
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    const onEnd = (error: unknown) => {
      if (this.#thread === thread) this.#thread = null;
      const files = [...this.#files.values()];
      this.#files.clear();
      for (const file of files) file.lost(error);
    };
    thread.on('message', (answer: DiskAnswer) => {
      const file = this.#files.get(answer.id);
      if (file?.answered(answer)) this.#files.delete(answer.id);
      if (this.#files.size === 0) thread.unref();
    });
    thread.on('error', onEnd);
    thread.on('exit', () => onEnd(new Error('the thread that writes objects ended')));
    return thread;
  }
}

interface Blocks {
  block(): Buffer;
  spare(block: Buffer): void;
  send(task: DiskTask): void;
}

class WritingFile implements ObjectFile {
  readonly #id: number;
  readonly #path: string;
  readonly #blocks: Blocks;
  #prefix: Uint8Array | null;
  #block: Buffer | null = null;
  #filled = 0;
  /** Complete blocks that are not sent to the thread yet. */
  readonly #unsent: { block: Buffer; bytes: number }[] = [];
  /** Sent blocks that the thread has not read yet, in order. */
  readonly #behind: Buffer[] = [];
  #failed = false;
  #goOn: (() => void) | null = null;
  #end: PromiseWithResolvers<DiskAnswer> | null = null;
  readonly #digests = Promise.withResolvers<Digests>();
  #lost: unknown = null;

  constructor(id: number, path: string, prefix: Uint8Array, blocks: Blocks) {
    this.#id = id;
    this.#path = path;
    // A copy, because a message copies the whole memory behind an array, and a small Buffer shares
    // Node.js's pool of 64 KiB.
    this.#prefix = new Uint8Array(prefix);
    this.#blocks = blocks;
    // Nothing awaits the digests of a refused object. Without this handler, their rejection would
    // end the process.
    this.#digests.promise.catch(() => {});
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      if (this.#lost !== null) throw this.#lost;
      this.#block ??= this.#blocks.block();
      const part = bytes.subarray(from, from + this.#block.length - this.#filled);
      // `set` takes 15 times as long, because it copies single bytes into shared memory.
      this.#block.fill(part, this.#filled, this.#filled + part.length);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === this.#block.length) this.#endBlock();
      if (this.#unsent.length === SENT_TOGETHER) this.#send({ finish: null, discard: false });
      while (this.#behind.length >= MOST_BEHIND && this.#lost === null && !this.#failed) {
        await new Promise<void>((resolve) => {
          this.#goOn = resolve;
        });
      }
    }
    // The thread reports why writing failed only when the file is finished, so finish it now. The
    // object's remaining bytes are not needed.
    if (this.#failed) await this.#ended({ finish: this.#path, discard: false });
  }

  async finish(to: string): Promise<WrittenObject> {
    const answer = await this.#ended({ finish: to, discard: false });
    if (!('durable' in answer)) throw new Error('the object was discarded');
    return { ...answer.durable, digests: this.#digests.promise };
  }

  async discard(): Promise<void> {
    // If writing failed, the thread has already removed the file.
    if (this.#end || this.#lost !== null) return;
    await this.#ended({ finish: null, discard: true });
  }

  async #ended(end: Pick<DiskTask, 'finish' | 'discard'>): Promise<DiskAnswer> {
    if (this.#lost !== null) throw this.#lost;
    this.#end = Promise.withResolvers();
    this.#send(end);
    const answer = await this.#end.promise;
    if (!('error' in answer)) return answer;
    const { message, code } = answer.error;
    throw Object.assign(new Error(message), { code });
  }

  #endBlock(): void {
    if (this.#block) this.#unsent.push({ block: this.#block, bytes: this.#filled });
    this.#block = null;
    this.#filled = 0;
  }

  #send(end: Pick<DiskTask, 'finish' | 'discard'>): void {
    this.#endBlock();
    const unsent = this.#unsent.splice(0);
    const blocks = unsent.map(({ block, bytes }) => block.subarray(0, bytes));
    this.#behind.push(...unsent.map(({ block }) => block));
    this.#blocks.send({ id: this.#id, path: this.#path, prefix: this.#prefix, blocks, ...end });
    this.#prefix = null;
  }

  /** Processes an answer of the thread. Returns true if it is the last one about the object. */
  answered(answer: DiskAnswer): boolean {
    if ('read' in answer) this.#reuse(answer.read);
    else if ('failed' in answer) this.#failed = true;
    else {
      if ('digests' in answer && answer.digests) this.#digests.resolve(answer.digests);
      // Has no effect if the object is already durable.
      this.#end?.resolve(answer);
    }
    this.#goOn?.();
    if ('read' in answer || 'failed' in answer) return false;
    if ('digests' in answer && answer.digests === null) return false;
    this.#reuse(this.#behind.length);
    return true;
  }

  #reuse(blocks: number): void {
    for (const block of this.#behind.splice(0, blocks)) this.#blocks.spare(block);
  }

  /**
   * Called when the thread has ended. The calls in progress are rejected, so the senders will send
   * their objects again.
   */
  lost(error: unknown): void {
    this.#lost = error;
    this.#goOn?.();
    this.#end?.reject(error);
    this.#digests.reject(error);
  }
}
