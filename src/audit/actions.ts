/** Audit events of PS3.15 A.5.3 that the gateway has, by their code of DCM. */
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
  'procedure-record': { code: '110111', display: 'Procedure Record' },
  query: { code: '110112', display: 'Query' },
  'security-alert': { code: '110113', display: 'Security Alert' },
  'user-authentication': { code: '110114', display: 'User Authentication' },
} as const;
export type AuditEventName = keyof typeof AUDIT_EVENTS;

/** Event types of PS3.15 A.5.3 (CID 403). */
export const AUDIT_EVENT_TYPES = {
  start: { code: '110120', display: 'Application Start' },
  stop: { code: '110121', display: 'Application Stop' },
  login: { code: '110122', display: 'Login' },
  logout: { code: '110123', display: 'Logout' },
  'node-authentication': { code: '110126', display: 'Node Authentication' },
  'software-configuration': { code: '110131', display: 'Software Configuration' },
  'user-security-attributes': { code: '110137', display: 'User Security Attributes Changed' },
} as const;
export type AuditEventType = keyof typeof AUDIT_EVENT_TYPES;

interface AuditActionMeaning {
  event: AuditEventName;
  type?: AuditEventType;
  /** EventActionCode: create, read, update, delete, execute. */
  does: 'C' | 'R' | 'U' | 'D' | 'E';
}

/**
 * Everything that is written down, and what it is to an audit repository. A new action is a new
 * line here; nothing else decides its event.
 */
export const AUDIT_ACTIONS = {
  'gateway.start': { event: 'application-activity', type: 'start', does: 'E' },
  'gateway.stop': { event: 'application-activity', type: 'stop', does: 'E' },

  // Calls with an API key; the same for `/v1`, the compatible queue and DICOMweb.
  'request.submit': { event: 'import', does: 'C' },
  'request.read': { event: 'query', does: 'E' },
  'request.follow': { event: 'query', does: 'E' },
  'request.cancel': { event: 'procedure-record', does: 'U' },
  'request.list': { event: 'query', does: 'E' },
  'artifact.list': { event: 'query', does: 'E' },
  'artifact.read': { event: 'export', does: 'R' },
  'webhook.redeliver': { event: 'export', does: 'R' },

  'dicom.received': { event: 'instances-transferred', does: 'C' },
  'dicom.sending': { event: 'begin-transferring', does: 'E' },
  'dicom.sent': { event: 'instances-transferred', does: 'R' },
  'dicom.query': { event: 'query', does: 'E' },
  'dicom.refused': { event: 'security-alert', type: 'node-authentication', does: 'E' },
  'dicom.tls-refused': { event: 'security-alert', type: 'node-authentication', does: 'E' },
  'report.sent': { event: 'export', does: 'R' },

  'key.refused': { event: 'user-authentication', type: 'login', does: 'E' },
  'session.login': { event: 'user-authentication', type: 'login', does: 'E' },
  'session.logout': { event: 'user-authentication', type: 'logout', does: 'E' },
  'identity.view': { event: 'patient-record', does: 'R' },

  // Objects that came name another patient than the study had.
  'study.patient': { event: 'patient-record', does: 'U' },
  'study.hold': { event: 'procedure-record', does: 'U' },
  'study.complete': { event: 'procedure-record', does: 'U' },
  'study.release': { event: 'procedure-record', does: 'U' },
  'study.rerun': { event: 'procedure-record', does: 'U' },
  'study.fetch': { event: 'import', does: 'C' },
  'triage.acknowledge': { event: 'procedure-record', does: 'U' },
  'study.purge': { event: 'study-deleted', does: 'D' },
  'delivery.replay': { event: 'export', does: 'E' },
  'delivery.divert': { event: 'export', does: 'E' },
  'hold.show': { event: 'patient-record', does: 'R' },
  'hold.release': { event: 'patient-record', does: 'U' },
  'hold.reject': { event: 'patient-record', does: 'U' },

  'key.create': { event: 'security-alert', type: 'user-security-attributes', does: 'C' },
  'key.rotate': { event: 'security-alert', type: 'user-security-attributes', does: 'U' },
  'key.revoke': { event: 'security-alert', type: 'user-security-attributes', does: 'D' },
  'secret.rotate': { event: 'security-alert', type: 'user-security-attributes', does: 'U' },
  'rules.change': { event: 'security-alert', type: 'software-configuration', does: 'U' },

  'audit.verify': { event: 'audit-log-used', does: 'R' },
  'audit.export': { event: 'audit-log-used', does: 'R' },
} as const satisfies Record<string, AuditActionMeaning>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** The meaning of an action, with the optional members that `as const` hides. */
export function meaningOf(action: AuditAction): AuditActionMeaning {
  return AUDIT_ACTIONS[action];
}
