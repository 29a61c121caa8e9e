import type { Queryable } from '../../platform/database/port.ts';
import { announceEnd } from './announce.ts';
import { appendEvents, type EventRecord } from './events.ts';
import {
  type Cost,
  FINAL_STATUS,
  NO_COST,
  type RequestFault,
  type RequestStatus,
  type Stage,
  type StoredRequest,
} from './request.ts';

/** The statuses that may follow each status, as in the diagram in request.ts. */
export const TRANSITIONS = {
  queued: ['preparing', 'canceled'],
  preparing: ['running', 'failed', 'rejected', 'canceled'],
  running: ['succeeded', 'failed', 'rejected', 'canceled'],
  succeeded: ['expired'],
  failed: [],
  canceled: [],
  rejected: [],
  expired: [],
} as const satisfies Record<RequestStatus, readonly RequestStatus[]>;

export function canMove(from: RequestStatus, to: RequestStatus): boolean {
  const allowed: readonly RequestStatus[] = TRANSITIONS[from];
  return allowed.includes(to);
}

/**
 * Thrown when the state table does not allow the transition. This is a defect in the calling code.
 */
export class IllegalTransitionError extends Error {
  override name = 'IllegalTransitionError';

  constructor(id: string, from: RequestStatus, to: RequestStatus) {
    super(`${id}: a request cannot go from ${from} to ${to}`);
  }
}

/**
 * The stages that the core itself enters (api 6.1). The pipeline reports the stages between them.
 */
export const STAGES = {
  received: { name: 'received', label: 'Received', progress: 0, eta_s: null },
  queued_gpu: { name: 'queued_gpu', label: 'Waiting for a worker', progress: 0, eta_s: null },
  validating: { name: 'validating', label: 'Checking the files', progress: 0.02, eta_s: null },
  fetching: { name: 'validating', label: 'Fetching the files', progress: 0.03, eta_s: null },
  starting: { name: 'starting', label: 'Starting the pipeline', progress: 0.05, eta_s: null },
  uploading: { name: 'uploading', label: 'Storing the result', progress: 0.96, eta_s: null },
  completed: { name: 'completed', label: 'Completed', progress: 1, eta_s: 0 },
} as const satisfies Record<string, Stage>;

/**
 * Converts the progress of the pipeline (0 to 1) into the progress of the request, which includes
 * the core's stages before and after the run.
 */
export function pipelineProgress(progress: number): number {
  const share = Math.min(Math.max(progress, 0), 1);
  const { starting, uploading } = STAGES;
  return starting.progress + share * (uploading.progress - starting.progress);
}

/**
 * Returns `next`, but never with less progress than `current`. Returns `current` itself if nothing
 * changed.
 */
export function laterStage(current: Stage, next: Stage | null): Stage {
  if (!next) return current;
  const progress = Math.max(current.progress, Math.round(next.progress * 1000) / 1000);
  const same =
    next.name === current.name && next.label === current.label && progress === current.progress;
  return same ? current : { ...next, progress };
}

/** Below this share of the work, the speed so far does not predict the remaining time. */
const RELIABLE_SHARE = 0.2;

/**
 * Estimates the seconds left; null if unknown. `typical` is the median run time in seconds
 * (`typicalSeconds`). It is used until the run itself has progressed far enough for an estimate.
 */
export function estimateEta(
  share: number,
  elapsedSeconds: number,
  typical: number | null,
): number | null {
  if (share >= 1) return 0;
  if (share >= RELIABLE_SHARE) return Math.ceil((elapsedSeconds * (1 - share)) / share);
  return typical !== null && typical > elapsedSeconds ? Math.ceil(typical - elapsedSeconds) : null;
}

/** Thrown when the worker has lost the request: it was canceled, or another worker claimed it. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError';

  constructor(id: string) {
    super(`${id}: the request is no longer ours`);
  }
}

const WITHOUT_RESULT: ReadonlySet<RequestStatus> = new Set(['failed', 'canceled', 'rejected']);

interface Change {
  at: Date;
  /** The worker's fencing token: the change is rejected if another attempt has begun. */
  attempt?: number;
  stage?: Stage;
  fault?: RequestFault;
  /** Cost of a succeeded request. A request without a result is free. */
  cost?: Cost;
  /** When the result of a succeeded request will be purged. */
  expiresAt?: Date;
}

