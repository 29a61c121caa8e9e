import { EventEmitter } from 'node:events';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { openOnPool, type PooledDatabase } from './pooled.ts';

/** Thrown when another living process holds the lock; the message is for the operator. */
export class DatabaseLockedError extends Error {
  override name = 'DatabaseLockedError';
}

/**
 * What a lock file says about its owner: a process id alone may belong to another process after a
 * reboot.
 */
interface Owner {
  pid: number;
  started: string;
}

const heldHere = new Set<string>();

/**
 * Start time of a process in clock ticks since boot, with the boot's id, so that a reused process
 * id is not mistaken for the owner. Empty where /proc does not exist; then the id alone decides.
 */
function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): field 22; the second field may hold spaces and ends with the last parenthesis.
    return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return '';
  }
}

function isAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === startOf(pid);
}

function readOwner(path: string): Owner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof owner === 'object' && owner && 'pid' in owner && 'started' in owner
      ? { pid: Number(owner.pid), started: String(owner.started) }
      : null;
  } catch {
    return null;
  }
}

/**
 * Creates the lock file with its content in one step. @returns false when the file already exists.
 */
function create(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }));
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Moves the lock file of a dead owner out of the way. A second process that found the same dead
 * owner may have been faster: then the moved file belongs to a living process, and it is put back.
 */
function bury(path: string, dead: Owner | null): void {
  const grave = `${path}.dead.${process.pid}`;
  try {
    renameSync(path, grave);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const buried = readOwner(grave);
  const isOther = buried !== null && (buried.pid !== dead?.pid || buried.started !== dead.started);
  if (isOther && isAlive(buried)) linkSync(grave, path);
  rmSync(grave, { force: true });
}

/**
 * Takes the lock, also from a dead owner (kill -9 leaves the file behind).
 * @returns a function that releases it.
 * @throws DatabaseLockedError while a living process holds it.
 */
export function takeLock(path: string): () => void {
  const release = () => {
    heldHere.delete(path);
    rmSync(path, { force: true });
  };
  const owner = readOwner(path);
  if (heldHere.has(path) || (owner && owner.pid !== process.pid && isAlive(owner))) {
    throw new DatabaseLockedError(
      `The database is in use by process ${owner?.pid ?? process.pid} (${path}). ` +
        'One process at a time may open the embedded database; stop the other one, ' +
        'or set DATABASE_URL to a PostgreSQL server.',
    );
  }
  bury(path, owner);
  if (!create(path)) {
    throw new DatabaseLockedError(`Another process has just opened the database (${path}).`);
  }
  heldHere.add(path);
  return release;
}

interface QueryResult<Row> {
  rows: Row[];
  rowCount?: number | null;
}

/** Grants one permit at a time, in the order of the requests. */
class Turnstile {
  #last: Promise<void> = Promise.resolve();

  enter(): Promise<() => void> {
    const before = this.#last;
    let leave = () => {};
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    return before.then(() => leave);
  }
}

/** The first word of a statement; BullMQ's SQL begins with comment lines. */
function leadingKeyword(text: string): string {
  return /^(?:\s|--[^\n]*(?:\n|$))*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? '';
}

/**
 * One client of the pool. PGlite has a single session, so a client holds the permit from `BEGIN` to
 * `COMMIT` or `ROLLBACK`: statements of other clients never end up in its transaction.
 */
class PglitePoolClient extends EventEmitter {
  readonly #pglite: PGlite;
  readonly #turnstile: Turnstile;
  #leave: (() => void) | null = null;
  #unlisten: (() => Promise<void>)[] = [];

  constructor(pglite: PGlite, turnstile: Turnstile) {
    super();
    this.#pglite = pglite;
    this.#turnstile = turnstile;
  }

  async query<Row = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    const keyword = leadingKeyword(text);
    const leave = this.#leave ?? (await this.#turnstile.enter());
    let ends = this.#leave === null;
    try {
      if (keyword === 'LISTEN') {
        await this.#listen(/listen\s+"?(\w+)"?/i.exec(text.replace(/--[^\n]*/g, ''))?.[1] ?? '');
        return { rows: [], rowCount: null };
      }
      const result = await this.#run<Row>(text, values);
      if (keyword === 'BEGIN') {
        this.#leave = leave;
        ends = false;
      }
      return result;
    } finally {
      if (keyword === 'COMMIT' || keyword === 'ROLLBACK') {
        this.#leave = null;
        ends = true;
      }
      if (ends) leave();
    }
  }

  /** Releases the client; a transaction that is still open is rolled back. */
  release(_destroy?: boolean): void {
    if (this.#leave) this.query('ROLLBACK').catch(() => {});
    for (const unlisten of this.#unlisten.splice(0)) unlisten().catch(() => {});
    this.removeAllListeners();
  }

  async #listen(channel: string): Promise<void> {
    this.#unlisten.push(
      await this.#pglite.listen(channel, (payload) =>
        this.emit('notification', { channel, payload }),
      ),
    );
  }

  /**
   * Runs a query. Without values, the text may contain several statements (migrations), as with
   * node-postgres.
   */
  async #run<Row>(text: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    if (values.length > 0) return this.#pglite.query<Row>(text, [...values]);
    const results = await this.#pglite.exec(text);
    const last = results.at(-1);
    return { rows: (last?.rows ?? []) as Row[], rowCount: last?.rowCount ?? null };
  }
}

/** PGlite in the shape of `pg.Pool`, as far as BullMQ and this project use it. */
class PglitePool extends EventEmitter {
  /** A call inside the process cannot be lost silently, so keep-alive has nothing to do. */
  readonly options = { keepAlive: true };
  readonly #pglite: PGlite;
  readonly #turnstile = new Turnstile();

  constructor(pglite: PGlite) {
    super();
    this.#pglite = pglite;
  }

  async connect(): Promise<PglitePoolClient> {
    return new PglitePoolClient(this.#pglite, this.#turnstile);
  }

  query<Row = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    return new PglitePoolClient(this.#pglite, this.#turnstile).query<Row>(text, values);
  }

  async end(): Promise<void> {
    const leave = await this.#turnstile.enter();
    await this.#pglite.close().finally(leave);
  }
}

/** BullMQ's functions use unqualified names in its own schema; PGlite has one session for all. */
const SEARCH_PATH = 'SET search_path TO public, bullmq';

/** Folder of the embedded database in a data folder. */
export const embeddedFolder = (dataDir: string): string => join(dataDir, 'database');

/**
 * PGlite in the data folder, or in memory when `dataDir` is null (tests). Serves one process.
 * PGlite runs with fsync off: a killed process loses nothing that was committed, but a power cut
 * may; a site that needs that guarantee sets DATABASE_URL.
 * @throws DatabaseLockedError when another process has it open.
 */
export async function openEmbedded(dataDir: string | null): Promise<PooledDatabase> {
  if (dataDir === null) return open(await PGlite.create(), () => {});
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const folder = embeddedFolder(dataDir);
  const unlock = takeLock(`${folder}.lock`);
  try {
    return await open(await PGlite.create(folder), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function open(pglite: PGlite, unlock: () => void): Promise<PooledDatabase> {
  await pglite.exec(SEARCH_PATH);
  const pool = new PglitePool(pglite);
  return openOnPool({
    pool,
    queuePool: pool,
    exclusive: true,
    close: async () => {
      await pool.end();
      unlock();
    },
  });
}
