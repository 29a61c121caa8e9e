import { EventEmitter } from 'node:events';
import type { PGlite } from '@electric-sql/pglite';

interface QueryResult<Row> {
  rows: Row[];
  rowCount?: number | null;
}

/** Hands out one permit at a time, in the order of asking. */
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
 * One client of the pool. PGlite has a single session, so a client holds the turnstile from `BEGIN`
 * to `COMMIT` or `ROLLBACK`: statements of others never fall into its transaction.
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

  /** Gives the client back; a transaction that is still open is rolled back. */
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

  /** Without values a text may hold several statements (migrations), as with node-postgres. */
  async #run<Row>(text: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    if (values.length > 0) return this.#pglite.query<Row>(text, [...values]);
    const results = await this.#pglite.exec(text);
    const last = results.at(-1);
    return { rows: (last?.rows ?? []) as Row[], rowCount: last?.rowCount ?? null };
  }
}

/** PGlite in the shape of `pg.Pool`, as far as BullMQ and this project use it. */
export class PglitePool extends EventEmitter {
  /** A call inside the process cannot be lost silently, which is what keep-alive is for. */
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
