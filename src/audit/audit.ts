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

export async function writeAudit(database: Queryable, entry: AuditEntry): Promise<void> {
  const { at, accountId, keyId, action, requestId, status, callId } = entry;
  await database.query(
    `INSERT INTO audit (at, account_id, key_id, action, request_id, status, call_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [at, accountId, keyId, action, requestId, status, callId],
  );
}
