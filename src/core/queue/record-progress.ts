import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PipelineEvent } from '../../../pipelines/contract/job.ts';
import type { Database } from '../../platform/database/port.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { type AlertSettings, raiseAlert } from '../alerts/alerts.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { announceFlag } from '../requests/announce.ts';
import { appendEvents } from '../requests/events.ts';
import type { StoredRequest } from '../requests/request.ts';
import { addArtifact, describeFile, isPlainName } from '../requests/results.ts';
import {
  enterStage,
  estimateEta,
  LeaseLostError,
  lockOwn,
  pipelineProgress,
} from '../requests/transitions.ts';
import { runFolder } from '../requests/work-folder.ts';

interface ProgressParts {
  database: Database;
  config: { dataDir: string } & AlertSettings;
  blobs: BlobStore;
  logger: Logger;
  now: () => Date;
}

/** Number of recent requests used for computing the typical run time. */
const HISTORY = 20;

/**
 * Returns the median run time in seconds of the endpoint's most recent succeeded requests; null if
 * there are no such requests. Requests made with test keys have a separate median, because the mock
 * pipeline takes only a moment.
 */
export async function typicalSeconds(
  database: Database,
  { endpoint, test }: Pick<StoredRequest, 'endpoint' | 'test'>,
): Promise<number | null> {
  const { rows } = await database.query<{ seconds: number | null }>(
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::float8 AS seconds FROM (
       SELECT EXTRACT(EPOCH FROM ended_at - started_at)::float8 AS seconds FROM requests
       WHERE endpoint = $1 AND test = $2 AND status = 'succeeded'
       ORDER BY id DESC LIMIT $3) AS last`,
    [endpoint, test, HISTORY],
  );
  return rows[0]?.seconds ?? null;
}

const RECORD_AGAIN_MS = 1000;

/**
 * Records in the request's log what the pipeline reports, in order. `settled` resolves when
 * everything is recorded. Failing to record a stage or preview is logged and does not end the run.
 * Recording a critical flag is retried until it succeeds, because its mails and its place in the
 * worklist depend on this record alone. If the run is interrupted through `broken`, the next run
 * raises its flags again.
 */
export async function recordProgress(
  row: StoredRequest,
  parts: ProgressParts,
  broken: AbortSignal,
) {
  const { database, config, logger, now } = parts;
  const typical = await typicalSeconds(database, row);
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
        const own = await lockOwn(tx, row.id, row.attempts);
        await appendEvents(tx, row.id, now(), [{ name: 'triage', data }]);
        await announceFlag(tx, own, data);
        await raiseAlert(tx, own, data, config);
      });
    } else {
      await announcePartial(row, event, parts);
    }
  };

  const recorded = async (event: PipelineEvent, elapsedSeconds: number) => {
    do {
      try {
        return await write(event, elapsedSeconds);
      } catch (error) {
        if (error instanceof LeaseLostError) return;
        logger.event('request_event_unrecorded', { request: row.id, error: String(error) });
        if (event.type !== 'triage') return;
        await delay(RECORD_AGAIN_MS, null, { signal: broken }).catch(() => {});
      }
    } while (!broken.aborted);
  };

  return {
    record: (event: PipelineEvent) => {
      const elapsed = (performance.now() - started) / 1000;
      last = last.then(() => recorded(event, elapsed));
    },
    settled: () => last,
  };
}

/**
 * Stores a preview before announcing it, so that clients can fetch it at once. If the installation
 * has a bucket, they can fetch it from any host.
 */
async function announcePartial(
  row: StoredRequest,
  { artifact: name, mediaType, section, caption }: Extract<PipelineEvent, { type: 'partial' }>,
  { database, config, blobs, now }: ProgressParts,
): Promise<void> {
  if (!isPlainName(name)) throw new Error(`artifact name ${JSON.stringify(name)}`);
  const path = join(runFolder(config.dataDir, row), 'artifacts', name);
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
