import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Job, mockScenario } from '../../pipelines/contract/job.ts';
import { DatabaseUnreachableError } from '../database/unreachable.ts';
import { DAY_MS } from '../durations.ts';
import { ifMissing } from '../errors/if-missing.ts';
import { isOutOfSpace } from '../errors/out-of-space.ts';
import { HostedFileError } from '../files/hosted-files.ts';
import { publishArtifacts } from '../files/published-artifacts.ts';
import { ArtifactMismatchError, removeResult, storeResult } from '../files/results.ts';
import {
  InputFileMissingError,
  layOutWork,
  placeFile,
  priorNames,
  removeWork,
  workFolder,
} from '../files/work-folder.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import {
  type ArtifactEntry,
  resultEssentialsSchema,
  saveArtifacts,
} from '../requests/artifacts.ts';
import type { ChangeFeed } from '../requests/changes.ts';
import { costOf } from '../requests/cost.ts';
import type { Endpoint } from '../requests/endpoint.ts';
import type { RequestFile } from '../requests/port.ts';
import type { Cost, StoredRequest } from '../requests/row.ts';
import { STAGES } from '../requests/stage.ts';
import { letGo, MAX_ATTEMPTS } from '../requests/take-up.ts';
import { enterStage, LeaseLostError, transition } from '../requests/transitions.ts';
import { hasRoom, waitForRoom } from './disk-room.ts';
import { holdLease } from './lease.ts';
import type { PipelinePool } from './pipeline-pool.ts';
import type { RunOutcome } from './pipeline-process.ts';
import { recordProgress } from './progress.ts';
import {
  asRefusal,
  InterruptedError,
  OutOfSpaceError,
  outOfSpace,
  Refusal,
  refusalOf,
} from './run-endings.ts';
import type { WorkerOptions } from './worker.ts';

interface RunParts extends WorkerOptions {
  now: () => Date;
  changes: ChangeFeed;
  pool: PipelinePool;
  /** Aborts when the gateway stops. */
  stopping: AbortSignal;
}

/** `crashed`: the request was let go of and is to be taken up again. */
type RunEnd = 'over' | 'crashed';

/**
 * Runs a request that was taken up, from its files to its end. Every change carries the attempt, so
 * that a run that was canceled or overtaken no longer changes anything.
 */
export async function runRequest(row: StoredRequest, parts: RunParts): Promise<RunEnd> {
  const { database, config, logger, now, changes, stopping } = parts;
  const { id, attempts } = row;
  const lease = holdLease(database, changes, id, attempts);
  try {
    const broken = AbortSignal.any([lease.lost, stopping]);
    await waitForRoom(config.dataDir, broken, () => {
      logger.warn({ request: id }, 'disk full, the run waits');
    });
    if (broken.aborted) throw new InterruptedError();
    await prepare(row, parts, broken);
    const outcome = await runPipeline(row, parts, broken);
    if (outcome.type === 'crashed' || (outcome.type === 'aborted' && stopping.aborted)) {
      const crashed = outcome.type === 'crashed';
      if (crashed) logger.warn({ request: id, reason: outcome.reason }, 'pipeline process died');
      await lease.release();
      await letGo(database, id, attempts, crashed ? 'crashed' : 'interrupted');
      return crashed ? 'crashed' : 'over';
    }
    if (outcome.type === 'aborted') return 'over';
    if (outcome.type === 'failed' && (outcome.outOfSpace || !(await hasRoom(config.dataDir)))) {
      throw new OutOfSpaceError();
    }
    if (outcome.type !== 'done') throw refusalOf(outcome, row, parts);
    await succeed(row, parts, broken);
  } catch (error) {
    if (error instanceof LeaseLostError) return 'over';
    const full = error instanceof OutOfSpaceError || isOutOfSpace(error);
    // A database that was away for a moment is no fault of the request. What the disk could not hold is
    // run again when there is room, but not for ever.
    const away = error instanceof DatabaseUnreachableError;
    if (error instanceof InterruptedError || away || (full && attempts < MAX_ATTEMPTS)) {
      await lease.release();
      await letGo(database, id, attempts, full ? 'out-of-space' : 'interrupted');
      return 'over';
    }
    const refusal = full ? outOfSpace(row, parts) : asRefusal(error, row, parts);
    const fault = { code: refusal.code, detail: refusal.detail };
    await database
      .transaction((tx) => transition(tx, id, refusal.to, { at: now(), attempt: attempts, fault }))
      .catch((lost: unknown) => {
        if (!(lost instanceof LeaseLostError)) throw lost;
      });
  } finally {
    await lease.release();
    await removeWork(config.dataDir, id);
  }
  return 'over';
}

/** Lays out the work folder and moves the request to `running`. */
async function prepare(row: StoredRequest, parts: RunParts, broken: AbortSignal): Promise<void> {
  const { database, config, now } = parts;
  const endpoint = endpointOf(row, parts.endpoints);
  const input = endpoint.input.parse(row.input);
  const priors = priorNames(row.files, row.prior_files);
  const job: Job = {
    endpoint: row.endpoint,
    version: row.version,
    files: row.files.map(({ name }) => name),
    priorFiles: priors,
    options: input.options ?? {},
    clinicalContext: input.clinical_context ?? {},
    paper: config.report.paper,
    display: config.console.enabled,
    models: config.models,
    ...(row.test && { mock: mockScenario(row.metadata.mock) ?? 'succeed' }),
  };
  const files = [
    ...row.files,
    ...row.prior_files.map((file, i) => ({ ...file, name: priors[i] ?? file.name })),
  ];
  const folder = workFolder(config.dataDir, row.id);
  await layOutWork(folder, job);
  try {
    for (const file of files) if (!file.url) await placeFile(folder, file, parts.blobs);
  } catch (error) {
    if (!(error instanceof InputFileMissingError)) throw error;
    throw new Refusal('rejected', 'file_not_ready', `${error.message}.`);
  }
  await fetchHosted(row, files, parts, broken);
  // A request whose worker died while it ran is still `running`.
  if (row.status === 'running') return;
  await database.transaction((tx) =>
    transition(tx, row.id, 'running', {
      at: now(),
      attempt: row.attempts,
      stage: STAGES.starting,
    }),
  );
}

