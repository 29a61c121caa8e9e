import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProviderSetting } from '../../../config/schema.ts';
import type { ModelInUse } from '../../../pipelines/contract/job.ts';
import {
  ACCELERATOR_REFUSALS,
  type AcceleratorRefusalOfModel,
} from '../../../pipelines/inference/accelerators.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, startRounds } from '../../platform/rounds.ts';
import { openChangeFeed } from '../requests/changes.ts';
import { claimRequest, endAllLeases } from '../requests/lease.ts';
import { removeEndedWork, removeLeftWork, workPlace } from '../requests/work-folder.ts';
import { PipelinePool } from './pipeline-process.ts';
import { startReconciler } from './queue.ts';
import { runRequest, type WorkerOptions } from './run-request.ts';

/**
 * Tracks which accelerator each model runs on, and logs each accelerator that is skipped or fails.
 * @param asked the accelerator in the setting `models.provider`.
 * @param changed called with the models when they are open, and whenever one of them changes.
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
      logger.event('models_ready', { models });
      changed(open);
    },
    refused({ model, accelerator, why, detail }: AcceleratorRefusalOfModel): void {
      const line = { model, accelerator, reason: ACCELERATOR_REFUSALS[why], detail };
      if (why === 'failed') {
        logger.event('accelerator_failed', line);
        open = open.map((one) => (one.id === model ? { ...one, provider: 'cpu' } : one));
        changed(open);
      } else if (asked === 'auto') logger.event('accelerator_not_used', line);
      else logger.event('accelerator_asked_for_not_used', line);
    },
  };
}

const PROGRAM = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * The program's folders and files that a pipeline needs. They are listed one by one so that a data
 * folder inside the program's folder stays unreadable.
 */
const PARTS = ['config', 'dimse', 'fhir', 'models', 'pipelines', 'src', 'package.json'];

/**
 * System paths with the libraries and drivers of accelerators. None of them contains patient data.
 * `/dev` as a whole is not included: it contains `/dev/shm`, where other programs keep files, and
 * accelerator libraries open their devices without asking Node.js.
 */
const SYSTEM = [
  '/usr',
  '/lib',
  '/lib64',
  '/opt',
  '/dev/dri',
  '/dev/null',
  '/dev/urandom',
  '/sys',
  '/etc/ld.so.cache',
];

/**
 * The Vulkan loader looks in this folder and fails if access is denied. A pipeline process may
 * therefore read it even if it does not exist.
 */
const ASKED_FOR = ['/etc/vulkan/icd.d'];

/**
 * Environment variables of a pipeline process that contain further paths to libraries and drivers.
 */
const VARIABLES = ['LD_LIBRARY_PATH', 'VK_DRIVER_FILES', 'VK_ICD_FILENAMES'];

/**
 * Returns the paths that a pipeline process may read in addition to its work folder: the program,
 * its packages (which may be in any folder above it), the folders of the pipelines, and system
 * libraries.
 * @param modules URLs of the pipeline modules.
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
  // Missing folders are left out, because Node extends a permission to everything below a folder
  // only if the folder exists.
  const places = [...program, ...packages, ...own, ...system].filter((place) => existsSync(place));
  return [...new Set([...places, ...ASKED_FOR])];
}

/** Milliseconds between two looks at the files of runs that may have been lost before the start. */
const CLEANING_MILLISECONDS = 5000;

export interface RunningWorker {
  /**
   * Releases the running requests so that they can be claimed again, and then ends the processes.
   */
  stop(): Promise<void>;
}

/**
 * Processes the queue, running each request in a warm child process, up to `worker.concurrency` at
 * a time. Starts with the requests that an earlier process did not finish.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { database, queue, config, logger, program, pipelines, now } = options;
  const changes = await openChangeFeed(database);
  const work = workPlace(config.dataDir);
  await mkdir(work, { recursive: true });
  if (database.exclusive) await endAllLeases(database);
  // A worker that was killed just before this start still has its lease, so its files are kept now.
  let kept = await removeLeftWork(database, config.dataDir);
  const cleaning = startRounds({
    async work() {
      if (kept.length > 0) kept = await removeEndedWork(database, config.dataDir, kept);
    },
    pauseMilliseconds: CLEANING_MILLISECONDS,
    ...logRounds(logger, 'left work folders', (err) => logger.event('work_not_removed', { err })),
  });
  const modules = [...Object.values(pipelines), ...(options.mock ? [options.mock] : [])];
  const readable = readablePlaces(modules);
  const models = followModels(logger, config.models.provider, options.modelsReady);
  const limits = { memoryMegabytes: config.worker.childMemoryMegabytes, work, readable };
  const pool = new PipelinePool(program, limits, logger, {
    onInference: options.onInference,
    onRefusal: models.refused,
  });
  const mockPool = new PipelinePool(program, { ...limits, yields: true }, logger);
  const [first] = Object.values(pipelines);
  if (first && config.worker.openModelsAtStart) {
    pool.warmUp(first, config.models, models.ready);
  }
  const stopping = new AbortController();

  const parts = { ...options, changes, stopping: stopping.signal };
  const run = async (id: string) => {
    // If the process of a run dies, the request is claimed again at once. `claimRequest` fails the
    // request if this happens too often.
    while (!stopping.signal.aborted) {
      const row = await claimRequest(database, id, now());
      if (row === null) return;
      const ended = await runRequest(row, { ...parts, pool: row.test ? mockPool : pool });
      if (ended === 'over') return;
    }
  };
  /** Ids of the requests that this worker is running. */
  const running = new Set<string>();

  const reconciler = await startReconciler(database, queue, logger);
  const worker = queue.work(config.worker.concurrency, async (id) => {
    // While the database is unreachable, the lease of a run can expire, and the queue can give its
    // request to another slot. The run already in progress would finish before a second one.
    if (running.has(id)) return;
    running.add(id);
    await run(id).finally(() => running.delete(id));
  });

  return {
    stop: async () => {
      stopping.abort();
      await worker.close();
      await reconciler.stop();
      await cleaning.stop();
      await Promise.all([pool.close(), mockPool.close()]);
      await changes.close();
    },
  };
}
