import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import type { Deidentified, Deidentify } from '../../../dimse/send/deliver-deidentified.ts';
import {
  COPY,
  type DeidentifyJob,
  deidentifyResultSchema,
  RECEIVED,
} from '../../../pipelines/deidentify/pipeline.ts';
import { linkOrCopy } from '../../core/files/whole-file.ts';
import { PipelinePool, type RunOutcome } from '../../core/queue/pipeline-process.ts';
import { readablePlaces } from '../../core/queue/worker.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import { loadSiteSecret } from '../../platform/database/site-secret.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { PIPELINE_PROGRAM, PIPELINES } from '../pipelines/program.ts';

/** Why a run produced no copy. */
const WHY: Partial<Record<RunOutcome['type'], string>> = {
  timeout: 'it took longer than `worker.timeoutSeconds`',
  stalled: 'a frame took longer to decode than `worker.readSeconds`',
  crashed: 'the process reading it ended',
  failed: 'it cannot be read',
};

/**
 * De-identifies objects in separate pipeline processes: one for each destination to which objects
 * are being sent. No process is started before the first object.
 */
export async function startDeidentification(
  { dataDir, worker }: Pick<Config, 'dataDir' | 'worker'>,
  database: PooledDatabase,
  logger: Logger,
): Promise<{ deidentify: Deidentify; stop(): Promise<void> }> {
  const secret = (await loadSiteSecret(database, 'deidentification')).toString('base64');
  // This folder is separate from the work folders of requests, which a worker cleans up at startup.
  const place = resolve(dataDir, 'deidentification');
  await removeLeft(place);
  const work = join(place, randomUUID());
  await mkdir(work, { recursive: true });
  const limits = {
    memoryMegabytes: worker.childMemoryMegabytes,
    work,
    readable: readablePlaces([PIPELINES.deidentify]),
  };
  const pool = new PipelinePool(PIPELINE_PROGRAM, limits, logger);

  const deidentify: Deidentify = async ({ path, patient }, settings, signal) => {
    const folder = join(work, randomUUID());
    const discard = () => rm(folder, { recursive: true, force: true });
    try {
      for (const inside of ['files', 'artifacts'])
        await mkdir(join(folder, inside), { recursive: true });
      const job: DeidentifyJob = { settings, secret, patient };
      await writeFile(join(folder, 'job.json'), JSON.stringify(job), { mode: 0o600 });
      await linkOrCopy(path, join(folder, RECEIVED));
      const outcome = await pool.run({
        module: PIPELINES.deidentify,
        folder,
        timeoutSeconds: worker.timeoutSeconds,
        readSeconds: worker.readSeconds,
        signal,
        onEvent: () => {},
        settled: async () => {},
      });
      const made = await copyOf(outcome, folder, discard);
      if (made.outcome !== 'made') await discard();
      return made;
    } catch (error) {
      await discard();
      throw error;
    }
  };

  return {
    deidentify,
    stop: async () => {
      await pool.close();
      await rm(work, { recursive: true, force: true });
    },
  };
}

/**
 * De-identifying one object never takes a day, so an older folder was left behind by a killed
 * process.
 */
const OLDEST_MS = 24 * 3600 * 1000;

async function removeLeft(place: string): Promise<void> {
  for (const name of await ifMissing(readdir(place), [])) {
    const { mtimeMs } = await stat(join(place, name));
    if (Date.now() - mtimeMs > OLDEST_MS) await rm(join(place, name), { recursive: true });
  }
}

async function copyOf(
  outcome: RunOutcome,
  folder: string,
  discard: () => Promise<void>,
): Promise<Deidentified> {
  if (outcome.type === 'aborted') return { outcome: 'aborted' };
  if (outcome.type === 'failed' && outcome.outOfSpace) throw new Error('the disk is full');
  if (outcome.type !== 'done') {
    return { outcome: 'held', reason: WHY[outcome.type] ?? 'it cannot be read' };
  }
  const text = await readFile(join(folder, 'result.json'), 'utf8');
  const { held } = deidentifyResultSchema.parse(JSON.parse(text));
  return held === null
    ? { outcome: 'made', path: join(folder, COPY), discard }
    : { outcome: 'held', reason: held };
}
