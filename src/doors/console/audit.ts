import type { Context } from 'koa';
import { sees } from '../../core/accounts/roles.ts';
import {
  type AuditAction,
  type AuditEntry,
  auditIdentityView,
  createAuditWriter,
  type RecordAction,
  recordedFirst,
} from '../../core/audit/audit.ts';
import type { RequestRow } from '../../core/requests/request.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';

type AuditDeps = Pick<ConsoleDeps, 'writeAudit' | 'now'>;
type Call = Context & { state: ConsoleState };

/**
 * Before a response is sent, records in the audit trail which patients' identities it contains.
 * Each study is recorded once. Nothing is recorded for a role that sees no identity.
 * @param studyIds our ids of the studies shown; null for what belongs to no study.
 * @param where the page, such as `worklist`.
 */
export async function auditStudies(
  context: Call,
  studyIds: readonly (string | null)[],
  where: string,
  { writeAudit, now }: AuditDeps,
): Promise<void> {
  const { session, requestId } = context.state;
  if (sees(session.role) !== 'identity') return;
  await auditIdentityView(writeAudit, {
    at: now(),
    actor: `person:${session.name}`,
    keyId: session.keyId,
    address: context.ip,
    studyIds: [...new Set(studyIds.filter((id) => id !== null))],
    callId: requestId,
    where: `console ${where}`,
  });
}

/** Returns the dependencies for audit entries that are stored in a transaction. */
export const within = (tx: Queryable, { now }: Pick<AuditDeps, 'now'>): AuditDeps => ({
  now,
  writeAudit: createAuditWriter(tx),
});

/** Returns what an audit entry about a request refers to: the request and, if any, its study. */
export const auditedRequest = ({ id, source }: Pick<RequestRow, 'id' | 'source'>) => ({
  requestId: id,
  studyId: source.kind === 'dicom' ? source.study : null,
});

/** What an audit entry refers to. */
type Subject = Pick<AuditEntry, 'studyId' | 'requestId' | 'detail'>;

/**
 * Before the response is sent, records in the audit trail what a person did or which page they
 * opened.
 */
export async function auditAction(
  context: Call,
  action: AuditAction,
  of: Subject,
  { writeAudit, now }: AuditDeps,
): Promise<void> {
  await writeAudit({ ...entryOf(context, action, of, now()), outcome: 'success' });
}

/**
 * Carries out an action on files. The action is recorded in the audit trail before it changes a
 * file.
 */
export async function auditedFirst<Answer>(
  context: Call,
  action: AuditAction,
  of: Subject,
  { writeAudit, now }: AuditDeps,
  work: (record: RecordAction) => Promise<Answer>,
): Promise<Answer> {
  return recordedFirst(entryOf(context, action, of, now()), writeAudit, work);
}

function entryOf(context: Call, action: AuditAction, of: Subject, at: Date) {
  const { session } = context.state;
  return {
    at,
    action,
    actor: `person:${session.name}`,
    keyId: session.keyId,
    accountId: context.state.principal.accountId,
    address: context.ip,
    requestId: of.requestId ?? null,
    studyId: of.studyId ?? null,
    detail: of.detail ?? null,
  } satisfies Omit<AuditEntry, 'outcome'>;
}
