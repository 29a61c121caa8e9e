import type { Queryable } from '../database/port.ts';
import type { AuditAction } from './actions.ts';
import type { AuditOutcome } from './audit.ts';

/** A row of the audit as it is stored. */
export interface AuditRow {
  /** bigint of the database, in digits. */
  id: string;
  at: Date;
  action: AuditAction;
  account_id: string | null;
  key_id: string | null;
  actor: string | null;
  address: string | null;
  request_id: string | null;
  study_id: string | null;
  status: number | null;
  call_id: string | null;
  outcome: AuditOutcome | null;
  detail: Record<string, string | number | boolean | null> | null;
}

const COLUMNS = `id::text, at, action, account_id, key_id, actor, address, request_id,
  study_id::text, status, call_id, outcome, detail`;

/** Rows after `after` up to and with `until`, oldest first. */
export async function auditRows(
  database: Queryable,
  { after, until, limit }: { after: bigint; until: bigint; limit: number },
): Promise<AuditRow[]> {
  const { rows } = await database.query<AuditRow>(
    `SELECT ${COLUMNS} FROM audit WHERE id > $1 AND id <= $2 ORDER BY audit.id LIMIT $3`,
    [String(after), String(until), limit],
  );
  return rows;
}

/** How what a row tells of ended: of a call by its HTTP status. */
export function outcomeOf({ outcome, status }: Pick<AuditRow, 'outcome' | 'status'>): AuditOutcome {
  if (outcome !== null) return outcome;
  if (status === null || status < 400) return 'success';
  return status < 500 ? 'refused' : 'failed';
}