/** Fetches what the client named by URL, one after the other, into the work folder. */
async function fetchHosted(
  { id, attempts, status, test }: StoredRequest,
  files: readonly RequestFile[],
  { database, config, fetchFile, now }: RunParts,
  broken: AbortSignal,
): Promise<void> {
  // The mock backend opens no file.
  const hosted = test ? [] : files.filter(({ url }) => url !== undefined);
  if (hosted.length > 0 && status !== 'running') {
    await database.transaction((tx) => enterStage(tx, id, attempts, STAGES.fetching, now()));
  }
  for (const { name, url = '' } of hosted) {
    const path = join(workFolder(config.dataDir, id), 'files', name);
    await fetchFile(url, path, broken).catch((error: unknown) => {
      if (broken.aborted) throw new InterruptedError();
      if (!(error instanceof HostedFileError)) throw error;
      const detail = `${name} could not be fetched: ${error.message}.`;
      throw new Refusal('rejected', 'hosted_file_unreachable', detail);
    });
  }
}

function endpointOf(row: StoredRequest, endpoints: readonly Endpoint[]): Endpoint {
  const found = endpoints.find(({ id, version }) => id === row.endpoint && version === row.version);
  if (found) return found;
  const detail = `Version ${row.version} of ${row.endpoint} is no longer part of this gateway.`;
  throw new Refusal('failed', 'unknown_endpoint', detail);
}

async function runPipeline(
  row: StoredRequest,
  parts: RunParts,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { config, pool } = parts;
  const module = row.test ? parts.mock : parts.pipelines[row.endpoint];
  if (module === undefined) {
    throw new Refusal('failed', 'unknown_endpoint', `No pipeline for ${row.endpoint}.`);
  }
  const progress = await recordProgress(row, parts);
  const outcome = await pool.run({
    module,
    folder: workFolder(config.dataDir, row.id),
    timeoutSeconds: config.worker.timeoutSeconds,
    signal,
    onEvent: progress.record,
  });
  await progress.settled();
  return outcome;
}

/**
 * Checks and stores the result, where every process of the site finds it, then ends the request and
 * makes its deliveries in one transaction.
 */
async function succeed(row: StoredRequest, parts: RunParts, broken: AbortSignal): Promise<void> {
  const { database, config, logger, now } = parts;
  const { id, attempts } = row;
  await database.transaction((tx) => enterStage(tx, id, attempts, STAGES.uploading, now()));
  const { artifacts, cost } = await checkedResult(row, parts);
  const stored = await storeResult(config.dataDir, id, artifacts).catch((error: unknown) => {
    if (!(error instanceof ArtifactMismatchError)) throw error;
    logger.error({ request: id, error: error.message }, 'pipeline left an invalid result');
    throw new Refusal('failed', 'invalid_result', 'The pipeline left an invalid result.');
  });
  await publish(row, stored, parts, broken);
  const at = now();
  const expiresAt = new Date(at.getTime() + config.retention.days * DAY_MS);
  const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
  try {
    await database.transaction(async (tx) => {
      await transition(tx, id, 'succeeded', { at, attempt: attempts, expiresAt, cost });
      await saveArtifacts(tx, id, stored);
      await enqueueDeliveries(tx, id, row.deliver_to, giveUpSeconds);
    });
  } catch (error) {
    if (error instanceof LeaseLostError) await removeResult(config.dataDir, id);
    throw error;
  }
}

const PUBLISH_AGAIN_MS = 5000;

/** A storage that is away is waited for: the run need not be made again for it. */
async function publish(
  { id }: StoredRequest,
  stored: readonly ArtifactEntry[],
  { blobs, config, logger }: RunParts,
  broken: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await publishArtifacts(blobs, config.dataDir, id, stored);
    } catch (error) {
      logger.warn({ request: id, error: String(error) }, 'storage away, will retry');
      await delay(PUBLISH_AGAIN_MS, null, { signal: broken }).catch(() => {});
      if (broken.aborted) throw new InterruptedError();
    }
  }
}

/**
 * The artifacts that the result lists, and what the request costs by it, once it agrees with the
 * endpoint's schema.
 */
async function checkedResult(
  row: StoredRequest,
  parts: RunParts,
): Promise<{ artifacts: ArtifactEntry[]; cost: Cost }> {
  const path = join(workFolder(parts.config.dataDir, row.id), 'result.json');
  const result = parseJson(await ifMissing(readFile(path, 'utf8'), ''));
  const endpoint = endpointOf(row, parts.endpoints);
  const { error } = endpoint.output.safeParse(result);
  const { data } = resultEssentialsSchema.safeParse(result);
  if (error || !data) {
    const places = error?.issues.slice(0, 10).map((i) => `${i.path.join('.')}: ${i.message}`);
    parts.logger.error({ request: row.id, places }, 'pipeline left an invalid result');
    throw new Refusal('failed', 'invalid_result', 'The pipeline left an invalid result.');
  }
  const lines = endpoint.price(endpoint.input.parse(row.input), data.input_summary?.frames);
  return {
    artifacts: data.artifacts.filter(({ name }) => name !== 'result.json'),
    cost: costOf(lines, row.test),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
