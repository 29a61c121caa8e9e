import { setTimeout as delay } from 'node:timers/promises';
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
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';
import type { JobQueue, Priority, WaitingRequest } from '../requests/request.ts';

/**
 * The queue only suggests which request to look at next; the request's row in the database is
 * authoritative. No harm is done if a job is lost, is delivered twice or outlives its request.
 */
export interface RequestQueue extends JobQueue {
  counts(): Promise<{ waiting: number; active: number }>;
  /** Rejects if the queue is unreachable or, on Redis, full or read-only. */
  requireWritable(): Promise<void>;
  /**
   * Gives each slot one request id at a time: high priority first; within a priority, studies
   * before other requests, and then the oldest first. Requests made with test keys have a separate
   * queue with one slot, so they never delay a study.
   */
  work(concurrency: number, process: (requestId: string) => Promise<void>): QueueWorker;
  close(): Promise<void>;
}

interface QueueWorker {
  /** Stops accepting jobs, and resolves when the current ones have been processed. */
  close(): Promise<void>;
}

/**
 * BullMQ processes the lowest number first. 0 would mean "no priority", and such jobs come before
 * all others.
 */
const PRIORITY = { high: 1, normal: 10, low: 100 } as const satisfies Record<Priority, number>;

const rankOf = ({ priority, source }: WaitingRequest) =>
  PRIORITY[priority] + (source === 'dicom' ? 0 : 1);

const QUEUES = { live: 'sonogate-requests', test: 'sonogate-test-requests' } as const;
type Lane = keyof typeof QUEUES;
const LANES = ['live', 'test'] as const satisfies readonly Lane[];

const REPEATED_ERROR_MILLISECONDS = 60_000;

/**
 * Reports an error at once, and the same error again at most once a minute. While Redis or the
 * database is unavailable, BullMQ and ioredis raise an error about once a second.
 */
export function oncePerMinute(
  report: (error: Error) => void,
  now: () => number = performance.now.bind(performance),
): (error: Error) => void {
  let last = { message: '', at: 0 };
  return (error) => {
    const { message } = error;
    if (message === last.message && now() - last.at < REPEATED_ERROR_MILLISECONDS) return;
    last = { message, at: now() };
    report(error);
  };
}

/** Maximum number of concurrent requests made with test keys. */
const TEST_SLOTS = 1;

/** Milliseconds after which a job returns to the queue if its worker has not renewed its lock. */
const LOCK_MILLISECONDS = 10_000;
const STALLED_CHECK_MILLISECONDS = 5_000;

/**
 * Milliseconds before a worker asks for a job again after a failure. BullMQ pauses only if the
 * connection was refused; a full Redis or disk would be asked a thousand times per second.
 */
const ASKED_AGAIN_AFTER_MS = 1_000;

/** Milliseconds for which requests are collected before their jobs are added together. */
const ADDED_AFTER_MS = 5;

interface QueueOptions {
  database: PooledDatabase;
  /** URL of the Redis server. If absent, the queue is kept in the database. */
  redisUrl?: string | undefined;
  logger: Logger;
}

/** Opens the queue, in the database or on Redis. `migrate` must have run. */
export async function openQueue({
  database,
  redisUrl,
  logger,
}: QueueOptions): Promise<RequestQueue> {
  if (redisUrl === undefined) {
    const pool = database.queuePool;
    const connections = { producer: pool, consumer: pool };
    const queue = await openOn(addingAsFlow, connections, logger, {
      write: async () => {},
      disconnect: async () => {},
    });
    // No other process can be working on an embedded queue. A job still marked as active therefore
    // belongs to a process that died, and the reconciler adds it again.
    if (database.exclusive) await queue.clear();
    return queue;
  }
  const connect = async (options: RedisOptions) => {
    const redis = new Redis(redisUrl, options);
    redis.on(
      'error',
      oncePerMinute(({ message }) => logger.event('redis_connection', { error: message })),
    );
    await whenReady(redis);
    return redis;
  };
  // Without the offline queue, a command fails at once while Redis is unreachable, so submitting a
  // request is not delayed. A worker waits until Redis is back.
  const producer = await connect({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_MILLISECONDS,
  });
  const consumer = await connect({ maxRetriesPerRequest: null });
  return openOn(createRedisBackend, { producer, consumer }, logger, {
    // A full Redis (maxmemory-policy noeviction) still answers reads. Only a write shows that it is
    // full.
    write: (key) => producer.set(key, '', 'EX', WRITTEN_SECONDS),
    disconnect: async () => {
      producer.disconnect();
      consumer.disconnect();
    },
  });
}

/** Milliseconds after which an unanswered Redis command has failed. */
const COMMAND_MILLISECONDS = 5_000;
const REDIS_START_MILLISECONDS = 10_000;

/** Seconds for which a key that was written as a check is kept. */
const WRITTEN_SECONDS = 60;

/**
 * Waits until the connection to Redis is ready.
 * @throws an error for the operator if Redis cannot be reached at startup.
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

/** Returns a factory of the same backend, whose workers pause after failing to fetch a job. */
function pausing<Connection>(
  backend: BackendFactory<IQueueBackend, Connection>,
): BackendFactory<IQueueBackend, Connection> {
  return (...options) => {
    const made = backend(...options);
    const fetchJob = made.moveToActive.bind(made);
    made.moveToActive = async (...given) => {
      try {
        return await fetchJob(...given);
      } catch (error) {
        await delay(ASKED_AGAIN_AFTER_MS);
        throw error;
      }
    };
    return made;
  };
}

/**
 * Returns a factory of the PostgreSQL backend that adds jobs with BullMQ's function for flows. The
 * function for many jobs creates and drops two temporary tables at each call, which costs the
 * embedded database six times as much for a few jobs, and no less for a hundred.
 */
