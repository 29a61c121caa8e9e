import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Name of a pipeline process's copy of the cache, inside the only folder that the process may write
 * to.
 */
export const COPY_OF_CACHE = 'compile-cache';

/**
 * Writes the compiled modules into a folder. Returns false if this failed or the signal stopped it.
 */
type Compile = (folder: string, signal: AbortSignal) => Promise<boolean>;

/** Milliseconds after which an unfinished cache is abandoned: writing one takes seconds. */
const ABANDONED_MS = 600_000;

/**
 * Compiled code of the modules that pipelines load, about a thousand. Without it, each process would
 * spend a second of processor time on compiling them.
 *
 * Node.js uses a compile cache only with permission to write to it, but a process that has read
 * hostile images must not be able to change the code of the next one. So a process that only imports
 * the modules writes the cache, and each pipeline process gets a private copy.
 */
export class CompileCache {
  readonly #folder: string;
  readonly #compile: Compile;
  readonly #closing = new AbortController();
  #writing: Promise<void> | null = null;
  #sweeping: Promise<void> | null = null;

  /** @param folder where the cache is kept; other gateways on this host may use it too. */
  constructor(folder: string, compile: Compile) {
    this.#folder = folder;
    this.#compile = compile;
  }

  /**
   * Copies the cache into the folder of a process. If there is no cache yet, starts writing one for
   * later processes.
   * @returns the folder of the copy; null if nothing was copied.
   */
  async copyTo(place: string): Promise<string | null> {
    const copy = join(place, COPY_OF_CACHE);
    if (await stat(this.#folder).catch(() => null)) {
      // For a thousand small files, `cp` needs a tenth of the processor time of `fs.cp`.
      const copied = await run('cp', ['-r', this.#folder, copy]).catch(() => null);
      return copied ? copy : null;
    }
    void this.write();
    return null;
  }

  /**
   * Writes the cache unless it exists; later calls wait for the first one. Resolves when the cache is
   * written or cannot be written.
   */
  write(): Promise<void> {
    // Without a cache, processes only start more slowly, so a failure is neither repeated nor
    // reported.
    this.#writing ??= this.#write().catch(() => {});
    return this.#writing;
  }

  /** Removes files left behind by gateways that were killed while writing the cache. */
  sweep(): void {
    this.#sweeping ??= this.#sweep().catch(() => {});
  }

  /** Stops writing. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#writing, this.#sweeping]);
  }

  async #sweep(): Promise<void> {
    const place = dirname(this.#folder);
    for (const name of await readdir(place)) {
      if (!name.startsWith(`${basename(this.#folder)}-`)) continue;
      const unfinished = join(place, name);
      const { mtimeMs } = await stat(unfinished);
      if (Date.now() - mtimeMs < ABANDONED_MS) continue;
      await rm(unfinished, { recursive: true, force: true });
    }
  }

  async #write(): Promise<void> {
    if (await stat(this.#folder).catch(() => null)) return;
    const unfinished = await mkdtemp(`${this.#folder}-`);
    try {
      const { signal } = this.#closing;
      const complete = !signal.aborted && (await this.#compile(unfinished, signal));
      // If several gateways write the cache at the same time, the first one is kept.
      if (complete) await rename(unfinished, this.#folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
}
