import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProviderSetting } from '../../../config/schema.ts';
import type { ModelInUse } from '../../../pipelines/contract/job.ts';
import {
  ACCELERATOR_REFUSALS,
  type AcceleratorRefusalOfModel,
} from '../../../pipelines/inference/accelerators.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { openChangeFeed } from '../requests/changes.ts';
import { claimRequest, endAllLeases } from '../requests/lease.ts';
import { createPipelinePool } from './pipeline-process.ts';
import { startReconciler } from './queue.ts';
import { runRequest, type WorkerOptions } from './run-request.ts';

/**
 * Follows what models run on, and tells the operator of each accelerator that is passed over or fails.
 * @param asked `models.provider`.
 * @param changed told of the models once they are open, and when one of them changes over.
 */
export function followModels(
  logger: Logger,
  asked: ProviderSetting,
  changed: (models: readonly ModelInUse[]) => void = () => {},
) {
  let open: readonly ModelInUse[] = [];

  return {
    ready(models: readonly ModelInUse[]): void {
      open = models;
      logger.event(EVENTS.modelsReady, { models });
      changed(open);
    },
    refused({ model, accelerator, why, detail }: AcceleratorRefusalOfModel): void {
      const line = { model, accelerator, reason: ACCELERATOR_REFUSALS[why], detail };
      if (why === 'failed') {
        logger.event(EVENTS.acceleratorFailed, line);
        open = open.map((one) => (one.id === model ? { ...one, provider: 'cpu' } : one));
        changed(open);
      } else if (asked === 'auto') logger.event(EVENTS.acceleratorNotUsed, line);
      else logger.event(EVENTS.acceleratorAskedForNotUsed, line);
    },
  };
}

const PROGRAM = fileURLToPath(new URL('../../..', import.meta.url));

/** What a pipeline is made of; the data folder may lie beside these, and is not among them. */
const PARTS = ['config', 'dimse', 'fhir', 'models', 'pipelines', 'src', 'package.json'];

/** Where the libraries and drivers of an accelerator are looked for; nothing of a patient's. */
const SYSTEM = ['/usr', '/lib', '/lib64', '/opt', '/dev', '/sys', '/etc/ld.so.cache'];

/** Asked for whether or not it is there: what may not be looked at would be an error. */
const ASKED_FOR = ['/etc/vulkan/icd.d'];

/** Variables of a pipeline process that name further such places. */
const VARIABLES = ['LD_LIBRARY_PATH', 'VK_DRIVER_FILES', 'VK_ICD_FILENAMES'];

/**
 * What a pipeline process may read beside its work folder: the program, the packages, which may lie
 * in any folder above it, the folders of the pipelines, and libraries of the system.
 * @param modules URLs.
 */
export function readablePlaces(modules: readonly string[]): string[] {
  const packages: string[] = [];
  for (let folder = PROGRAM; ; folder = dirname(folder)) {
    packages.push(join(folder, 'node_modules'));
    if (folder === dirname(folder)) break;
  }
  const program = PARTS.map((part) => join(PROGRAM, part));
  const own = modules.map((module) => dirname(fileURLToPath(module)));
  const named = VARIABLES.flatMap((name) => (process.env[name] ?? '').split(':'));
  const system = [...SYSTEM, ...named.filter((place) => isAbsolute(place))];
  // Node takes a permission for a folder as one for all below it only when the folder exists.
  const places = [...program, ...packages, ...own, ...system].filter((place) => existsSync(place));
  return [...new Set([...places, ...ASKED_FOR])];
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
  const { database, queue, config, logger, program, pipelines, now = () => new Date() } = options;
  const changes = await openChangeFeed(database);
  // Node reads a permission for a folder as one for all below it only when the folder exists.
  const writable = resolve(config.dataDir, 'work');
  await mkdir(writable, { recursive: true });
  const modules = [...Object.values(pipelines), ...(options.mock ? [options.mock] : [])];
  const readable = readablePlaces(modules);
  const models = followModels(logger, config.models.provider, options.modelsReady);
  const pool = createPipelinePool(
    program,
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
      const row = await claimRequest(database, id, now());
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
