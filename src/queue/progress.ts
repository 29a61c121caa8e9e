import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { PipelineEvent } from '../../pipelines/contract/job.ts';
import type { Database } from '../database/port.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { describeFile, isPlainName } from '../files/results.ts';
import { workFolder } from '../files/work-folder.ts';
import type { Logger } from '../logging/logger.ts';
import { addArtifact } from '../requests/artifacts.ts';
import { appendEvents } from '../requests/events.ts';
import type { StoredRequest } from '../requests/row.ts';
import { estimateEta, pipelineProgress } from '../requests/stage.ts';
import { enterStage, LeaseLostError, lockOwn } from '../requests/transitions.ts';

interface ProgressParts {
  database: Database;
  config: { dataDir: string };
  blobs: BlobStore;
  logger: Logger;
  now: () => Date;
}

/** Run times of so many last requests give the typical one. */
const HISTORY = 20;

/** Median run time in seconds of the endpoint's last requests; null before the first. */
async function typicalSeconds(database: Database, endpoint: string): Promise<number | null> {
  const { rows } = await database.query<{ seconds: number | null }>(
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::float8 AS seconds FROM (
       SELECT EXTRACT(EPOCH FROM ended_at - started_at)::float8 AS seconds FROM requests
       WHERE endpoint = $1 AND status = 'succeeded' ORDER BY id DESC LIMIT $2) AS last`,
    [endpoint, HISTORY],
  );
  return rows[0]?.seconds ?? null;
}

/**
 * Writes what a pipeline reports into the request's log, in its order. `settled` resolves when all
 * of it is written; an event that cannot be written is logged and does not end the run.
 */
export async function recordProgress(row: StoredRequest, parts: ProgressParts) {
  const { database, logger, now } = parts;
  const typical = await typicalSeconds(database, row.endpoint);
  const started = performance.now();
  let last: Promise<void> = Promise.resolve();

  const write = async (event: PipelineEvent, elapsedSeconds: number) => {
    if (event.type === 'stage') {
      const stage = {
        name: event.name,
        label: event.label,
        progress: pipelineProgress(event.progress),
        eta_s: estimateEta(event.progress, elapsedSeconds, typical),
      };
      await database.transaction((tx) => enterStage(tx, row.id, row.attempts, stage, now()));
    } else if (event.type === 'triage') {
      const data = { ...event.flag, at: now().toISOString() };
      await database.transaction(async (tx) => {
        await lockOwn(tx, row.id, row.attempts);
        await appendEvents(tx, row.id, now(), [{ name: 'triage', data }]);
      });
    } else {
      await announcePartial(row, event, parts);
    }
  };

  return {
    record: (event: PipelineEvent) => {
      const elapsed = (performance.now() - started) / 1000;
      last = last.then(() =>
        write(event, elapsed).catch((error: unknown) => {
          if (error instanceof LeaseLostError) return;
          logger.warn({ request: row.id, error: String(error) }, 'pipeline event not recorded');
        }),
      );
    },
    settled: () => last,
  };
}

/** A preview can be fetched from the moment it is announced, with a bucket from any machine. */
async function announcePartial(
  row: StoredRequest,
  { artifact: name, mediaType, section, caption }: Extract<PipelineEvent, { type: 'partial' }>,
  { database, config, blobs, now }: ProgressParts,
): Promise<void> {
  if (!isPlainName(name)) throw new Error(`artifact name ${JSON.stringify(name)}`);
  const path = join(workFolder(config.dataDir, row.id), 'artifacts', name);
  const found = await describeFile(path);
  if (blobs.direct) await blobs.write(createReadStream(path), found.bytes);
  const artifact = { name, media_type: mediaType };
  await database.transaction(async (tx) => {
    await lockOwn(tx, row.id, row.attempts);
    await addArtifact(tx, row.id, { ...artifact, ...found, section });
    await appendEvents(tx, row.id, now(), [
      { name: 'partial', data: { artifact, section, caption } },
    ]);
  });
}
