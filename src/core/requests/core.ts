import { readFile } from 'node:fs/promises';
import type { Config } from '../../../config/schema.ts';
import type { ArtifactEntry } from '../../../pipelines/result/envelope.ts';
import { batched } from '../../platform/database/batched.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import type { AlsoStored, Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { problem } from '../../platform/errors/problem.ts';
import { firstId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { withdrawalReceivers } from '../outbox/withdrawals.ts';
import { webhookBody, webhookEvent } from './announce.ts';
import { armWatch, type ChangeFeed, openChangeFeed } from './changes.ts';
import type { Endpoint } from './endpoint.ts';
import {
  type EventRecord,
  type LogEntry,
  type LogPlace,
  listEvents,
  listEventsOfMany,
  listStatuses,
  type StoredEvent,
} from './events.ts';
import {
  FINAL_STATUS,
  type JobQueue,
  type RequestRow,
  type RequestStatus,
  type ResultReader,
  type StoredRequest,
} from './request.ts';
import {
  artifactPath,
  createResultStore,
  isInternal,
  listArtifacts,
  signedRevision,
} from './results.ts';
import { createSubmit, type SubmitRow } from './submit.ts';
import { lockRequest, transition } from './transitions.ts';
import { type RequestObject, viewRequest } from './view.ts';

/**
 * Cancels a request that has not ended. Only the status is changed at once: the worker running the
 * request notices the change, ends its child process and drops the result.
 * @param also stored in the same transaction.
 * @throws SonogateError `not_found`, `already_finished`
 */
export function cancelRequest(
  database: Database,
  id: string,
  accountId: string | null,
  at: Date,
  also: AlsoStored = async () => {},
): Promise<StoredRequest> {
  return database.transaction(async (tx) => {
    const row = await lockRequest(tx, id);
    if (!row || (accountId !== null && row.account_id !== accountId)) {
      throw new SonogateError('not_found');
    }
    if (FINAL_STATUS.has(row.status)) {
      throw new SonogateError('already_finished', `The request has already ended: ${row.status}.`);
    }
    const canceled = await transition(tx, id, 'canceled', { at });
    await also(tx);
    return canceled;
  });
}

interface FollowParts {
  database: Queryable;
  changes: ChangeFeed;
  get(id: string): Promise<RequestRow | null>;
  view(row: RequestRow, baseUrl: string): Promise<RequestObject>;
}

/**
 * Reads and follows the stored events. The URLs in an event start with the base address that the
 * caller used to reach the gateway.
 */
function createEventReader({ database, changes, get, view }: FollowParts): EventReader {
  const show = async (
    id: string,
    { seq, at, ...event }: EventRecord & LogEntry,
    baseUrl: string,
  ): Promise<StoredEvent> => {
    const self = `${baseUrl}/v1/requests/${id}`;
    switch (event.name) {
      case 'partial': {
        const url = `${self}/artifacts/${encodeURIComponent(event.data.artifact.name)}`;
        const artifact = { ...event.data.artifact, url };
        return { seq, at, name: event.name, data: { ...event.data, artifact } };
      }
      case 'error': {
        const { code, detail } = event.data;
        const data = problem(code, detail, baseUrl, { instance: `/v1/requests/${id}` });
        return { seq, at, name: event.name, data };
      }
      case 'done': {
        const row = await get(id);
        return { seq, at, name: event.name, data: row && (await view(row, baseUrl)) };
      }
      default:
        return { seq, at, ...event };
    }
  };

  const list = async (id: string, afterSeq: number, baseUrl: string) => {
    const events = await listEvents(database, id, afterSeq);
    return Promise.all(events.map((event) => show(id, event, baseUrl)));
  };

  /** Reads the logs for all followers notified at the same time, in one query. */
  const readLog = batched(async (asked: readonly LogPlace[]) => {
    const statuses = await listStatuses(database, asked);
    const events = await listEventsOfMany(database, asked);
    return asked.map(({ id, after }) => ({
      // The status is read before the events, so the list of an ended request is always complete.
      ended: FINAL_STATUS.has(statuses.get(id) ?? 'expired'),
      events: (events.get(id) ?? []).filter(({ seq }) => seq > after),
    }));
  });

  async function* follow(id: string, afterSeq: number, baseUrl: string, signal: AbortSignal) {
    const watch = armWatch(changes, id);
    let after = afterSeq;
    try {
      while (!signal.aborted) {
        const { ended, events } = await readLog({ id, after });
        for (const event of events) {
          yield await show(id, event, baseUrl);
          after = event.seq;
          if (event.name === 'done') return;
        }
        if (ended) return;
        await watch.next(signal);
      }
    } finally {
      watch.stop();
    }
  }

  return { list, follow };
}

/** Filters of `GET /v1/requests`; `model` is a model or an endpoint id. */
interface HistoryQuery {
  accountId: string | null;
  model?: string | undefined;
  status?: RequestStatus[] | undefined;
  key?: string | undefined;
  since?: Date | undefined;
  /** True to list only requests made with test keys. */
  testOnly?: boolean;
  limit: number;
  /** `nextCursor` of the previous page: the id of its last request. */
  cursor?: string | undefined;
}

interface HistoryPage {
  rows: StoredRequest[];
  nextCursor: string | null;
}

/**
 * Lists requests, newest first. Ids sort by time. New requests therefore do not shift a page, and
 * `since` becomes a lower limit for the id. Each status is read through its own index; otherwise a
 * search for a rare status would read the whole history.
 */
async function listHistory(database: Queryable, query: HistoryQuery): Promise<HistoryPage> {
  const values: unknown[] = [query.limit + 1];
  const conditions = ['true'];
  const add = (condition: (value: string) => string, value: unknown) => {
    if (value !== undefined && value !== null) conditions.push(condition(`$${values.push(value)}`));
  };
  add((value) => `account_id = ${value}`, query.accountId);
  add((value) => `(model = ${value} OR endpoint = ${value})`, query.model);
  add((value) => `key_id = ${value}`, query.key);
  add((value) => `created_at >= ${value}`, query.since);
  add((value) => `id >= ${value}`, query.since && firstId('req', query.since));
  add((value) => `id < ${value}`, query.cursor);
  if (query.testOnly) conditions.push('test');
  const newest = (where: readonly string[]) =>
    `(SELECT * FROM requests WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $1)`;
  const pages = query.status?.length
    ? [...new Set(query.status)].map((status) =>
        newest([...conditions, `status = $${values.push(status)}`]),
      )
    : [newest(conditions)];
  const { rows } = await database.query<StoredRequest>(
    `SELECT * FROM (${pages.join(' UNION ALL ')}) AS listed ORDER BY id DESC LIMIT $1`,
    values,
  );
  const page = rows.slice(0, query.limit);
  return { rows: page, nextCursor: rows.length > page.length ? (page.at(-1)?.id ?? null) : null };
}

interface EventReader {
  /**
   * Returns the stored events after `afterSeq` (0 for all), in order. `baseUrl` is the base address
   * that the caller used, without a trailing slash; URLs in the events start with it.
   */
  list(id: string, afterSeq: number, baseUrl: string): Promise<StoredEvent[]>;
  /**
   * Yields the same events as `list`, then each new event as it happens. Ends after `done`, or when
   * `signal` aborts.
   */
  follow(
    id: string,
    afterSeq: number,
    baseUrl: string,
    signal: AbortSignal,
  ): AsyncIterable<StoredEvent>;
}

/** The request core, used by HTTP, DICOM, the compatible queue and the deliveries. */
export interface RequestCore extends ResultReader {
  submit: SubmitRow;
  /**
   * Returns a request; null if it is unknown or belongs to another account. If `accountId` is null,
   * requests of all accounts are found.
   */
  get(id: string, accountId: string | null): Promise<RequestRow | null>;
  /** Returns a page of requests, newest first; new requests do not shift later pages. */
  history(query: HistoryQuery): Promise<HistoryPage>;
  /**
   * Returns the request object (api 2.1). `output` is read for a succeeded request unless
   * `withBodies` is false: list items omit `output` and `input`.
   */
  view(
    row: RequestRow,
    baseUrl: string,
    options?: { withBodies?: boolean },
  ): Promise<RequestObject>;
  /**
   * Returns the body of a webhook; null if the request is unknown.
   * @param object the event and flag that the delivery announces (announce.ts).
   * @param address this server's base address; only a fallback for requests for which the base
   * address that the caller used was not recorded.
   */
  webhookBody(
    id: string,
    accountId: string,
    object: string,
    address: string,
  ): Promise<string | null>;
  /**
   * Cancels a request that has not ended. If it is running, its process ends within five seconds.
   * @throws SonogateError `not_found`, `already_finished`.
   */
  cancel(id: string, accountId: string | null, also?: AlsoStored): Promise<RequestRow>;
  /** Resolves with the row as soon as its status differs from `row.status`, or after `seconds`. */
  waitForChange(row: RequestRow, seconds: number, signal?: AbortSignal): Promise<RequestRow>;
  events: EventReader;
  /**
   * Returns the artifacts of a request. For a succeeded request, `result.json` comes first; for a
   * running request, these are the previews announced so far. Empty if there are no artifacts or
   * they have been purged.
   */
  artifacts(id: string): Promise<ArtifactEntry[]>;
  /** Returns the evidence that the pipeline wrote for reviews, as text; null if it wrote none. */
  evidence(id: string): Promise<string | null>;
  /**
   * The change feed, for code that must know when a request changes but does not read its events.
   */
  changes: ChangeFeed;
  /** Returns the endpoints that clients may call. */
  endpoints(): readonly Endpoint[];
  close(): Promise<void>;
}

interface CoreParts {
  database: PooledDatabase;
  queue: JobQueue;
  endpoints: readonly Endpoint[];
  /** The store from which results made on other hosts are read. */
  blobs: BlobStore;
  config: Pick<Config, 'dataDir'>;
  logger: Logger;
  now?: () => Date;
}

interface RequestReader
  extends Pick<RequestCore, 'get' | 'view' | 'artifacts' | 'evidence' | 'result' | 'artifactPath'> {
  /** Returns a request of any account; null if it is unknown. */
  find(id: string): Promise<StoredRequest | null>;
}

/** Reads requests with their results and artifacts. */
function createRequestReader({
  database,
  blobs,
  config: { dataDir },
}: Pick<CoreParts, 'database' | 'blobs' | 'config'>): RequestReader {
  const results = createResultStore(dataDir, blobs);

  const find = async (id: string): Promise<StoredRequest | null> => {
    const { rows } = await database.query<StoredRequest>('SELECT * FROM requests WHERE id = $1', [
      id,
    ]);
    return rows[0] ?? null;
  };
  const readOutput = async ({ id, status }: RequestRow, revision?: number) => {
    if (status !== 'succeeded') return null;
    const wanted = revision ?? (await signedRevision(database, id));
    return results.read(id, await listArtifacts(database, id), wanted);
  };
  const artifacts = async (id: string) => {
    const row = await find(id);
    const reachable = row?.status === 'succeeded' || row?.status === 'running';
    if (!reachable) return [];
    return (await listArtifacts(database, id)).filter((one) => !isInternal(one));
  };

  return {
    find,
    get: async (id, accountId) => {
      const row = await find(id);
      return row && (accountId === null || row.account_id === accountId) ? row : null;
    },
    view: async (row, baseUrl, { withBodies = true } = {}) =>
      viewRequest(
        row,
        baseUrl,
        withBodies
          ? {
              output: await readOutput(row),
              receivers: row.withdrawal ? await withdrawalReceivers(database, row.id) : [],
            }
          : null,
      ),
    result: async (id, revision) => {
      const row = await find(id);
      return row && readOutput(row, revision);
    },
    artifacts,
    artifactPath: async (id, name) => {
      const row = await find(id);
      const artifact = (await artifacts(id)).find((each) => each.name === name);
      if (!row || !artifact) return null;
      return row.status === 'succeeded'
        ? results.path(id, artifact)
        : artifactPath(dataDir, row, name);
    },
    evidence: async (id) => {
      const stored = (await listArtifacts(database, id)).find(isInternal);
      const path = stored ? await results.path(id, stored) : null;
      return path === null ? null : readFile(path, 'utf8');
    },
  };
}

/** Creates the request core. `migrate` must have run. */
export async function createRequestCore(parts: CoreParts): Promise<RequestCore> {
  const { database, queue, endpoints, logger, now = () => new Date() } = parts;
  const changes = await openChangeFeed(database);
  const { find, ...reader } = createRequestReader(parts);
  const { get, view } = reader;
  return {
    ...reader,
    webhookBody: async (id, accountId, object, address) => {
      const row = await get(id, accountId);
      if (!row) return null;
      const shown = await view(row, row.webhook?.address ?? address);
      const event = webhookEvent(object);
      if (!event) throw new Error(`delivery of "${object}", which is no webhook event`);
      const logged = await listEvents(database, id, 0);
      const triage = logged.flatMap((each) => (each.name === 'triage' ? [each.data] : []));
      return webhookBody(shown, row.webhook?.shape ?? 'request', { event, triage });
    },
    submit: createSubmit({ database, queue, endpoints, logger, now }),
    history: (query) => listHistory(database, query),
    cancel: async (id, accountId, also) => {
      const row = await cancelRequest(database, id, accountId, now(), also);
      // A leftover job does no harm: the worker will find that the request has ended.
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
    changes,
    endpoints: () => endpoints.filter(({ internal }) => !internal),
    close: () => changes.close(),
  };
}

const RANK = `array_position(ARRAY['high', 'normal', 'low'], priority),
  (source ->> 'kind' <> 'dicom')::int`;

/**
 * Returns how many queued requests come before this one in its queue (live or test). The queue is
 * ordered by priority, then studies before other requests, then by age.
 */
export async function queuePosition(
  database: Queryable,
  { id }: Pick<RequestRow, 'id'>,
): Promise<number> {
  const { rows } = await database.query<{ ahead: number }>(
    `SELECT count(*)::int AS ahead FROM requests
     WHERE status = 'queued' AND test = (SELECT test FROM requests WHERE id = $1)
       AND (${RANK}, id) < (SELECT ${RANK}, id FROM requests WHERE id = $1)`,
    [id],
  );
  return rows[0]?.ahead ?? 0;
}
