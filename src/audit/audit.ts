import type { Queryable } from '../database/port.ts';

/** What a call does with requests; the same for `/v1` and the compatible queue. */
export const AUDIT_ACTIONS = [
  'request.submit',
  'request.read',
  'request.follow',
  'request.cancel',
  'request.list',
  'artifact.list',
  'artifact.read',
  'webhook.redeliver',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditEntry {
  at: Date;
  accountId: string;
  keyId: string;
  action: AuditAction;
  /** Null for a list, and for a call that named no request of ours. */
  requestId: string | null;
  /** HTTP status. */
  status: number;
  /** `X-Request-Id` of the call. */
  callId: string;
}

/** The part of an entry that is known before a submit has made its request. */
export type SubmitAudit = Omit<AuditEntry, 'requestId'>;

const INSERT = 'INSERT INTO audit (request_id, at, account_id, key_id, action, status, call_id)';

export async function writeAudit(database: Queryable, entry: AuditEntry): Promise<void> {
  await database.query(
    `${INSERT} VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [entry.requestId, ...auditValues(entry)],
    'write-audit',
  );
}

/**
 * As `writeAudit`, as a part of the statement that makes the request: of the row `made`, with
 * `auditValues` from the parameter `first` on. Without an entry it writes nothing.
 */
export function insertAuditOfMade(first: number): string {
  const [at, account, key, action, status, call] = [0, 1, 2, 3, 4, 5].map((n) => `$${first + n}`);
  return `${INSERT} SELECT made.id, ${at}::timestamptz, ${account}, ${key}, ${action},
    ${status}::integer, ${call} FROM made WHERE ${call}::text IS NOT NULL`;
}

export function auditValues(entry: SubmitAudit | undefined): unknown[] {
  return [
    entry?.at,
    entry?.accountId,
    entry?.keyId,
    entry?.action,
    entry?.status,
    entry?.callId,
  ].map((value) => value ?? null);
}
