import type { Queryable } from '../database/port.ts';
import { announceEnd } from '../webhooks/announce.ts';
import { NO_COST } from './cost.ts';
import { appendEvents, type EventRecord } from './events.ts';
import { FINAL_STATUS, type RequestStatus } from './port.ts';
import type { Cost, RequestFault, Stage, StoredRequest } from './row.ts';
import { laterStage, STAGES } from './stage.ts';
import { canMove, IllegalTransitionError } from './states.ts';

/** Whoever ran the request lost it meanwhile: it was canceled, or another worker took it up. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError';

  constructor(id: string) {
    super(`${id}: the request is no longer ours`);
  }
}

const WITHOUT_RESULT: ReadonlySet<RequestStatus> = new Set(['failed', 'canceled', 'rejected']);

interface Change {
  at: Date;
  /** Fencing token of a worker: the change is refused when another attempt has begun. */
  attempt?: number;
  stage?: Stage;
  fault?: RequestFault;
  /** What a succeeded request costs; one that ends without a result costs nothing. */
  cost?: Cost;
  /** When the result of a succeeded request is to be purged. */
  expiresAt?: Date;
}

/** The row, locked until `tx` ends. */
export async function lockRequest(tx: Queryable, id: string): Promise<StoredRequest | null> {
  const { rows } = await tx.query<StoredRequest>(
    'SELECT * FROM requests WHERE id = $1 FOR UPDATE',
    [id],
  );
  return rows[0] ?? null;
}

/** As `lockRequest`, for the worker that holds `attempt`. @throws LeaseLostError */
export async function lockOwn(tx: Queryable, id: string, attempt: number): Promise<StoredRequest> {
  const row = await lockRequest(tx, id);
  if (!row || row.attempts !== attempt || FINAL_STATUS.has(row.status))
    throw new LeaseLostError(id);
  return row;
}

/**
 * Moves a request along the state table and logs it, inside the transaction `tx`. The only place
 * that writes `requests.status`.
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

/** Logs a new stage of a request that `attempt` is working on; progress never goes back. */
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
