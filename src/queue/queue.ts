import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  Worker,
} from 'bullmq';
import { Redis } from 'ioredis';
import type { PooledDatabase } from '../database/pooled.ts';
import type { Logger } from '../logging/logger.ts';
import type { Priority } from '../requests/port.ts';

/**
 * The queue only says which request to look at next; the row of the request is the truth. A job that
 * is lost, comes twice or is left over therefore does no harm.
 */
export interface RequestQueue {
  /** The job id is the request id, so that adding twice is harmless. */
  add(requestId: string, priority: Priority): Promise<void>;
  /** Takes a waiting job away; one that is being worked on stays. */
  remove(requestId: string): Promise<void>;
  counts(): Promise<{ waiting: number; active: number }>;
  /** Hands out one request id at a time per slot, high priority first, oldest first within one. */
  work(concurrency: number, process: (requestId: string) => Promise<void>): QueueWorker;
  close(): Promise<void>;
}

export interface QueueWorker {
  /** Takes nothing new and resolves when what was taken has been processed. */
  close(): Promise<void>;
}

/** BullMQ works off the lowest number first; 0 would be "none", which comes before all. */
const PRIORITY = { high: 1, normal: 10, low: 100 } as const satisfies Record<Priority, number>;

const QUEUE = 'sonogate-requests';

/** A job whose worker has not renewed its lock for this long goes back on the queue. */
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
    const queue = openOn(createPostgresBackend, database.queuePool, logger, async () => {});
    // Nobody else can be working on an embedded queue: what is still marked as taken is from a
    // process that died, and the reconciler puts it back.
    if (database.exclusive) await queue.clear();
    return queue;
  }
  // BullMQ waits for jobs on this connection and must not be given up on while Redis restarts.
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', (error) => logger.warn({ error: error.message }, 'Redis connection'));
  return openOn(createRedisBackend, redis, logger, async () => redis.disconnect());
}

function openOn<Connection>(
  backend: BackendFactory<IQueueBackend, Connection>,
  connection: Connection,
  logger: Logger,
  disconnect: () => Promise<void>,
): RequestQueue & { clear(): Promise<void> } {
  const warn = (error: Error) => logger.warn({ error: error.message }, 'queue');
  const queue = new Queue(QUEUE, { connection }, backend);
  queue.on('error', warn);

  return {
    add: async (requestId, priority) => {
      await queue.add(
        'request',
        {},
        {
          jobId: requestId,
          priority: PRIORITY[priority],
          removeOnComplete: true,
          removeOnFail: true,
        },
      );
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
          connection,
          concurrency,
          lockDuration: LOCK_MILLISECONDS,
          stalledInterval: STALLED_CHECK_MILLISECONDS,
          // How often a request may die is counted in its row, not here: the largest integer of SQL.
          maxStalledCount: 2 ** 31 - 1,
        },
        backend,
      );
      worker.on('error', warn);
      worker.on('failed', (job, error) => {
        logger.error({ request: job?.id, error: error.message }, 'request could not be processed');
      });
      return { close: () => worker.close() };
    },
    close: async () => {
      await queue.close();
      await disconnect();
    },
  };
}
