import type { Database, Queryable } from '../../platform/database/port.ts';
import { catalogueEntry, type ErrorCode } from '../../platform/errors/catalogue.ts';
import { OUTBOX_CHANNEL } from './delivery.ts';

/**
 * States of the circuit breaker of a destination, shared by all processes of an installation.
 *
 *   closed ──several failures in a row──▶ open ◀──the probe fails, a longer wait──┐
 *      ▲                                   │ └─────────────────────────────────────┘
 *      │                                   │ the probe is answered, or there is none
 *      │                                   ▼
 *      └────a delivery gets through──── half-open ──the trial fails──▶ open
 *
 * While the breaker is open, nothing is sent and no attempt is counted. While it is half-open, one
 * delivery is sent at a time.
 */
const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;
type BreakerState = (typeof BREAKER_STATES)[number];

/** A row of `destination_breakers`. A working destination has no row. */
export interface BreakerRow {
  destination: string;
  state: BreakerState;
  failures: number;
  code: ErrorCode;
  opened_at: Date | null;
  probe_at: Date | null;
  probes: number;
}

interface BreakerSettings {
  /** Number of consecutive failures that open the breaker. */
  failures: number;
  /**
   * Seconds before the first probe. The wait doubles after each failed probe or trial, up to
   * `longestOpenSeconds`.
   */
  openSeconds: number;
  longestOpenSeconds: number;
}

/**
 * Returns what a failed attempt shows about the peer: a peer that refuses a delivery because of its
 * content is working. Null if the attempt ended before the peer was contacted.
 */
export function peerAfter(code: ErrorCode): 'works' | 'fails' | null {
  const { peer = 'works' } = catalogueEntry(code);
  return peer === 'unknown' ? null : peer;
}

/**
 * Returns true if a failure may be the object's own fault. This includes ambiguous failures of the
 * peer: it may, for example, abort whenever it receives one particular object. Such failures affect
 * the order in which the deliveries of a study are sent (deliveries.ts).
 */
export function mayBeObjectFailure(code: ErrorCode): boolean {
  return peerAfter(code) !== 'fails' || catalogueEntry(code).retry === 'ambiguous';
}

/**
 * SQL condition: the breaker of the destination of `d` lets no delivery through, because it is
 * open, or because it is half-open and a trial is being sent. The database evaluates the condition
 * once per statement, however many deliveries are waiting.
 */
export const BLOCKED_BY_BREAKER = `d.destination IN (
  SELECT destination FROM destination_breakers WHERE state = 'open'
  UNION ALL
  SELECT destination FROM destination_breakers JOIN deliveries trial USING (destination)
  WHERE destination_breakers.state = 'half-open'
    AND trial.state = 'sending' AND trial.lease_until > now())`;

/**
 * Records a failure caused by the peer.
 * @returns the state of the breaker afterwards.
 */
export async function recordPeerFailure(
  database: Queryable,
  destination: string,
  code: ErrorCode,
  settings: BreakerSettings,
): Promise<BreakerState> {
  const { rows } = await database.query<{ state: BreakerState }>(
    `INSERT INTO destination_breakers AS b (destination, state, failures, code, opened_at, probe_at)
     VALUES ($1, CASE WHEN $3 <= 1 THEN 'open' ELSE 'closed' END, 1, $2,
       CASE WHEN $3 <= 1 THEN now() END,
       CASE WHEN $3 <= 1 THEN now() + make_interval(secs => $4) END)
     ON CONFLICT (destination) DO UPDATE SET failures = b.failures + 1, code = $2,
       state = CASE WHEN b.state = 'closed' AND b.failures + 1 < $3 THEN 'closed' ELSE 'open' END,
       opened_at = CASE WHEN b.state = 'closed' AND b.failures + 1 < $3 THEN NULL
         ELSE COALESCE(b.opened_at, now()) END,
       probes = CASE WHEN b.state = 'half-open' THEN b.probes + 1 ELSE b.probes END,
       probe_at = CASE
         WHEN b.state = 'closed' AND b.failures + 1 < $3 THEN NULL
         WHEN b.state = 'open' THEN b.probe_at
         WHEN b.state = 'half-open' THEN now() + make_interval(secs =>
           LEAST($5, $4 * power(2, LEAST(b.probes + 1, 20))))
         ELSE now() + make_interval(secs => $4) END
     RETURNING state`,
    [destination, code, settings.failures, settings.openSeconds, settings.longestOpenSeconds],
  );
  return rows[0]?.state ?? 'closed';
}

