import { batched } from '../../platform/database/batched.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { idForm } from '../../platform/ids.ts';

/** The audit events of PS3.15 A.5.3 that the gateway records, with their DCM codes. */
export const AUDIT_EVENTS = {
  'application-activity': { code: '110100', display: 'Application Activity' },
  'audit-log-used': { code: '110101', display: 'Audit Log Used' },
  'begin-transferring': { code: '110102', display: 'Begin Transferring DICOM Instances' },
  'instances-accessed': { code: '110103', display: 'DICOM Instances Accessed' },
  'instances-transferred': { code: '110104', display: 'DICOM Instances Transferred' },
  'study-deleted': { code: '110105', display: 'DICOM Study Deleted' },
  export: { code: '110106', display: 'Export' },
  import: { code: '110107', display: 'Import' },
  'patient-record': { code: '110110', display: 'Patient Record' },
  'order-record': { code: '110109', display: 'Order Record' },
  'procedure-record': { code: '110111', display: 'Procedure Record' },
  query: { code: '110112', display: 'Query' },
  'security-alert': { code: '110113', display: 'Security Alert' },
  'user-authentication': { code: '110114', display: 'User Authentication' },
} as const;
type AuditEventName = keyof typeof AUDIT_EVENTS;

/** Event types of PS3.15 A.5.3 (CID 403). */
export const AUDIT_EVENT_TYPES = {
  start: { code: '110120', display: 'Application Start' },
  stop: { code: '110121', display: 'Application Stop' },
  login: { code: '110122', display: 'Login' },
  logout: { code: '110123', display: 'Logout' },
  'node-authentication': { code: '110126', display: 'Node Authentication' },
  'restricted-function': { code: '110132', display: 'Use of Restricted Function' },
  'software-configuration': { code: '110131', display: 'Software Configuration' },
  'user-security-attributes': { code: '110137', display: 'User Security Attributes Changed' },
} as const;
type AuditEventType = keyof typeof AUDIT_EVENT_TYPES;

interface AuditActionMeaning {
  event: AuditEventName;
  type?: AuditEventType;
  /** EventActionCode: create, read, update, delete, execute. */
  does: 'C' | 'R' | 'U' | 'D' | 'E';
}

/**
 * Every audited action, and the event that audit repositories receive for it. A new action only
 * needs a line here.
 */
