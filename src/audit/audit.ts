import { batched } from '../database/batched.ts';
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

/** Resolves when the entry is stored. */
export type WriteAudit = (entry: AuditEntry) => Promise<void>;

/** Writes down together the calls that come together. */
export function createAuditWriter(database: Queryable): WriteAudit {
  const write = batched(async (entries: readonly AuditEntry[]) => {
    await database.query(
      `${INSERT} SELECT "requestId", at, "accountId", "keyId", action, status, "callId"
       FROM jsonb_to_recordset($1::jsonb) AS entry ("requestId" text, at timestamptz,
         "accountId" text, "keyId" text, action text, status integer, "callId" text)`,
      [JSON.stringify(entries)],
      'write-audit',
    );
    return entries;
  });
  return async (entry) => {
    await write(entry);
  };
}

/**
 * As the writer does, as a part of the statement that makes requests: for each id of `made` the
 * `SubmitAudit` that `new` has for it as `audit`, when it has one.
 */
export const MADE_AUDIT = `${INSERT}
    SELECT id, (audit ->> 'at')::timestamptz, audit ->> 'accountId', audit ->> 'keyId',
      audit ->> 'action', (audit ->> 'status')::integer, audit ->> 'callId'
    FROM made JOIN new USING (id) WHERE audit IS NOT NULL`;
