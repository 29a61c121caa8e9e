import type { Database, Queryable } from '../../src/database/port.ts';
import type { CommitmentReport } from './commitment-report.ts';

interface AskedObject {
  delivery_id: string;
  sop_instance_uid: string;
}

/** Why a delivery is dead that the PACS has taken. */
const REFUSED = {
  code: 'commitment_refused',
  detail: 'The PACS took the object and does not commit to keep it.',
} as const;

/**
 * Writes down the report of a PACS on any transaction under which it was asked. A delivery is
 * committed when all its objects are, and what a PACS has committed to once stays so; one of which it
 * does not commit to an object is dead, unless it does so under another transaction: a person looks,
 * and replays it.
 * @returns whether the transaction is one of ours.
 */
export function settleReport(
  database: Database,
  report: CommitmentReport,
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
    await tx.query(
      `UPDATE deliveries d SET committed_at = $2 WHERE id = ANY ($1::text[])
         AND committed_at IS NULL AND NOT EXISTS (SELECT 1 FROM delivered_objects o
           WHERE o.delivery_id = d.id AND o.committed_at IS NULL)`,
      [deliveries, at],
    );
    await tx.query(
      `UPDATE deliveries d SET state = 'dead', code = $2, detail = $3
       WHERE id = ANY ($1::text[]) AND state = 'delivered'
         AND EXISTS (SELECT 1 FROM delivered_objects o
           WHERE o.delivery_id = d.id AND o.failure_reason IS NOT NULL)`,
      [deliveries, REFUSED.code, REFUSED.detail],
    );
    await tx.query(
      `UPDATE deliveries SET state = 'delivered', code = NULL, detail = NULL
       WHERE id = ANY ($1::text[]) AND state = 'dead' AND code = $2 AND committed_at IS NOT NULL`,
      [deliveries, REFUSED.code],
    );
    return true;
  });
}

/**
 * What a PACS was asked for under a transaction. An object that was delivered anew and not yet asked
 * for has no transaction: what is said of the former one is not of it.
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