export const AUDIT_ACTIONS = {
  'gateway.start': { event: 'application-activity', type: 'start', does: 'E' },
  'gateway.stop': { event: 'application-activity', type: 'stop', does: 'E' },

  // Requests with an API key are audited under the same actions in `/v1`, the compatible queue and
  // DICOMweb.
  'request.submit': { event: 'import', does: 'C' },
  'request.read': { event: 'query', does: 'E' },
  'request.follow': { event: 'query', does: 'E' },
  'request.cancel': { event: 'procedure-record', does: 'U' },
  'request.update': { event: 'procedure-record', does: 'U' },
  'request.list': { event: 'query', does: 'E' },
  'review.read': { event: 'procedure-record', does: 'R' },
  'review.follow': { event: 'procedure-record', does: 'R' },
  'review.change': { event: 'procedure-record', does: 'U' },
  'review.sign': { event: 'procedure-record', does: 'U' },
  'result.withdraw': { event: 'procedure-record', does: 'U' },
  'artifact.list': { event: 'query', does: 'E' },
  'artifact.read': { event: 'export', does: 'R' },
  'subscription.create': { event: 'export', does: 'C' },
  'subscription.delete': { event: 'export', does: 'D' },
  'webhook.redeliver': { event: 'export', does: 'R' },

  'dicom.quarantined': { event: 'instances-transferred', does: 'C' },
  'quarantine.register': { event: 'import', does: 'C' },
  'quarantine.remove': { event: 'study-deleted', does: 'D' },
  'dicom.received': { event: 'instances-transferred', does: 'C' },
  'dicom.sending': { event: 'begin-transferring', does: 'E' },
  'dicom.sent': { event: 'instances-transferred', does: 'R' },
  'dicom.query': { event: 'query', does: 'E' },
  'dicom.refused': { event: 'security-alert', type: 'node-authentication', does: 'E' },
  'dicom.tls-refused': { event: 'security-alert', type: 'node-authentication', does: 'E' },
  'report.sent': { event: 'export', does: 'R' },
  'alert.sent': { event: 'export', does: 'R' },

  'key.refused': { event: 'user-authentication', type: 'login', does: 'E' },
  // A key without the scope, or a person whose role does not include it.
  'permission.refused': { event: 'security-alert', type: 'restricted-function', does: 'E' },
  'session.login': { event: 'user-authentication', type: 'login', does: 'E' },
  'session.logout': { event: 'user-authentication', type: 'logout', does: 'E' },
  'identity.view': { event: 'patient-record', does: 'R' },

  // Received objects state a different patient than the study had before.
  'study.patient': { event: 'patient-record', does: 'U' },
  'patient.update': { event: 'patient-record', does: 'U' },
  // The study was left unchanged, because its patient may be a person other than the one in the
  // message.
  'patient.unlike': { event: 'patient-record', does: 'U' },
  'patient.merge': { event: 'patient-record', does: 'U' },
  'patient.separate': { event: 'patient-record', does: 'U' },
  'order.receive': { event: 'order-record', does: 'C' },
  'order.withdraw': { event: 'order-record', does: 'D' },
  'hl7v2.refused': { event: 'import', does: 'C' },
  'hl7v2.sender-refused': { event: 'security-alert', type: 'node-authentication', does: 'E' },
  'study.hold': { event: 'procedure-record', does: 'U' },
  'study.complete': { event: 'procedure-record', does: 'U' },
  'study.release': { event: 'procedure-record', does: 'U' },
  'study.rerun': { event: 'procedure-record', does: 'U' },
  'study.fetch': { event: 'import', does: 'C' },
  'study.retrieve': { event: 'instances-transferred', does: 'R' },
  'study.upload': { event: 'import', does: 'C' },
  'triage.acknowledge': { event: 'procedure-record', does: 'U' },
  'study.purge': { event: 'study-deleted', does: 'D' },
  'delivery.replay': { event: 'export', does: 'E' },
  'delivery.divert': { event: 'export', does: 'E' },
  'delivery.close': { event: 'export', does: 'E' },
  'hold.show': { event: 'patient-record', does: 'R' },
  'hold.release': { event: 'patient-record', does: 'U' },
  'hold.reject': { event: 'patient-record', does: 'U' },

  'key.create': { event: 'security-alert', type: 'user-security-attributes', does: 'C' },
  'key.rotate': { event: 'security-alert', type: 'user-security-attributes', does: 'U' },
  'key.revoke': { event: 'security-alert', type: 'user-security-attributes', does: 'D' },
  'secret.read': { event: 'security-alert', type: 'user-security-attributes', does: 'R' },
  'secret.rotate': { event: 'security-alert', type: 'user-security-attributes', does: 'U' },
  'rules.change': { event: 'security-alert', type: 'software-configuration', does: 'U' },

  'audit.verify': { event: 'audit-log-used', does: 'R' },
  'audit.export': { event: 'audit-log-used', does: 'R' },
} as const satisfies Record<string, AuditActionMeaning>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** Returns the meaning of an action, typed so that its optional members can be read. */
export function meaningOf(action: AuditAction): AuditActionMeaning {
  return AUDIT_ACTIONS[action];
}

