import type { Config } from '../../config/schema.ts';
import type { PooledDatabase } from '../database/pooled.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { createResultStore } from '../files/result-store.ts';
import { artifactPath } from '../files/results.ts';
import type { Logger } from '../logging/logger.ts';
import type { RequestQueue } from '../queue/queue.ts';
import { type ArtifactEntry, listArtifacts } from './artifacts.ts';
import { cancelRequest } from './cancel.ts';
import { armWatch, openChangeFeed } from './changes.ts';
import type { Endpoint } from './endpoint.ts';
import type { StoredEvent } from './events.ts';
import { createEventReader } from './follow.ts';
import { type HistoryPage, type HistoryQuery, listHistory } from './history.ts';
import type { ResultReader } from './port.ts';
import type { RequestRow, StoredRequest } from './row.ts';
import { createSubmit, type SubmitRow } from './submit.ts';
import { type RequestObject, viewRequest } from './view.ts';

export type { ArtifactEntry } from './artifacts.ts';
export type { HistoryPage, HistoryQuery } from './history.ts';

export interface EventReader {
  /**
   * Stored events after `afterSeq` (0 for all), in order. `baseUrl` is the address under which the
   * caller reached us, without a trailing slash: addresses inside the events start with it.
   */
  list(id: string, afterSeq: number, baseUrl: string): Promise<StoredEvent[]>;
  /** As `list`, then every event as it happens; ends after `done`, or when `signal` aborts. */
  follow(
    id: string,
    afterSeq: number,
    baseUrl: string,
    signal: AbortSignal,
  ): AsyncIterable<StoredEvent>;
}

/** The one request core, as the three doors and the deliveries use it. */
export interface RequestCore extends ResultReader {
  submit: SubmitRow;
  /** Null when unknown, or of another account; `accountId` null sees every account. */
  get(id: string, accountId: string | null): Promise<RequestRow | null>;
  /** Newest first, stable under inserts. */
  history(query: HistoryQuery): Promise<HistoryPage>;
  /**
   * The request object of api.md. `output` is read for a succeeded request, unless
   * `withBodies` is false (list items leave out `output` and `input`).
   */
  view(
    row: RequestRow,
    baseUrl: string,
    options?: { withBodies?: boolean },
  ): Promise<RequestObject>;
  /**
   * Ends a request that has not ended; the process that runs it ends within five seconds.
   * @throws SonogateError `not_found`, `already_finished`.
   */
  cancel(id: string, accountId: string | null): Promise<RequestRow>;
  /** Resolves with the row as soon as its status differs from `row.status`, or after `seconds`. */
  waitForChange(row: RequestRow, seconds: number, signal?: AbortSignal): Promise<RequestRow>;
  events: EventReader;
  /**
   * Artifacts of a succeeded request, `result.json` first; of a running one the previews announced
   * so far; empty when there are none, or no longer any.
   */
  artifacts(id: string): Promise<ArtifactEntry[]>;
  /** Those that clients may call. */
  endpoints(): readonly Endpoint[];
  close(): Promise<void>;
}

interface CoreParts {
  database: PooledDatabase;
  queue: Pick<RequestQueue, 'add' | 'remove'>;
  endpoints: readonly Endpoint[];
  /** Where a result is looked for that another machine made. */
  blobs: BlobStore;
  config: Pick<Config, 'dataDir'>;
  logger: Logger;
  now?: () => Date;
}

/** Puts the core together. `migrate` must have run. */
export async function createRequestCore({
  database,
  queue,
  endpoints,
  blobs,
  config: { dataDir },
  logger,
  now = () => new Date(),
}: CoreParts): Promise<RequestCore> {
  const changes = await openChangeFeed(database);
  const results = createResultStore(dataDir, blobs);

  const find = async (id: string): Promise<StoredRequest | null> => {
    const { rows } = await database.query<StoredRequest>('SELECT * FROM requests WHERE id = $1', [
      id,
    ]);
    return rows[0] ?? null;
  };
  const get = async (id: string, accountId: string | null) => {
    const row = await find(id);
    return row && (accountId === null || row.account_id === accountId) ? row : null;
  };
  const readOutput = async ({ id, status }: RequestRow) =>
    status === 'succeeded' ? results.read(id, await listArtifacts(database, id)) : null;
  const result = async (id: string) => {
    const row = await find(id);
    return row && readOutput(row);
  };
  const view: RequestCore['view'] = async (row, baseUrl, { withBodies = true } = {}) =>
    viewRequest(row, baseUrl, withBodies ? { output: await readOutput(row) } : null);
  const artifacts = async (id: string) => {
    const row = await find(id);
    const reachable = row?.status === 'succeeded' || row?.status === 'running';
    return reachable ? listArtifacts(database, id) : [];
  };

  return {
    submit: createSubmit({ database, queue, endpoints, logger, now }),
    get,
    history: (query) => listHistory(database, query),
    view,
    cancel: async (id, accountId) => {
      const row = await cancelRequest(database, id, accountId, now());
      // A job that is left over does no harm: the worker finds the request ended.
      await queue.remove(id).catch((error: unknown) => {
        logger.debug({ request: id, error: String(error) }, 'job of a canceled request left over');
      });
      return row;
    },
    waitForChange: async (row, seconds, signal) => {
      const watch = armWatch(changes, row.id);
      const until = performance.now() + seconds * 1000;
      try {
        for (;;) {
          const current = (await find(row.id)) ?? row;
          const left = until - performance.now();
          if (current.status !== row.status || left <= 0 || signal?.aborted) return current;
          await watch.next(signal, left);
        }
      } finally {
        watch.stop();
      }
    },
    events: createEventReader({ database, changes, get: find, view }),
    result,
    artifacts,
    artifactPath: async (id, name) => {
      const row = await find(id);
      const artifact = (await artifacts(id)).find((each) => each.name === name);
      if (!row || !artifact) return null;
      return row.status === 'succeeded'
        ? results.path(id, artifact)
        : artifactPath(dataDir, id, name, row.status);
    },
    endpoints: () => endpoints.filter(({ internal }) => !internal),
    close: () => changes.close(),
  };
}
