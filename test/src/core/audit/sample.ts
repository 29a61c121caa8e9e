import type { AuditAction, AuditRow } from '../../../../src/core/audit/audit.ts';
import type { AuditSite, AuditSubject } from '../../../../src/core/audit/facts.ts';

/** Creates a row that has only its action and the values in `over`. */
export function auditRow(action: AuditAction, over: Partial<AuditRow> = {}): AuditRow {
  return {
    id: '17',
    at: new Date('2026-03-04T05:06:07.089Z'),
    action,
    account_id: null,
    key_id: null,
    actor: null,
    address: null,
    request_id: null,
    study_id: null,
    status: null,
    call_id: null,
    outcome: 'success',
    detail: null,
    ...over,
  };
}

export const SITE: AuditSite = {
  sourceId: 'sonogate-1',
  siteId: 'example-hospital',
  aeTitle: 'SONOGATE',
  hostName: 'gateway.hospital.example',
};

export const SUBJECT: AuditSubject = {
  studyInstanceUid: '1.2.840.97.1',
  patientId: 'P<"&>1',
  issuerOfPatientId: 'HOSPITAL',
};
