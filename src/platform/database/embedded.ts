import { EventEmitter } from 'node:events';
import { mkdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '../logging/logger.ts';
import { DatabaseThread, type QueryResult } from './embedded-thread.ts';
import { DatabaseLockedError, LockFileError, takeLock } from './folder-lock.ts';
import { openOnPool, type PooledDatabase } from './pooled.ts';
import { startUpkeep } from './upkeep.ts';

/** Grants one permit at a time, in the order requested. */
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

/** Returns the first word of a statement; BullMQ's SQL begins with comment lines. */
function leadingKeyword(text: string): string {
  return /^(?:\s|--[^\n]*(?:\n|$))*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? '';
}

/** Subscriptions of all clients. The only session of PGlite listens to each channel once. */
class Channels {
  readonly #thread: DatabaseThread;
  readonly #listeners = new Map<string, number>();

  constructor(thread: DatabaseThread) {
    this.#thread = thread;
    thread.on('lost', () => this.#listeners.clear());
  }

  async add(channel: string): Promise<void> {
    const before = this.#listeners.get(channel) ?? 0;
    this.#listeners.set(channel, before + 1);
    if (before === 0) await this.#thread.ask({ name: 'listen', channel });
  }

  async remove(channel: string): Promise<void> {
    const left = (this.#listeners.get(channel) ?? 0) - 1;
    if (left < 0) return;
    this.#listeners.set(channel, left);
    if (left === 0) await this.#thread.ask({ name: 'unlisten', channel });
  }
}

/**
 * One client of the pool. PGlite has a single session, so a client holds the permit from `BEGIN` to
 * `COMMIT` or `ROLLBACK`. Statements from other clients therefore never become part of its
 * transaction.
 */
class PglitePoolClient extends EventEmitter {
  readonly #thread: DatabaseThread;
  readonly #turnstile: Turnstile;
  readonly #channels: Channels;
  readonly #listening = new Set<string>();
  #leave: (() => void) | null = null;
  /** The database session in which the client's transaction began. */
  #session = 0;

  constructor(thread: DatabaseThread, turnstile: Turnstile, channels: Channels) {
    super();
    this.#thread = thread;
    this.#turnstile = turnstile;
    this.#channels = channels;
  }

  async query<Row = Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
    statement?: string,
  ): Promise<QueryResult<Row>> {
    const keyword = leadingKeyword(text);
    const leave = this.#leave ?? (await this.#turnstile.enter());
    let ends = this.#leave === null;
    try {
      if (keyword === 'LISTEN') {
        await this.#listen(/listen\s+"?(\w+)"?/i.exec(text.replace(/--[^\n]*/g, ''))?.[1] ?? '');
        return { rows: [], rowCount: null };
      }
      if (this.#leave && this.#session !== this.#thread.session) {
        throw new Error('Connection terminated: the transaction was lost with its session');
      }
      const result = await this.#thread.ask<Row>({ name: 'query', text, values, statement });
      if (keyword === 'BEGIN') {
        this.#leave = leave;
        this.#session = this.#thread.session;
        ends = false;
      }
      return result ?? { rows: [] };
    } finally {
      if (keyword === 'COMMIT' || keyword === 'ROLLBACK') {
        this.#leave = null;
        ends = true;
      }
      if (ends) leave();
    }
  }

  /** Releases the client. A transaction that is still open is rolled back. */
  release(_destroy?: boolean): void {
    if (this.#leave) this.query('ROLLBACK').catch(() => {});
    this.#thread.off('notification', this.#onNotification).off('lost', this.#onLost);
    for (const channel of this.#listening) this.#channels.remove(channel).catch(() => {});
    this.#listening.clear();
    this.removeAllListeners();
  }

  async #listen(channel: string): Promise<void> {
    if (this.#listening.size === 0) {
      this.#thread.on('notification', this.#onNotification).on('lost', this.#onLost);
    }
    this.#listening.add(channel);
    await this.#channels.add(channel);
  }

  readonly #onNotification = (message: { channel: string; payload: string }) => {
    if (this.#listening.has(message.channel)) this.emit('notification', message);
  };

  /**
   * Called when the session is lost. Clients that listen to channels receive an error. A client in
   * a transaction fails with its next statement.
   */
  readonly #onLost = (error: Error) => {
    this.#listening.clear();
    if (this.listenerCount('error') > 0) this.emit('error', error);
  };
}

/** PGlite with those parts of the `pg.Pool` interface that BullMQ and this project use. */
class PglitePool extends EventEmitter {
  /**
   * Claims that TCP keep-alive is already on, so that BullMQ does not try to enable it. There is no
   * socket: PGlite runs in this process.
   */
  readonly options = { keepAlive: true };
  readonly #thread: DatabaseThread;
  readonly #turnstile = new Turnstile();
  readonly #channels: Channels;

  constructor(thread: DatabaseThread) {
    super();
    this.#thread = thread;
    this.#channels = new Channels(thread);
  }

  async connect(): Promise<PglitePoolClient> {
    return new PglitePoolClient(this.#thread, this.#turnstile, this.#channels);
  }

  query<Row = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
    statement?: string,
  ): Promise<QueryResult<Row>> {
    return new PglitePoolClient(this.#thread, this.#turnstile, this.#channels).query<Row>(
      text,
      values,
      statement,
    );
  }

  async end(): Promise<void> {
    const leave = await this.#turnstile.enter();
    await this.#thread.close().finally(leave);
  }
}

/**
 * BullMQ's functions use unqualified names from its schema, so PGlite's only session has this
 * schema on its search path.
 */
const SEARCH_PATH = 'SET search_path TO public, bullmq';

export const embeddedFolder = (dataDir: string): string => join(dataDir, 'database');

/**
 * Opens PGlite in the data folder, or in memory if `dataDir` is null (tests). Only one process can
 * use it. PGlite runs with fsync off: no committed data is lost if the process is killed, but a
 * power failure can lose some. Installations that cannot accept this set DATABASE_URL.
 * @throws DatabaseLockedError if another process has it open.
 */
export async function openEmbedded(
  dataDir: string | null,
  logger: Logger,
): Promise<PooledDatabase> {
  if (dataDir === null) return open(null, () => {}, logger);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const folder = embeddedFolder(dataDir);
  let unlock = () => {};
  try {
    unlock = takeLock(`${folder}.in-use`);
    return await open(folder, unlock, logger);
  } catch (error) {
    unlock();
    if (error instanceof DatabaseLockedError) throw error;
    throw await unopened(folder, error);
  }
}

/**
 * Free bytes below which a failed startup is attributed to a full disk. The PGlite files take some
 * 40 MB.
 */
const LEAST_FREE_BYTES = 64 * 1024 ** 2;

/**
 * Free bytes below which no statement is begun: two segments of the write-ahead log. If a commit
 * cannot extend the log, PGlite repeats the commit for ever. It then never answers again, even when
 * the disk has space once more. (A PostgreSQL server would end and restart.)
 */
const STATEMENT_BYTES = 32 * 1024 ** 2;

/**
 * Explains to the operator why the database did not open. PGlite itself only reports that it failed
 * to initialize properly.
 */
async function unopened(folder: string, cause: unknown): Promise<Error> {
  const { bavail, bsize } = await statfs(dirname(folder));
  const free = bavail * bsize;
  if (free < LEAST_FREE_BYTES) {
    const megabytes = Math.floor(free / 1024 ** 2);
    return new Error(
      `The embedded database in ${folder} cannot be opened: its disk has ${megabytes} MiB free and needs ` +
        `${LEAST_FREE_BYTES / 1024 ** 2}. Free some space, then start again.`,
      { cause },
    );
  }
  if (cause instanceof LockFileError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `The embedded database in ${folder} cannot be opened (${why}). Its files are damaged, or another ` +
      'major version wrote them. Move the folder aside and restore the backup of the data folder ' +
      '(docs/operations.md); objects received since then are registered again from intake/.',
    { cause },
  );
}

async function open(
  folder: string | null,
  unlock: () => void,
  logger: Logger,
): Promise<PooledDatabase> {
  const thread = new DatabaseThread({
    folder,
    setUp: SEARCH_PATH,
    leastFreeBytes: folder === null ? 0 : STATEMENT_BYTES,
  });
  await thread.open();
  thread.on('lost', (error) => {
    logger.event('embedded_database_lost', { error: String(error.cause ?? error) });
  });
  const pool = new PglitePool(thread);
  const database = openOnPool({
    pool,
    prepared:
      (name) =>
      <Row>(text: string, values?: readonly unknown[]) =>
        pool.query<Row>(text, values, name),
    queuePool: pool,
    exclusive: true,
    close: async () => {
      await stopUpkeep();
      await pool.end();
      unlock();
    },
  });
  const stopUpkeep = folder === null ? async () => {} : startUpkeep(database, logger);
  return database;
}
