import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { ModelInUse } from '../../pipelines/contract/job.ts';
import type { InferenceRun } from '../../pipelines/inference/inference-channel.ts';
import type { PooledDatabase } from '../database/pooled.ts';
import type { BlobStore } from '../files/blob-store.ts';
import type { FetchHostedFile } from '../files/hosted-files.ts';
import type { Logger } from '../logging/logger.ts';
import { openChangeFeed } from '../requests/changes.ts';
import type { Endpoint } from '../requests/endpoint.ts';
import { endAllLeases, takeUp } from '../requests/take-up.ts';
import { followModels } from './models-in-use.ts';
import { createPipelinePool } from './pipeline-pool.ts';
import type { RequestQueue } from './queue.ts';
import { readablePlaces } from './readable-places.ts';
import { startReconciler } from './reconcile.ts';
import { runRequest } from './run-request.ts';

export interface WorkerOptions {
  database: PooledDatabase;
  queue: RequestQueue;
  endpoints: readonly Endpoint[];
  /** Endpoint id → URL of the module that exports its `pipeline`. */
  pipelines: Readonly<Record<string, string>>;
  /** URL of the module of the mock backend, which runs the requests of test keys. */
  mock?: string;
  fetchFile: FetchHostedFile;
  /** Where uploads lie, and copies of artifacts for download. */
  blobs: BlobStore;
  config: Pick<
    Config,
    'dataDir' | 'worker' | 'models' | 'report' | 'console' | 'retention' | 'delivery'
  >;
  logger: Logger;
  /** Told of the models once the first pipeline process has opened them, and when one changes. */
  modelsReady?(models: readonly ModelInUse[]): void;
  /** Told of each call of a model. */
  onInference?(run: InferenceRun): void;
  now?: () => Date;
}

export interface RunningWorker {
  /** Gives back what is being worked on, so that it is taken up again, and ends the processes. */
  stop(): Promise<void>;
}

/**
 * Works off the queue: each request in a warm child process, `worker.concurrency` at a time. Starts
 * with what an earlier process left behind.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { database, queue, config, logger, pipelines, now = () => new Date() } = options;
  const changes = await openChangeFeed(database);
  // Node reads a permission for a folder as one for all below it only when the folder exists.
  const writable = resolve(config.dataDir, 'work');
  await mkdir(writable, { recursive: true });
  const modules = [...Object.values(pipelines), ...(options.mock ? [options.mock] : [])];
  const readable = readablePlaces(modules);
  const models = followModels(logger, config.models.provider, options.modelsReady);
  const pool = createPipelinePool(
    { memoryMegabytes: config.worker.childMemoryMegabytes, writable, readable },
    logger,
    { onInference: options.onInference, onRefusal: models.refused },
  );
  const [first] = Object.values(pipelines);
  if (first) {
    pool.warmUp(first, config.models, models.ready);
  }
  const stopping = new AbortController();

  if (database.exclusive) await endAllLeases(database);
  const reconciler = await startReconciler(database, queue, logger);
  const worker = queue.work(config.worker.concurrency, async (id) => {
    // A run whose process died is taken up again at once; `takeUp` ends the request when it has
    // died too often.
    for (let again = true; again && !stopping.signal.aborted; ) {
      const row = await takeUp(database, id, now());
      again =
        row !== null &&
        (await runRequest(row, { ...options, now, changes, pool, stopping: stopping.signal })) ===
          'crashed';
    }
  });

  return {
    stop: async () => {
      stopping.abort();
      await worker.close();
      await reconciler.stop();
      await pool.close();
      await changes.close();
    },
  };
}
