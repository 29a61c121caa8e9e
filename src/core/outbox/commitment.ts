import type { Database, Queryable } from '../../platform/database/port.ts';
import type { ErrorCode } from '../../platform/errors/catalogue.ts';
import { secondsAfter } from '../../platform/time.ts';
import type { StoredObject } from './delivery.ts';

/**
 * Storage commitment of delivered objects (PS3.4 J). "Delivered" means that the PACS has an object,
 * "committed" that it will keep it. A request to a PACS is a transaction over many objects, and the
 * PACS reports on a transaction, possibly days later and in several parts.
 */

/** Maximum number of objects of one transaction. */
const BATCH = 500;

/**
 * Days until a PACS that accepted a request but has not reported is asked again. It may report only
 * after its nightly batch, or once the tape is written (PS3.4 J.3.3).
 */
const ASK_AGAIN_DAYS = [1, 2, 4, 7];

/** Initial wait in seconds before a request that could not be sent is repeated. */
const FIRST_WAIT_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 3600;

/**
 * Starts a transaction for the objects whose commitment is due to be requested, and claims them. An
 * object that was delivered again is removed from its earlier transactions, because they concern
 * the earlier delivery.
 */
export function beginCommitment(
  database: Database,
  destination: string,
  { transactionUid, at, askAt }: { transactionUid: string; at: Date; askAt: Date },
): Promise<StoredObject[]> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{
      delivery_id: string;
      sop_class_uid: string;
      sop_instance_uid: string;
      anew: boolean;
    }>(
      `SELECT delivery_id, sop_class_uid, sop_instance_uid, transaction_uid IS NULL AS anew
       FROM delivered_objects
       WHERE destination = $1 AND committed_at IS NULL AND failure_reason IS NULL
         AND (ask_at IS NULL OR ask_at <= $2) LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [destination, at, BATCH],
    );
    const objects = JSON.stringify(rows);
    await tx.query(
      `DELETE FROM commitment_transactions
       WHERE (delivery_id, sop_instance_uid) IN (SELECT delivery_id, sop_instance_uid
         FROM jsonb_to_recordset($1::jsonb) AS o
           (delivery_id text, sop_instance_uid text, anew boolean) WHERE o.anew)`,
      [objects],
    );
    await tx.query(
      `UPDATE delivered_objects d SET transaction_uid = $2, asked_at = $3, ask_at = $4,
         asks = CASE WHEN o.anew THEN 0 ELSE asks END
       FROM jsonb_to_recordset($1::jsonb) AS o
         (delivery_id text, sop_instance_uid text, anew boolean)
       WHERE (d.delivery_id, d.sop_instance_uid) = (o.delivery_id, o.sop_instance_uid)`,
      [objects, transactionUid, at, askAt],
    );
    await tx.query(
      `INSERT INTO commitment_transactions (transaction_uid, delivery_id, sop_instance_uid)
       SELECT $2, delivery_id, sop_instance_uid FROM jsonb_to_recordset($1::jsonb) AS o
         (delivery_id text, sop_instance_uid text)`,
      [objects, transactionUid],
    );
    return rows.map((row) => ({
      sopClassUid: row.sop_class_uid,
      sopInstanceUid: row.sop_instance_uid,
    }));
  });
}

/** Records that the PACS accepted the request of a transaction, and when it is to be asked again. */
export async function recordCommitmentAsked(
  database: Queryable,
  transactionUid: string,
  at: Date,
): Promise<void> {
  await database.query(
    `UPDATE delivered_objects SET failed_asks = 0, asks = asks + 1,
       ask_at = $2::timestamptz + make_interval(days =>
         ($3::int[])[LEAST(asks + 1, cardinality($3::int[]))])
     WHERE transaction_uid = $1`,
    [transactionUid, at, ASK_AGAIN_DAYS],
  );
}

/**
 * Returns the seconds to wait before a request is sent again after `failures` failed attempts: a
 * minute at first, doubled with each failure, at most an hour.
 */
export function askAgainSeconds(failures: number): number {
  return Math.min(FIRST_WAIT_SECONDS * 2 ** (failures - 1), LONGEST_WAIT_SECONDS);
}

/** Makes the objects of a transaction due to be requested again. */
export async function makeCommitmentDue(
  database: Queryable,
  transactionUid: string,
  at: Date,
): Promise<void> {
  await database.query('UPDATE delivered_objects SET ask_at = $2 WHERE transaction_uid = $1', [
    transactionUid,
    at,
  ]);
}

/** Reschedules a request that could not be sent. */
export async function rescheduleCommitment(
  database: Database,
  transactionUid: string,
  at: Date,
): Promise<void> {
  const { rows } = await database.query<{ failures: number }>(
    `UPDATE delivered_objects SET failed_asks = failed_asks + 1 WHERE transaction_uid = $1
     RETURNING failed_asks AS failures`,
    [transactionUid],
  );
  const failures = Math.max(1, ...rows.map((row) => row.failures));
  const again = secondsAfter(at, askAgainSeconds(failures));
  await makeCommitmentDue(database, transactionUid, again);
}

/** What a PACS reports on a transaction. */
interface CommitmentAnswer {
  transactionUid: string;
  committed: readonly { sopInstanceUid: string }[];
  /** `reason`: Failure Reason (0008,1197). */
  failed: readonly { sopInstanceUid: string; reason: number }[];
}

interface AskedObject {
  delivery_id: string;
  sop_instance_uid: string;
}

/**
 * Records a PACS's report on a transaction. Once the PACS has committed to all objects of a
 * delivery, the delivery is committed permanently. If the PACS refuses to commit to an object, the
 * delivery is dead and a person has to check and replay it, unless the PACS commits under another
 * transaction.
 * @returns true if the transaction is one of ours.
 */
export function settleReport(
  database: Database,
  report: CommitmentAnswer,
  at: Date,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const asked = await objectsOf(tx, report.transactionUid);
    if (asked.length === 0) return false;
    const keysOf = (uids: readonly string[]) => {
      const named = new Set(uids);
      const objects = asked.filter((object) => named.has(object.sop_instance_uid));
      return [
        objects.map((object) => object.delivery_id),
        objects.map((object) => object.sop_instance_uid),
      ];
    };
    await tx.query(
      `UPDATE delivered_objects SET committed_at = $3, answered_at = $3, failure_reason = NULL
       WHERE committed_at IS NULL
         AND (delivery_id, sop_instance_uid) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
      [...keysOf(report.committed.map(({ sopInstanceUid }) => sopInstanceUid)), at],
    );
    for (const { sopInstanceUid, reason } of report.failed) {
      await tx.query(
        `UPDATE delivered_objects SET failure_reason = $3, answered_at = $4
         WHERE committed_at IS NULL
           AND (delivery_id, sop_instance_uid) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
        [...keysOf([sopInstanceUid]), reason, at],
      );
    }
    const deliveries = asked.map((object) => object.delivery_id);
    await refuseCommitment(tx, deliveries);
    await confirmCommitment(tx, deliveries, at);
    return true;
  });
}

/**
 * Returns the objects of a transaction. An object that was delivered again has no transaction until
 * commitment is requested again, so a report on its former transaction does not affect it.
 */
async function objectsOf(tx: Queryable, transactionUid: string): Promise<AskedObject[]> {
  const { rows } = await tx.query<AskedObject>(
    `SELECT delivery_id, sop_instance_uid FROM delivered_objects WHERE transaction_uid = $1
     UNION
     SELECT delivery_id, sop_instance_uid
     FROM commitment_transactions t JOIN delivered_objects o USING (delivery_id, sop_instance_uid)
     WHERE t.transaction_uid = $1 AND o.transaction_uid IS NOT NULL`,
    [transactionUid],
  );
  return rows;
}

/** Why a delivery fails although the PACS has accepted the object. */
export const COMMITMENT_REFUSED = {
  code: 'commitment_refused',
  detail: 'The PACS accepted the object but did not commit to storing it.',
} as const satisfies { code: ErrorCode; detail: string };

/**
 * Ends the deliveries with an object that the PACS refused to keep: a person has to check and
 * replay them.
 */
async function refuseCommitment(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE deliveries d SET state = 'dead', accepted_at = ended_at, ended_at = now(), code = $2,
       detail = $3
     WHERE id = ANY ($1::text[]) AND state = 'delivered'
       AND EXISTS (SELECT 1 FROM delivered_objects o
         WHERE o.delivery_id = d.id AND o.failure_reason IS NOT NULL)`,
    [ids, COMMITMENT_REFUSED.code, COMMITMENT_REFUSED.detail],
  );
}

/**
 * Records which deliveries are committed, because the PACS has committed to keeping all of their
 * objects. A delivery that ended when the PACS first refused becomes `delivered` again.
 */
async function confirmCommitment(tx: Queryable, ids: readonly string[], at: Date): Promise<void> {
  await tx.query(
    `UPDATE deliveries d SET committed_at = $2 WHERE id = ANY ($1::text[])
       AND committed_at IS NULL AND NOT EXISTS (SELECT 1 FROM delivered_objects o
         WHERE o.delivery_id = d.id AND o.committed_at IS NULL)`,
    [ids, at],
  );
  // `ended_at` is again the time at which the PACS accepted the objects. If it stayed at the time
  // of the refusal, the metrics would count the delivery twice, the second time with a duration
  // that is too long.
  await tx.query(
    `UPDATE deliveries SET state = 'delivered', code = NULL, detail = NULL, closed = NULL,
       ended_at = COALESCE(accepted_at, ended_at), accepted_at = NULL
     WHERE id = ANY ($1::text[]) AND state IN ('dead', 'closed') AND code = $2
       AND committed_at IS NOT NULL`,
    [ids, COMMITMENT_REFUSED.code],
  );
}
