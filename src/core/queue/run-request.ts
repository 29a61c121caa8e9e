import { readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../../config/schema.ts';
import { type Job, type ModelInUse, mockScenario } from '../../../pipelines/contract/job.ts';
import type { InferenceRun } from '../../../pipelines/inference/inference-channel.ts';
import type { ArtifactEntry } from '../../../pipelines/result/envelope.ts';
import { DatabaseUnreachableError, type PooledDatabase } from '../../platform/database/pooled.ts';
import { catalogueEntry, type ErrorCode, SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing, isOutOfSpace } from '../../platform/errors/file-system.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { FetchArchivedObjects } from '../files/archived-objects.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { type FetchHostedFile, HostedFileError } from '../files/hosted-files.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import { startingWithDraft } from '../outbox/delivery.ts';
import type { ChangeFeed } from '../requests/changes.ts';
import type { Endpoint } from '../requests/endpoint.ts';
import { holdLease, MAX_ATTEMPTS, releaseRequest } from '../requests/lease.ts';
import { type Cost, costOf, type RequestFile, type StoredRequest } from '../requests/request.ts';
import {
  ArtifactMismatchError,
  completeResult,
  describeFile,
  EVIDENCE,
  publishArtifacts,
  putInPlace,
  resultEssentialsSchema,
  saveArtifacts,
} from '../requests/results.ts';
import { enterStage, LeaseLostError, STAGES, transition } from '../requests/transitions.ts';
import {
  InputFileMissingError,
  placeFile,
  prepareWorkFolder,
  priorNames,
  runFolder,
} from '../requests/work-folder.ts';
import { signedBefore } from '../studies/signed-results.ts';
import type { PipelinePool, PipelineProgram, RunOutcome } from './pipeline-process.ts';
import type { RequestQueue } from './queue.ts';
import { recordProgress } from './record-progress.ts';

export interface WorkerOptions {
  database: PooledDatabase;
  queue: RequestQueue;
  endpoints: readonly Endpoint[];
  program: PipelineProgram;
  /** URLs of the modules that export the `pipeline` of each endpoint, keyed by endpoint id. */
  pipelines: Readonly<Record<string, string>>;
  /** URL of the mock pipeline, which runs requests made with test keys. */
  mock?: string;
  fetchFile: FetchHostedFile;
  fetchArchived: FetchArchivedObjects;
  /** The store for uploads, and for copies of artifacts offered for download. */
  blobs: BlobStore;
  config: Pick<
    Config,
    | 'dataDir'
    | 'worker'
    | 'models'
    | 'evidence'
    | 'report'
    | 'pictures'
    | 'console'
    | 'retention'
    | 'delivery'
    | 'alerts'
    | 'destinations'
  >;
  logger: Logger;
  /**
   * Called with the models once the first pipeline process has opened them, and again whenever one
   * of them changes.
   */
  modelsReady?(models: readonly ModelInUse[]): void;
  onInference?(run: InferenceRun): void;
  now: () => Date;
}

/**
 * Free bytes that a run needs for its copies of files, previews and documents. If less is free, the
 * run waits.
 */
const LEAST_FREE_BYTES = 64 * 1024 ** 2;

const LOOK_AGAIN_MS = 5000;

/** Returns true if there is enough free space for the files that a run writes. */
export async function hasRoom(dataDir: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize >= LEAST_FREE_BYTES;
}

/** Resolves once there is enough free space for a run, or when the run is interrupted. */
export async function waitForRoom(
  dataDir: string,
  broken: AbortSignal,
  onFull: () => void,
): Promise<void> {
  while (!broken.aborted && !(await hasRoom(dataDir))) {
    onFull();
    await delay(LOOK_AGAIN_MS, null, { signal: broken }).catch(() => {});
  }
}

/** Ends the request without a result. */
interface Fault {
  type: 'fault';
  to: 'failed' | 'rejected';
  code: ErrorCode;
  detail: string;
}

/** How a run ended, which determines what becomes of its request (`settle`). */
type End =
  | { type: 'succeeded' }
  /** The request was canceled, or another worker has claimed it. */
  | { type: 'lost' }
  /** The gateway is stopping, or the database was unreachable for a short time. */
  | { type: 'interrupted' }
  /** The pipeline process died. */
  | { type: 'crashed'; reason: string }
  | { type: 'out-of-space' }
  | Fault;

const fault = (to: Fault['to'], code: ErrorCode, detail: string): Fault => ({
  type: 'fault',
  to,
  code,
  detail,
});

/** Thrown by a step of the run that ends the request. */
class RunFailure extends Error {
  override name = 'RunFailure';
  readonly end: Fault;

  constructor(...given: Parameters<typeof fault>) {
    const end = fault(...given);
    super(end.detail);
    this.end = end;
  }
}

/** The run was interrupted before the pipeline began, or after it had ended. */
class InterruptedError extends Error {
  override name = 'InterruptedError';
}

interface RunParts extends WorkerOptions {
  changes: ChangeFeed;
  pool: PipelinePool;
  stopping: AbortSignal;
}

/**
 * Runs a claimed request to completion. Every update is tied to the attempt, so a canceled or
 * superseded run can no longer change anything.
 * @returns `crashed` if the request was released and has to be claimed again. Otherwise this worker
 * has nothing more to do with it.
 */
export async function runRequest(row: StoredRequest, parts: RunParts): Promise<'over' | 'crashed'> {
  const { database, config, changes, stopping } = parts;
  const lease = holdLease(database, changes, row.id, row.attempts);
  try {
    const broken = AbortSignal.any([lease.lost, stopping]);
    const end = await runToEnd(row, parts, broken).catch((error: unknown) =>
      endOfError(error, row, parts),
    );
    await lease.release();
    await settle(end, row, parts);
    return end.type === 'crashed' ? 'crashed' : 'over';
  } finally {
    await lease.release();
    await rm(runFolder(config.dataDir, row), { recursive: true, force: true });
  }
}

async function runToEnd(row: StoredRequest, parts: RunParts, broken: AbortSignal): Promise<End> {
  const { config, logger, stopping } = parts;
  await waitForRoom(config.dataDir, broken, () => {
    logger.event('request_waits_for_disk', { request: row.id });
  });
  if (broken.aborted) return { type: 'interrupted' };
  const outcome = await runReadable(row, parts, broken);
  switch (outcome.type) {
    case 'done':
      await succeed(row, parts, broken);
      return { type: 'succeeded' };
    case 'aborted':
      return { type: stopping.aborted ? 'interrupted' : 'lost' };
    case 'crashed':
      return outcome;
    case 'rejected':
      return fault('rejected', outcome.code, outcome.detail);
    case 'timeout': {
      const detail = `The pipeline was stopped after ${config.worker.timeoutSeconds} s.`;
      return fault('failed', 'pipeline_timeout', detail);
    }
    case 'failed':
      if (outcome.outOfSpace || !(await hasRoom(config.dataDir))) return { type: 'out-of-space' };
      logger.event('request_failed', { request: row.id, error: outcome.message });
      return fault('failed', 'pipeline_failed', 'The pipeline ended with an error.');
  }
}

function endOfError(error: unknown, row: StoredRequest, { logger }: RunParts): End {
  if (error instanceof RunFailure) return error.end;
  if (error instanceof LeaseLostError) return { type: 'lost' };
  if (isOutOfSpace(error)) return { type: 'out-of-space' };
  if (error instanceof InterruptedError || error instanceof DatabaseUnreachableError) {
    return { type: 'interrupted' };
  }
  logger.event('request_failed_unexpectedly', { request: row.id, error: String(error) });
  return fault('failed', 'internal', 'An unexpected error in the gateway.');
}

/**
 * Ends the request, or releases it to be run again. An interrupted run is always repeated; after a
 * crash or a full disk, the number of repetitions is limited.
 */
async function settle(end: End, row: StoredRequest, parts: RunParts): Promise<void> {
  const { database, logger, now } = parts;
  const { id, attempts } = row;
  switch (end.type) {
    case 'succeeded':
    case 'lost':
      return;
    case 'interrupted':
      return releaseRequest(database, id, attempts, 'interrupted');
    case 'crashed':
      logger.event('request_process_died', { request: id, reason: end.reason });
      return releaseRequest(database, id, attempts, 'crashed');
    case 'out-of-space': {
      const counted = attempts - row.lost_runs;
      if (counted < MAX_ATTEMPTS) return releaseRequest(database, id, attempts, 'out-of-space');
      logger.event('request_out_of_space', { request: id, attempts: counted });
      const detail = `The disk was full in ${counted} attempts to run the request.`;
      return settle(fault('failed', 'out_of_space', detail), row, parts);
    }
    case 'fault': {
      const { to, code, detail } = end;
      const change = { at: now(), attempt: attempts, fault: { code, detail } };
      await database
        .transaction((tx) => transition(tx, id, to, change))
        .catch((lost: unknown) => {
          if (!(lost instanceof LeaseLostError)) throw lost;
        });
    }
  }
}

/** A request fails when reading this many of its files has hung, each for `worker.readSeconds`. */
const MOST_STALLED_FILES = 3;

/**
 * Runs the pipeline. If it hangs on a file, it is run again without that file, so that a single bad
 * file does not cost the study its result.
 */
async function runReadable(
  row: StoredRequest,
  parts: RunParts,
  broken: AbortSignal,
): Promise<Exclude<RunOutcome, { type: 'stalled' }>> {
  const { logger, config } = parts;
  const unreadable: string[] = [];
  for (;;) {
    await prepare(row, parts, broken, unreadable);
    const outcome = await runPipeline(row, parts, broken);
    if (outcome.type !== 'stalled') return outcome;
    logger.event('request_file_stalled', {
      request: row.id,
      seconds: config.worker.readSeconds,
    });
    unreadable.push(outcome.file);
    if (unreadable.length < MOST_STALLED_FILES) continue;
    const detail = `Reading took more than ${config.worker.readSeconds} s for each of these files: ${unreadable.join(', ')}.`;
    throw new RunFailure('failed', 'pipeline_timeout', detail);
  }
}

/**
 * Fills the work folder, and moves the request to the status `running`.
 * @param unreadable the files on which earlier runs of this attempt hung.
 */
async function prepare(
  row: StoredRequest,
  parts: RunParts,
  broken: AbortSignal,
  unreadable: readonly string[],
): Promise<void> {
  const { database, config, now } = parts;
  const endpoint = endpointOf(row, parts.endpoints);
  const input = endpoint.input.parse(row.input);
  const priors = priorNames(row.files, row.prior_files);
  const job: Job = {
    request: row.id,
    endpoint: row.endpoint,
    version: row.version,
    files: row.files.map(({ name }) => name),
    priorFiles: priors,
    ...(unreadable.length > 0 && { unreadable: [...unreadable] }),
    options: input.options ?? {},
    clinicalContext: input.clinical_context ?? {},
    evidence: config.evidence.accept,
    paper: config.report.paper,
    display: config.console.enabled,
    wholeFrames: config.pictures.show === 'whole-frames',
    models: config.models,
    ...(row.test && { mock: mockScenario(row.metadata) ?? 'succeeded' }),
  };
  const files = [
    ...row.files,
    ...row.prior_files.map((file, i) => ({ ...file, name: priors[i] ?? file.name })),
  ];
  const folder = runFolder(config.dataDir, row);
  await prepareWorkFolder(folder, job);
  try {
    for (const file of files) {
      if ('url' in file || 'archive' in file) continue;
      const place = () => placeFile(folder, file, parts.blobs);
      await onceStorageWorks(row.id, parts, broken, place, isUnreachable);
    }
  } catch (error) {
    if (!(error instanceof InputFileMissingError)) throw error;
    throw new RunFailure('rejected', 'file_not_ready', `${error.message}.`);
  }
  // A request that was run before, by this worker or one that died, already has this status.
  const isRunning = row.status === 'running' || unreadable.length > 0;
  await fetchFiles(row, { files, isRunning }, parts, broken);
  if (isRunning) return;
  await database.transaction((tx) =>
    transition(tx, row.id, 'running', {
      at: now(),
      attempt: row.attempts,
      stage: STAGES.starting,
    }),
  );
}

/**
 * Fetches into the work folder those files that the gateway does not have: first files that the
 * client supplied as URLs, one after the other, then objects held in an archive.
 */
async function fetchFiles(
  row: StoredRequest,
  { files, isRunning }: { files: readonly RequestFile[]; isRunning: boolean },
  { database, config, fetchFile, fetchArchived, now }: RunParts,
  broken: AbortSignal,
): Promise<void> {
  const { id, attempts, test } = row;
  const folder = join(runFolder(config.dataDir, row), 'files');
  // The mock pipeline does not open files.
  const fetched = test ? [] : files;
  const hosted = fetched.filter((file) => 'url' in file);
  const archived = fetched.flatMap((file) =>
    'archive' in file ? [{ object: file.archive, path: join(folder, file.name) }] : [],
  );
  if (hosted.length + archived.length > 0 && !isRunning) {
    await database.transaction((tx) => enterStage(tx, id, attempts, STAGES.fetching, now()));
  }
  for (const { name, url } of hosted) {
    await fetchFile(url, join(folder, name), broken).catch((error: unknown) => {
      if (broken.aborted) throw new InterruptedError();
      if (!(error instanceof HostedFileError)) throw error;
      const detail = `${name} could not be fetched: ${error.message}.`;
      throw new RunFailure('rejected', 'hosted_file_unreachable', detail);
    });
  }
  if (archived.length === 0) return;
  const missing = await fetchArchived(archived, broken).catch((error: unknown) => {
    if (broken.aborted) throw new InterruptedError();
    if (!(error instanceof SonogateError)) throw error;
    throw new RunFailure('failed', error.code, catalogueEntry(error.code).title);
  });
  if (missing.length > 0) {
    const detail = `The archive did not send ${missing.length} of ${archived.length} objects.`;
    throw new RunFailure('failed', 'archive_refused_query', detail);
  }
}

function endpointOf(row: StoredRequest, endpoints: readonly Endpoint[]): Endpoint {
  const found = endpoints.find(({ id, version }) => id === row.endpoint && version === row.version);
  if (found) return found;
  const detail = `Version ${row.version} of ${row.endpoint} is no longer part of this gateway.`;
  throw new RunFailure('failed', 'unknown_endpoint', detail);
}

async function runPipeline(
  row: StoredRequest,
  parts: RunParts,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { config, pool } = parts;
  const module = row.test ? parts.mock : parts.pipelines[row.endpoint];
  if (module === undefined) {
    throw new RunFailure('failed', 'unknown_endpoint', `No pipeline for ${row.endpoint}.`);
  }
  const progress = await recordProgress(row, parts, signal);
  return await pool.run({
    module,
    folder: runFolder(config.dataDir, row),
    timeoutSeconds: config.worker.timeoutSeconds,
    readSeconds: config.worker.readSeconds,
    signal,
    onEvent: progress.record,
    settled: progress.settled,
  });
}

/**
 * Checks the result and copies it to the bucket if there is one. Then one transaction ends the
 * request, creates its deliveries and moves the result to where every process reads it. The move
 * needs the lock of that transaction, because only one run may put its result in place. If the
 * process dies before the commit, the next run replaces the result.
 */
async function succeed(row: StoredRequest, parts: RunParts, broken: AbortSignal): Promise<void> {
  const { database, config, logger, now } = parts;
  const { id, attempts } = row;
  await database.transaction((tx) => enterStage(tx, id, attempts, STAGES.uploading, now()));
  const { artifacts, cost } = await checkedResult(row, parts);
  const from = runFolder(config.dataDir, row);
  const complete = await completeResult(from, artifacts).catch((error: unknown) => {
    if (!(error instanceof ArtifactMismatchError)) throw error;
    logger.event('request_result_invalid', { request: id, error: error.message });
    throw new RunFailure('failed', 'invalid_result', 'The pipeline wrote an invalid result.');
  });
  const publish = () => publishArtifacts(parts.blobs, complete);
  // Every error of the storage counts as an outage here, so the finished run waits until the
  // storage works. If the request failed instead, the whole run would have to be repeated.
  await onceStorageWorks(id, parts, broken, publish, () => true);
  const at = now();
  const expiresAt = new Date(at.getTime() + config.retention.days * DAY_MS);
  const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
  await database.transaction(async (tx) => {
    await transition(tx, id, 'succeeded', { at, attempt: attempts, expiresAt, cost });
    await saveArtifacts(tx, id, complete.artifacts);
    const signed = (await signedBefore(tx, id)) !== null;
    const drafts = startingWithDraft(row.deliver_to, config.destinations, signed);
    await enqueueDeliveries(tx, id, drafts, giveUpSeconds);
    await putInPlace(config.dataDir, id, complete.folder);
  });
}

const STORAGE_AGAIN_MS = 5000;

const isUnreachable = (error: unknown) =>
  error instanceof SonogateError && error.code === 'storage_unreachable';

/**
 * Reads from the storage or writes to it, and repeats this during an outage, so that the run
 * neither fails nor has to be repeated.
 */
async function onceStorageWorks(
  id: string,
  { logger }: RunParts,
  broken: AbortSignal,
  work: () => Promise<void>,
  isOutage: (error: unknown) => boolean,
): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error)) throw error;
      const cause = error instanceof SonogateError ? (error.cause ?? error) : error;
      logger.event('storage_away', { request: id, error: String(cause) });
      await delay(STORAGE_AGAIN_MS, null, { signal: broken }).catch(() => {});
      if (broken.aborted) throw new InterruptedError();
    }
  }
}