/** Outcome (PS3.15 A.5.2, EventOutcomeIndicator 0, 4, 8). */
const AUDIT_OUTCOMES = ['success', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/**
 * One action of a person or a program. Requests and studies are identified by our own ids, and no
 * row contains a patient: the patient is looked up when the entry is sent to an audit repository.
 */
export interface AuditEntry {
  at: Date;
  action: AuditAction;
  accountId?: string | null;
  keyId?: string | null;
  /** Who acted, if not an API key: `person:<name>`, `ae:<title>`, `gateway`. */
  actor?: string | null;
  address?: string | null;
  /**
   * Our own id of the request; null if the action concerns a list of requests, or if the caller
   * specified no known request.
   */
  requestId?: string | null;
  /** Our own id of the study. */
  studyId?: string | null;
  /** HTTP status of the response. */
  status?: number | null;
  /** `X-Request-Id` of the HTTP request. */
  callId?: string | null;
  /**
   * Outcome of an action that is not an HTTP request. For an HTTP request, `status` determines the
   * outcome.
   */
  outcome?: AuditOutcome | null;
  /** Counts and our own names; never a patient's identity. */
  detail?: Readonly<Record<string, string | number | boolean | null>> | null;
}

/** An entry without the request id, which is not known until the request is created. */
export type SubmitAudit = Omit<AuditEntry, 'requestId'>;

/** Resolves when the entry is stored. */
export type WriteAudit = (entry: AuditEntry) => Promise<void>;

/**
 * Writes the audit entry of an action.
 * @param tx the transaction in which the entry is written, if the action has one.
 */
export type RecordAction = (about?: Pick<AuditEntry, 'studyId'>, tx?: Queryable) => Promise<void>;

/**
 * Carries out an action on files, which no transaction can undo. The action calls `record` once it
 * is certain to begin and before it changes anything, so that the audit trail contains the action
 * even if the process is killed. If the action fails afterwards, a second entry says so.
 */
export async function recordedFirst<Answer>(
  entry: Omit<AuditEntry, 'outcome'>,
  writeAudit: WriteAudit,
  action: (record: RecordAction) => Promise<Answer>,
): Promise<Answer> {
  let recorded = false;
  try {
    return await action(async (about, tx) => {
      const write = tx ? createAuditWriter(tx) : writeAudit;
      await write({ ...entry, ...about, outcome: 'success' });
      recorded = true;
    });
  } catch (error) {
    await writeAudit({ ...entry, outcome: recorded ? 'failed' : 'refused' });
    throw error;
  }
}

/** Creates a function that writes concurrent entries in one statement. */
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

/** Who is about to see patient identity, and in which studies. */
interface IdentityView {
  at: Date;
  /** `person:<name>` from the session. */
  actor: string;
  keyId?: string | null;
  address?: string | null;
  /** Our own ids of the studies whose patient is shown; for a list, those of all its studies. */
  studyIds: readonly string[];
  callId?: string | null;
  /** The page or command that shows the identity, such as `console worklist`. */
  where: string;
}

/**
 * Records in the audit trail who sees the patient identity of which studies, before it is shown.
 */
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
 * Part of the SQL statement that stores new requests (`STORE` in requests/submit.ts). The CTE `new`
 * has the submitted rows, with a `SubmitAudit` in the column `audit`; the CTE `made` has the ids of
 * those that were stored. Writes the audit entries of the stored requests.
 */
export const AUDIT_INSERT = `INSERT INTO audit
      (request_id, at, account_id, key_id, action, status, call_id, address)
    SELECT id, (audit ->> 'at')::timestamptz, audit ->> 'accountId', audit ->> 'keyId',
      audit ->> 'action', (audit ->> 'status')::integer, audit ->> 'callId', audit ->> 'address'
    FROM made JOIN new USING (id) WHERE audit IS NOT NULL`;

export interface AuditRow {
  /** Row id: a bigint in the database, here as text. */
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

/** Returns the rows after `after`, up to and including `until`, oldest first. */
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

/** Returns the time of the last row; null if the trail is empty. */
export async function timeOfLastEntry(database: Queryable): Promise<Date | null> {
  const { rows } = await database.query<{ at: Date }>(
    'SELECT at FROM audit ORDER BY id DESC LIMIT 1',
  );
  return rows[0]?.at ?? null;
}

/** Returns the outcome of a row. For an HTTP request, the status determines it. */
export function outcomeOf({ outcome, status }: Pick<AuditRow, 'outcome' | 'status'>): AuditOutcome {
  if (outcome !== null) return outcome;
  if (status === null || status < 400) return 'success';
  return status < 500 ? 'refused' : 'failed';
}

const KEY_ID = idForm('key');

/**
 * Returns the detail of a `key.create`, `key.rotate` or `key.revoke` entry: the id of the key and,
 * if it was replaced, the id of its replacement.
 * @param named the id in the HTTP request. A value that is not a key id is ignored.
 * @param made the id in the response.
 * @returns null if neither is a key id.
 */
export function keyChange(named: unknown, made: unknown): NonNullable<AuditEntry['detail']> | null {
  const [key, replacement] = [...new Set([named, made])].filter(isKeyId);
  if (key === undefined) return null;
  return replacement === undefined ? { key } : { key, replacement };
}

function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && KEY_ID.test(value);
}