const addingAsFlow: typeof createPostgresBackend = (queueName, ...options) => {
  const made = createPostgresBackend(queueName, ...options);
  made.addJobs = async (entries) => {
    const flow = entries.map(({ job, jobId }) => ({
      queueName,
      prefix: '',
      jobData: job,
      jobId,
      parentKeyOpts: {},
    }));
    return (await made.addFlow(flow)).map(([error, id]) => {
      if (error) throw error;
      return String(id);
    });
  };
  return made;
};

async function openOn<Connection>(
  backend: BackendFactory<IQueueBackend, Connection>,
  { producer, consumer }: { producer: Connection; consumer: Connection },
  logger: Logger,
  { write, disconnect }: { write(key: string): Promise<unknown>; disconnect(): Promise<void> },
): Promise<RequestQueue & { clear(): Promise<void> }> {
  const warn = oncePerMinute(({ message }) => logger.event('queue_error', { error: message }));
  const queues = {
    live: new Queue(QUEUES.live, { connection: producer }, backend),
    test: new Queue(QUEUES.test, { connection: producer }, backend),
  };
  const both = LANES.map((lane) => queues[lane]);
  for (const queue of both) {
    queue.on('error', warn);
    // If the connection is lost during this step, BullMQ waits without a time limit until it is
    // back.
    await queue.waitUntilReady();
  }
  const add = batched(
    async (asked: readonly WaitingRequest[]) => {
      for (const lane of LANES) {
        const waiting = asked.filter(({ test }) => test === (lane === 'test'));
        if (waiting.length > 0) await queues[lane].addBulk(waiting.map(jobOf));
      }
      return asked;
    },
    { collectMs: ADDED_AFTER_MS },
  );
  const fetching = pausing(backend);
  const workOn = (lane: Lane, concurrency: number, process: (id: string) => Promise<void>) => {
    const worker = new Worker(
      QUEUES[lane],
      ({ id }) => process(id ?? ''),
      {
        connection: consumer,
        concurrency,
        lockDuration: LOCK_MILLISECONDS,
        stalledInterval: STALLED_CHECK_MILLISECONDS,
        // The database, not BullMQ, counts how often the process of a request has died and decides
        // when the request fails. BullMQ's own limit is therefore set to the largest SQL integer.
        maxStalledCount: 2 ** 31 - 1,
      },
      fetching,
    );
    worker.on('error', warn);
    worker.on('failed', (job, error) => {
      logger.event('request_not_processed', { request: job?.id, error: error.message });
    });
    return worker;
  };

  return {
    add: async (request) => {
      await add(request);
    },
    remove: async (requestId) => {
      await Promise.all(both.map((queue) => queue.remove(requestId)));
    },
    counts: async () => {
      const counts = await Promise.all(both.map((queue) => queue.getJobCounts()));
      const total = (state: string) => counts.reduce((sum, each) => sum + (each[state] ?? 0), 0);
      return { waiting: total('wait') + total('prioritized'), active: total('active') };
    },
    requireWritable: async () => {
      await queues.live.getJobCounts();
      await write(queues.live.toKey('written'));
    },
    clear: async () => {
      for (const queue of both) await queue.obliterate({ force: true });
    },
    work: (concurrency, process) => {
      const workers = [workOn('live', concurrency, process), workOn('test', TEST_SLOTS, process)];
      return {
        close: async () => {
          await Promise.all(workers.map((worker) => worker.close()));
        },
      };
    },
    close: async () => {
      for (const queue of both) await queue.close();
      await disconnect();
    },
  };
}

function jobOf(request: WaitingRequest) {
  return {
    name: 'request',
    data: {},
    opts: {
      jobId: request.id,
      priority: rankOf(request),
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}

const EVERY_MILLISECONDS = 2000;

/** Seconds after which a request still waiting in the queue may have lost its job. */
const RECHECK_SECONDS = 30;

const BATCH = 500;

/**
 * Adds to the queue every unfinished request that no worker holds: new requests whose process may
 * have ended before adding the job, queued requests whose job was lost, and requests whose worker
 * died. Adding an existing job does no harm, so the state of the queue is not checked.
 * @returns the number of requests that were added.
 */
export async function reconcile(
  database: Database,
  queue: Pick<RequestQueue, 'add'>,
): Promise<number> {
  const { rows } = await database.query<WaitingRequest>(
    `SELECT id, priority, test, source ->> 'kind' AS source FROM requests
     WHERE status IN ('queued', 'preparing', 'running')
       AND (lease_until < now() OR (lease_until IS NULL
         AND (enqueued_at IS NULL OR enqueued_at < now() - make_interval(secs => $1))))
     ORDER BY enqueued_at NULLS FIRST, id LIMIT $2`,
    [RECHECK_SECONDS, BATCH],
  );
  if (rows.length === 0) return 0;
  await Promise.all(rows.map((row) => queue.add(row)));
  await database.query('UPDATE requests SET enqueued_at = now() WHERE id = ANY($1::text[])', [
    rows.map(({ id }) => id),
  ]);
  return rows.length === BATCH ? rows.length + (await reconcile(database, queue)) : rows.length;
}

/** Reconciles at once, and then every few seconds. Resolves after the first pass. */
export async function startReconciler(
  database: Database,
  queue: Pick<RequestQueue, 'add'>,
  logger: Logger,
): Promise<Rounds> {
  const rounds = startRounds({
    work: () => reconcile(database, queue),
    pauseMilliseconds: EVERY_MILLISECONDS,
    ...logRounds(logger, 'queue', (error) =>
      logger.event('reconcile_failed', { error: String(error) }),
    ),
  });
  await rounds.first;
  return rounds;
}