/**
 * Records that the peer works: it accepted a delivery, or refused it because of its content. If its
 * breaker was open or half-open, the deliveries waiting for the peer become due at once.
 * @returns true if the breaker was open or half-open before.
 */
export async function recordPeerSuccess(database: Database, destination: string): Promise<boolean> {
  const { rows } = await database.query<{ state: BreakerState }>(
    'DELETE FROM destination_breakers WHERE destination = $1 RETURNING state',
    [destination],
  );
  if (!rows.some(({ state }) => state !== 'closed')) return false;
  await makeDue(database, destination);
  return true;
}

/**
 * Closes the half-open breaker of a destination that has no delivery left to send as a trial.
 * Called after an attempt that ended without contacting the peer.
 */
export async function closeWithoutTrial(database: Queryable, destination: string): Promise<void> {
  await database.query(
    `DELETE FROM destination_breakers WHERE destination = $1 AND state = 'half-open'
       AND NOT EXISTS (SELECT 1 FROM deliveries
         WHERE destination = $1 AND state IN ('pending', 'sending'))`,
    [destination],
  );
}

/**
 * Claims the destinations that are due for a probe. No other process probes them within
 * `leaseSeconds`.
 */
export async function claimProbes(
  database: Queryable,
  destinations: readonly string[],
  leaseSeconds: number,
): Promise<string[]> {
  const { rows } = await database.query<{ destination: string }>(
    `UPDATE destination_breakers SET probe_at = now() + make_interval(secs => $2)
     WHERE state = 'open' AND probe_at <= now() AND destination = ANY ($1::text[])
     RETURNING destination`,
    [destinations, leaseSeconds],
  );
  return rows.map(({ destination }) => destination);
}

/**
 * Makes the probe of an open destination due at once. Called when a person replays a delivery,
 * which means that the destination should work again.
 */
export async function probeNow(database: Queryable, destination: string): Promise<void> {
  await database.query(
    `UPDATE destination_breakers SET probe_at = now()
     WHERE destination = $1 AND state = 'open' AND probe_at > now()`,
    [destination],
  );
}

/** Returns the seconds until the next probe is due; null if no breaker is open. */
export async function secondsUntilProbe(database: Queryable): Promise<number | null> {
  const { rows } = await database.query<{ seconds: number | null }>(
    `SELECT EXTRACT(EPOCH FROM min(probe_at) - now())::float8 AS seconds
     FROM destination_breakers WHERE state = 'open'`,
  );
  return rows[0]?.seconds ?? null;
}

/** Records that the peer answered the probe. The oldest delivery is then sent as a trial. */
export async function recordProbeSuccess(database: Database, destination: string): Promise<void> {
  const { rowCount } = await database.query(
    `UPDATE destination_breakers SET state = 'half-open', probe_at = NULL
     WHERE destination = $1 AND state = 'open'`,
    [destination],
  );
  if (rowCount === 1) await makeDue(database, destination);
}

/**
 * Records that the probe failed. The wait before the next probe is twice as long, up to the limit.
 */
export async function recordProbeFailure(
  database: Queryable,
  destination: string,
  code: ErrorCode,
  { openSeconds, longestOpenSeconds }: BreakerSettings,
): Promise<void> {
  await database.query(
    `UPDATE destination_breakers SET probes = probes + 1, code = $2,
       probe_at = now() + make_interval(secs => LEAST($4, $3 * power(2, LEAST(probes + 1, 20))))
     WHERE destination = $1 AND state = 'open'`,
    [destination, code, openSeconds, longestOpenSeconds],
  );
}

/** Lists, by name, the destinations that have failed since their last success. */
export async function listBreakers(database: Queryable): Promise<BreakerRow[]> {
  const { rows } = await database.query<BreakerRow>(
    'SELECT * FROM destination_breakers ORDER BY destination',
  );
  return rows;
}

async function makeDue(database: Database, destination: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(
      `UPDATE deliveries SET next_at = now()
       WHERE destination = $1 AND state = 'pending' AND next_at > now()`,
      [destination],
    );
    await tx.query('SELECT pg_notify($1, $2)', [OUTBOX_CHANNEL, destination]);
  });
}