/** Returns the row of a request and locks it until `tx` ends; null if it is unknown. */
export async function lockRequest(tx: Queryable, id: string): Promise<StoredRequest | null> {
  const { rows } = await tx.query<StoredRequest>(
    'SELECT * FROM requests WHERE id = $1 FOR UPDATE',
    [id],
  );
  return rows[0] ?? null;
}

/**
 * Like `lockRequest`, for the worker that holds `attempt`.
 * @throws LeaseLostError
 */
export async function lockOwn(tx: Queryable, id: string, attempt: number): Promise<StoredRequest> {
  const row = await lockRequest(tx, id);
  if (!row || row.attempts !== attempt || FINAL_STATUS.has(row.status))
    throw new LeaseLostError(id);
  return row;
}

/**
 * Moves a request along the state table and logs the events of the change, within the transaction
 * `tx`. No other code writes `requests.status`.
 * @throws IllegalTransitionError, LeaseLostError
 */
export async function transition(
  tx: Queryable,
  id: string,
  to: RequestStatus,
  change: Change,
): Promise<StoredRequest> {
  const row =
    change.attempt === undefined
      ? await lockRequest(tx, id)
      : await lockOwn(tx, id, change.attempt);
  if (!row) throw new LeaseLostError(id);
  const { status: previous } = row;
  if (!canMove(previous, to)) throw new IllegalTransitionError(id, previous, to);

  const final = FINAL_STATUS.has(to);
  const stage = laterStage(
    row.stage,
    change.stage ?? (to === 'succeeded' ? STAGES.completed : null),
  );
  const fault = change.fault ?? null;
  const cost = WITHOUT_RESULT.has(to) ? NO_COST : (change.cost ?? null);
  const { rows } = await tx.query<StoredRequest>(
    `UPDATE requests SET status = $2, stage = $3::jsonb, fault = $4::jsonb,
       started_at = CASE WHEN $2 = 'running' THEN $5 ELSE started_at END,
       ended_at = CASE WHEN $6 AND ended_at IS NULL THEN $5 ELSE ended_at END,
       expires_at = COALESCE($7, expires_at),
       cost = COALESCE($8::jsonb, cost),
       lease_until = CASE WHEN $6 THEN NULL ELSE lease_until END
     WHERE id = $1 RETURNING *`,
    [
      id,
      to,
      JSON.stringify(stage),
      fault && JSON.stringify(fault),
      change.at,
      final,
      change.expiresAt ?? null,
      cost && JSON.stringify(cost),
    ],
  );
  const status: EventRecord = {
    name: 'status',
    data: { status: to, previous, at: change.at.toISOString() },
  };
  const staged: EventRecord[] = stage === row.stage ? [] : [{ name: 'stage', data: stage }];
  const events: EventRecord[] = final
    ? [
        ...staged,
        status,
        ...(fault ? [{ name: 'error' as const, data: fault }] : []),
        { name: 'done', data: null },
      ]
    : [status, ...staged];
  await appendEvents(tx, id, change.at, events);
  const [moved] = rows;
  if (!moved) throw new LeaseLostError(id);
  await announceEnd(tx, moved);
  return moved;
}

/**
 * Records that a request being run by `attempt` has entered a new stage. Progress never decreases.
 */
export async function enterStage(
  tx: Queryable,
  id: string,
  attempt: number,
  stage: Stage,
  at: Date,
): Promise<void> {
  const row = await lockOwn(tx, id, attempt);
  const next = laterStage(row.stage, stage);
  if (next === row.stage) return;
  await tx.query('UPDATE requests SET stage = $2::jsonb WHERE id = $1', [id, JSON.stringify(next)]);
  await appendEvents(tx, id, at, [{ name: 'stage', data: next }]);
}
