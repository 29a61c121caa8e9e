import { batched } from '../database/batched.ts';
import type { Queryable } from '../database/port.ts';
import type { AuditAction } from './actions.ts';

/** How it ended (PS3.15 A.5.2, EventOutcomeIndicator 0, 4, 8). */
const AUDIT_OUTCOMES = ['success', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/**
 * One thing that somebody did. It names requests and studies by our own ids: the patient is joined
 * to it when it leaves for an audit repository, and stands in no row.
 */
export interface AuditEntry {
  at: Date;
  action: AuditAction;
  accountId?: string | null;
  /** The API key that was used. */
  keyId?: string | null;
  /** Who, where it is not a key: `person:<name>`, `ae:<title>`, `gateway`. */
  actor?: string | null;
  /** Network address of who it was. */
  address?: string | null;
  /** Null for a list, and for a call that named no request of ours. */
  requestId?: string | null;
  /** Our own id of the study. */
  studyId?: string | null;
  /** HTTP status, of a call. */
  status?: number | null;
  /** `X-Request-Id` of the call. */
  callId?: string | null;
  /** Of what is no call; a call has its status. */
  outcome?: AuditOutcome | null;
  /** Counts and names of ours that belong to it; no identity. */
  detail?: Readonly<Record<string, string | number | boolean | null>> | null;
}

/** The part of an entry that is known before a submit has made its request. */
export type SubmitAudit = Omit<AuditEntry, 'requestId'>;

/** Resolves when the entry is stored. */
export type WriteAudit = (entry: AuditEntry) => Promise<void>;

/** Writes down together what comes together. */
export function createAuditWriter(database: Queryable): WriteAudit {
  const write = batched(async (entries: readonly AuditEntry[]) => {
    await database.query(
      `INSERT INTO audit (request_id, at, account_id, key_id, action, status, call_id, actor,
         address, study_id, outcome, detail)
       SELECT "requestId", at, "accountId", "keyId", action, status, "callId", actor,
         address, "studyId", outcome, detail
       FROM jsonb_to_recordset($1::jsonb) AS entry ("requestId" text, at timestamptz,
         "accountId" text, "keyId" text, action text, status integer, "callId" text, actor text,
         address text, "studyId" uuid, outcome text, detail jsonb)`,
      [JSON.stringify(entries)],
      'write-audit',
    );
    return entries;
  });
  return async (entry) => {
    await write(entry);
  };
}

/** Who is about to see whose identity. */
export interface IdentityView {
  at: Date;
  /** `person:<name>` of a session. */
  actor: string;
  keyId?: string | null;
  address?: string | null;
  /** Our own ids of the studies whose patient is shown; of a list every one of it. */
  studyIds: readonly string[];
  /** `X-Request-Id` of the call that shows it. */
  callId?: string | null;
  /** The page or command: `console worklist`. */
  where: string;
}

/** Writes down, before it is shown, who sees the identity of which studies. */
export async function auditIdentityView(
  writeAudit: WriteAudit,
  { studyIds, where, ...view }: IdentityView,
): Promise<void> {
  const entries = studyIds.map((studyId): AuditEntry => {
    const { callId, ...who } = view;
    const detail = { where, call: callId ?? null };
    return { ...who, action: 'identity.view', studyId, outcome: 'success', detail };
  });
  await Promise.all(entries.map(writeAudit));
}

/**
 * As the writer does, as a part of the statement that makes requests: for each id of `made` the
 * `SubmitAudit` that `new` has for it as `audit`, when it has one.
 */
export const MADE_AUDIT = `INSERT INTO audit
      (request_id, at, account_id, key_id, action, status, call_id, address)
    SELECT id, (audit ->> 'at')::timestamptz, audit ->> 'accountId', audit ->> 'keyId',
      audit ->> 'action', (audit ->> 'status')::integer, audit ->> 'callId', audit ->> 'address'
    FROM made JOIN new USING (id) WHERE audit IS NOT NULL`;
