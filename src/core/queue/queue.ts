import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  Worker,
} from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { batched } from '../../platform/database/batched.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import type { Database } from '../../platform/database/port.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';
import type { JobQueue, Priority } from '../requests/request.ts';

/**
 * The queue only suggests which request to look at next; the row of the request in the database
 * decides. A job that is lost, arrives twice or is left over therefore does no harm.
 */
export interface RequestQueue extends JobQueue {
  counts(): Promise<{ waiting: number; active: number }>;
  /**
   * Gives each slot one request id at a time: high priority first, and the oldest first within one
   * priority.
   */
  work(concurrency: number, process: (requestId: string) => Promise<void>): QueueWorker;
  close(): Promise<void>;
}

interface QueueWorker {
  /** Accepts no further jobs and resolves when the current ones have been processed. */
  close(): Promise<void>;
}

/**
 * BullMQ processes the lowest number first; 0 would mean "no priority", which comes before all
 * others.
 */
const PRIORITY = { high: 1, normal: 10, low: 100 } as const satisfies Record<Priority, number>;

const QUEUE = 'sonogate-requests';

/** A job whose worker has not renewed its lock for this long returns to the queue. */
const LOCK_MILLISECONDS = 10_000;
const STALLED_CHECK_MILLISECONDS = 5_000;

interface QueueOptions {
  database: PooledDatabase;
  /** Redis server; without it the queue lives in the database. */
  redisUrl?: string | undefined;
  logger: Logger;
}

/** Opens the queue in the database, or on Redis. `migrate` must have run. */
export async function openQueue({
  database,
  redisUrl,
  logger,
}: QueueOptions): Promise<RequestQueue> {
  if (redisUrl === undefined) {
    const pool = database.queuePool;
    const connections = { producer: pool, consumer: pool };
    const queue = await openOn(createPostgresBackend, connections, logger, async () => {});
    // No other process can be working on an embedded queue: a job that is still marked as active
    // belongs to a process that died, and the reconciler adds it again.
    if (database.exclusive) await queue.clear();
    return queue;
  }
  const connect = async (options: RedisOptions) => {
    const redis = new Redis(redisUrl, options);
    redis.on('error', (error) => logger.event(EVENTS.redisConnection, { error: error.message }));
    await whenReady(redis);
    return redis;
  };
  // Without the offline queue a call fails at once while Redis is away, so that a submit does not
  // wait for it; a worker waits until Redis is back.
  const producer = await connect({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_MILLISECONDS,
  });
  const consumer = await connect({ maxRetriesPerRequest: null });
  return openOn(createRedisBackend, { producer, consumer }, logger, async () => {
    producer.disconnect();
    consumer.disconnect();
  });
}

/** A call that Redis has not answered after this time has failed. */
const COMMAND_MILLISECONDS = 5_000;
const REDIS_START_MILLISECONDS = 10_000;

/**
 * Waits until the connection to Redis is ready. @throws an error for the operator when Redis cannot
 * be reached at start.
 */
async function whenReady(redis: Redis): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      redis.disconnect();
      reject(new Error(`Redis did not answer within ${REDIS_START_MILLISECONDS / 1000} s.`));
    }, REDIS_START_MILLISECONDS);
  });
  await Promise.race([new Promise((resolve) => redis.once('ready', resolve)), late]);
  clearTimeout(timer);
}

async function openOn<Connection>(
  backend: BackendFactory<IQueueBackend, Connection>,
  { producer, consumer }: { producer: Connection; consumer: Connection },
  logger: Logger,
  disconnect: () => Promise<void>,
): Promise<RequestQueue & { clear(): Promise<void> }> {
  const warn = (error: Error) => logger.event(EVENTS.queueError, { error: error.message });
  const queue = new Queue(QUEUE, { connection: producer }, backend);
  queue.on('error', warn);
  // If the connection is lost while BullMQ starts, BullMQ would wait for ever.
  await queue.waitUntilReady();
  const add = batched(async (asked: readonly { requestId: string; priority: Priority }[]) => {
    await queue.addBulk(
      asked.map(({ requestId, priority }) => ({
        name: 'request',
        data: {},
        opts: {
          jobId: requestId,
          priority: PRIORITY[priority],
          removeOnComplete: true,
          removeOnFail: true,
        },
      })),
    );
    return asked;
  });

  return {
    add: async (requestId, priority) => {
      await add({ requestId, priority });
    },
    remove: async (requestId) => {
      await queue.remove(requestId);
    },
    counts: async () => {
      const { wait = 0, prioritized = 0, active = 0 } = await queue.getJobCounts();
      return { waiting: wait + prioritized, active };
    },
    clear: () => queue.obliterate({ force: true }),
    work: (concurrency, process) => {
      const worker = new Worker(
        QUEUE,
        ({ id }) => process(id ?? ''),
        {
          connection: consumer,
          concurrency,
          lockDuration: LOCK_MILLISECONDS,
          stalledInterval: STALLED_CHECK_MILLISECONDS,
          // The row of the request, not BullMQ, counts how often its process has died. So BullMQ
          // gets the largest SQL integer as its limit.
          maxStalledCount: 2 ** 31 - 1,
        },
        backend,
      );
      worker.on('error', warn);
      worker.on('failed', (job, error) => {
        logger.event(EVENTS.requestNotProcessed, { request: job?.id, error: error.message });
      });
      return { close: () => worker.close() };
    },
    close: async () => {
      await queue.close();
      await disconnect();
    },
  };
}

const EVERY_MILLISECONDS = 2000;

/** A request that was added to the queue this long ago and still waits may have lost its job. */
const RECHECK_SECONDS = 30;

const BATCH = 500;

/**
 * Adds to the queue every request that is waiting for work but that no worker holds: new ones whose
 * process may have ended before it added the job; queued ones whose job was lost; those whose
 * worker died. Adding a job that exists does no harm, so the state of the queue itself does not
 * matter.
 * @returns how many requests were added.
 */
export async function reconcile(
  database: Database,
  queue: Pick<RequestQueue, 'add'>,
): Promise<number> {
  const { rows } = await database.query<{ id: string; priority: Priority }>(
    `SELECT id, priority FROM requests
     WHERE status IN ('queued', 'preparing', 'running')
       AND (lease_until < now() OR (lease_until IS NULL
         AND (enqueued_at IS NULL OR enqueued_at < now() - make_interval(secs => $1))))
     ORDER BY enqueued_at NULLS FIRST, id LIMIT $2`,
    [RECHECK_SECONDS, BATCH],
  );
  if (rows.length === 0) return 0;
  await Promise.all(rows.map(({ id, priority }) => queue.add(id, priority)));
  await database.query('UPDATE requests SET enqueued_at = now() WHERE id = ANY($1::text[])', [
    rows.map(({ id }) => id),
  ]);
  return rows.length === BATCH ? rows.length + (await reconcile(database, queue)) : rows.length;
}

/** Reconciles now and every few seconds. Resolves after the first pass. */
export async function startReconciler(
  database: Database,
  queue: Pick<RequestQueue, 'add'>,
  logger: Logger,
): Promise<Rounds> {
  const rounds = startRounds({
    work: () => reconcile(database, queue),
    pauseMilliseconds: EVERY_MILLISECONDS,
    ...logRounds(logger, 'queue', (error) =>
      logger.event(EVENTS.reconcileFailed, { error: String(error) }),
    ),
  });
  await rounds.first;
  return rounds;
}
