import { statfsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { preparedStatements } from './embedded-prepared.ts';
import type { Answered, Call, Compiled, QueryResult, Started } from './embedded-thread.ts';

/**
 * Entry point of the embedded database thread (embedded-thread.ts). Calls are answered in order.
 */
const { folder, setUp, leastFreeBytes, program } = workerData as Started & Compiled;
/**
 * PGlite settings. One session needs few shared buffers, but with the default of 128 MB they would
 * become resident over time. Log files beyond 64 MB are removed by a checkpoint instead of being
 * kept for reuse (default: up to 1 GB).
 */
const SETTINGS = ['shared_buffers=16MB', 'min_wal_size=32MB', 'max_wal_size=64MB'];

const pglite = await PGlite.create({
  ...(folder !== null && { dataDir: folder }),
  pgliteWasmModule: program,
  startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((each) => ['-c', each])],
});
await pglite.exec(setUp);
const runPrepared = preparedStatements(pglite);

/** Functions that end the subscription to a channel, by channel. */
const subscribed = new Map<string, () => Promise<void>>();

const post = (message: Answered) => parentPort?.postMessage(message);

/** Statements that run even on a full disk: they end a transaction, or free space in the log. */
const ALWAYS = /^\s*(COMMIT|ROLLBACK|CHECKPOINT)\b/i;

/** SQLSTATE of PostgreSQL for a full disk. */
const DISK_FULL = '53100';

/** Throws an error with an SQLSTATE if the disk has too little space for the log of a statement. */
function requireRoom(text: string): void {
  if (folder === null || ALWAYS.test(text)) return;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= leastFreeBytes) return;
  const megabytes = leastFreeBytes / 1024 ** 2;
  const message = `less than ${megabytes} MiB are free on the disk of the embedded database in ${folder}; free some space there`;
  throw Object.assign(new Error(message), { code: DISK_FULL });
}

/**
 * Runs a query. Without values, the text may contain several statements (migrations), as with
 * node-postgres.
 */
async function run(text: string, values: readonly unknown[]): Promise<QueryResult<unknown>> {
  const result =
    values.length > 0 ? await pglite.query(text, [...values]) : (await pglite.exec(text)).at(-1);
  return { rows: result?.rows ?? [], rowCount: result?.rowCount ?? null };
}

async function answer(call: Call): Promise<QueryResult<unknown> | null> {
  switch (call.name) {
    case 'query':
      requireRoom(call.text);
      return call.statement === undefined
        ? run(call.text, call.values)
        : runPrepared(call.statement, call.text, call.values);
    case 'listen': {
      const { channel } = call;
      const stop = await pglite.listen(channel, (payload) => post({ channel, payload }));
      subscribed.set(channel, () => stop());
      return null;
    }
    case 'unlisten':
      await subscribed.get(call.channel)?.();
      subscribed.delete(call.channel);
      return null;
    case 'close':
      await pglite.close();
      return null;
  }
}

/**
 * Names of the errors that leave PGlite unusable: a WebAssembly trap, and an exit of PostgreSQL.
 */
const FATAL: ReadonlySet<string> = new Set(['RuntimeError', 'ExitStatus']);

/**
 * Returns those fields of an error that a caller may see. The values of the statement are omitted,
 * because they may identify a patient.
 */
function plain(error: unknown): Extract<Answered, { error: object }>['error'] {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return { message: error instanceof Error ? error.message : String(error), code, constraint };
}

parentPort?.on('message', async ({ id, call }: { id: number; call: Call }) => {
  try {
    post({ id, answer: await answer(call) });
  } catch (error) {
    // After a fault inside WebAssembly, the database no longer answers: a new thread must recover
    // it.
    if (error instanceof Error && FATAL.has(error.name)) throw error;
    post({ id, error: plain(error) });
  }
});
post({ ready: true });