/**
 * Checks the result against the endpoint's schema, and returns the artifacts listed in it and the
 * price of the request.
 */
async function checkedResult(
  row: StoredRequest,
  parts: RunParts,
): Promise<{ artifacts: ArtifactEntry[]; cost: Cost }> {
  const path = join(runFolder(parts.config.dataDir, row), 'result.json');
  const result = parseJson(await ifMissing(readFile(path, 'utf8'), ''));
  const endpoint = endpointOf(row, parts.endpoints);
  const { error } = endpoint.output.safeParse(result);
  const { data } = resultEssentialsSchema.safeParse(result);
  if (error || !data) {
    const places = error?.issues.slice(0, 10).map((i) => `${i.path.join('.')}: ${i.message}`);
    parts.logger.event('request_result_invalid', { request: row.id, places });
    throw new RunFailure('failed', 'invalid_result', 'The pipeline wrote an invalid result.');
  }
  const lines = endpoint.price(endpoint.input.parse(row.input), data.input_summary?.frames);
  return {
    artifacts: [
      ...data.artifacts.filter(({ name }) => name !== 'result.json'),
      ...(await evidenceOf(row, parts)),
    ],
    cost: costOf(lines, row.test),
  };
}

/**
 * Returns the evidence for reviews if the pipeline wrote it. The evidence is not listed in the
 * result.
 */
async function evidenceOf(row: StoredRequest, { config }: RunParts): Promise<ArtifactEntry[]> {
  const path = join(runFolder(config.dataDir, row), 'artifacts', EVIDENCE);
  const found = await ifMissing(describeFile(path), null);
  return found ? [{ name: EVIDENCE, media_type: 'application/json', ...found, section: null }] : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
