import type { AuditOutcome } from './audit.ts';
import { AUDIT_EVENT_TYPES, AUDIT_EVENTS, type AuditRow, meaningOf, outcomeOf } from './audit.ts';

/** The patient and study of an event, looked up when the event is sent. */
export interface AuditSubject {
  studyInstanceUid: string;
  /** Patient ID in the images. */
  patientId: string;
  issuerOfPatientId: string;
}

export interface AuditSite {
  /** Name of this gateway in the audit repository. */
  sourceId: string;
  siteId?: string | undefined;
  aeTitle: string;
  hostName: string;
}

/** EventOutcomeIndicator (PS3.15 A.5.1), AuditEvent.outcome. */
export const OUTCOME_INDICATORS: Readonly<Record<AuditOutcome, '0' | '4' | '8'>> = {
  success: '0',
  refused: '4',
  failed: '8',
};

const IP_ADDRESS = /^[0-9.]+$|:/;

/**
 * Returns the type of a network address (NetworkAccessPointTypeCode,
 * AuditEvent.agent.network.type): 1 for a machine name, 2 for an IP address.
 */
export const networkType = (address: string): '1' | '2' => (IP_ADDRESS.test(address) ? '2' : '1');

/** Role of a participant: CID 402 of PS3.16. */
export const PARTICIPANT_ROLES = {
  application: { code: '110150', display: 'Application' },
  destination: { code: '110152', display: 'Destination Role ID' },
  source: { code: '110153', display: 'Source Role ID' },
} as const;

export interface Participant {
  id: string;
  /** AE titles (PS3.15 A.5.2.2). */
  aeTitle?: string;
  isRequestor: boolean;
  role?: keyof typeof PARTICIPANT_ROLES;
  address?: string;
}

export type AuditedObject =
  | { kind: 'patient'; id: string; issuer: string }
  | { kind: 'study'; id: string }
  | { kind: 'request'; id: string }
  | { kind: 'audit-log'; id: string }
  | { kind: 'node'; id: string };

/** An audit event in the terms of PS3.15 A.5, which RFC 3881 and FHIR share. */
export interface AuditFacts {
  /** Number of the row, which lets a repository recognise a repeated event. */
  row: string;
  at: Date;
  event: { code: string; display: string };
  type: { code: string; display: string } | null;
  does: 'C' | 'R' | 'U' | 'D' | 'E';
  outcome: AuditOutcome;
  participants: Participant[];
  objects: AuditedObject[];
  details: { name: string; value: string }[];
  site: AuditSite;
}

const SENDS = new Set(['begin-transferring', 'export']);

/** Exports that a person or client orders or stops without being their destination. */
const BY_COMMAND: ReadonlySet<string> = new Set([
  'delivery.replay',
  'delivery.divert',
  'delivery.close',
  'webhook.redeliver',
]);

/** Translates an audit row into the terms of the standard. */
export function factsOf(row: AuditRow, subject: AuditSubject | null, site: AuditSite): AuditFacts {
  const { event, type, does } = meaningOf(row.action);
  return {
    row: row.id,
    at: row.at,
    event: AUDIT_EVENTS[event],
    type: type ? AUDIT_EVENT_TYPES[type] : null,
    does,
    outcome: outcomeOf(row),
    participants: participantsOf(row, site),
    objects: objectsOf(row, subject),
    details: detailsOf(row),
    site,
  };
}

function participantsOf(row: AuditRow, site: AuditSite): Participant[] {
  const { event, does } = meaningOf(row.action);
  const archive = row.action === 'dicom.query' ? row.detail?.archive : undefined;
  const self = { id: site.hostName, aeTitle: site.aeTitle };
  const who = row.actor ?? (row.key_id === null ? 'gateway' : `key:${row.key_id}`);
  if (typeof archive === 'string') {
    const asks = who === 'gateway' ? [] : [{ id: who, isRequestor: true }];
    return [
      ...asks,
      { ...self, isRequestor: asks.length === 0, role: 'source' },
      { id: `node:${archive}`, isRequestor: false, role: 'destination' },
    ];
  }
  if (who === 'gateway') return [{ ...self, isRequestor: false, role: 'application' }];
  const other: Omit<Participant, 'isRequestor'> = {
    id: who,
    ...(who.startsWith('ae:') && { aeTitle: who.slice('ae:'.length) }),
    ...(row.address !== null && { address: row.address }),
  };
  if (event === 'instances-transferred' && does === 'C') {
    return [
      { ...other, isRequestor: true, role: 'source' },
      { ...self, isRequestor: false, role: 'destination' },
    ];
  }
  const isSentByUs = SENDS.has(event) && !BY_COMMAND.has(row.action);
  if (isSentByUs || event === 'instances-transferred') {
    // The receiver asked for a download, whose row has no actor but the API key of a client, and
    // for studies that a peer retrieves by C-MOVE or C-GET. Everything else is sent unasked.
    const fetched = row.actor === null || row.action === 'study.retrieve';
    return [
      { ...self, isRequestor: !fetched, role: 'source' },
      { ...other, isRequestor: fetched, role: 'destination' },
    ];
  }
  return [
    { ...other, isRequestor: true },
    { ...self, isRequestor: false, role: 'application' },
  ];
}

function objectsOf(row: AuditRow, subject: AuditSubject | null): AuditedObject[] {
  const { event, type } = meaningOf(row.action);
  const objects: AuditedObject[] = [];
  if (subject) {
    const { patientId: id, issuerOfPatientId: issuer } = subject;
    if (id !== '') objects.push({ kind: 'patient', id, issuer });
    objects.push({ kind: 'study', id: subject.studyInstanceUid });
  }
  if (row.request_id !== null) objects.push({ kind: 'request', id: row.request_id });
  if (event === 'audit-log-used') objects.push({ kind: 'audit-log', id: 'audit' });
  const node = row.address ?? row.actor;
  if (type === 'node-authentication' && node !== null) objects.push({ kind: 'node', id: node });
  return objects;
}

function detailsOf(row: AuditRow): AuditFacts['details'] {
  const details = [
    { name: 'action', value: row.action },
    { name: 'row', value: row.id },
    ...(row.status === null ? [] : [{ name: 'http-status', value: String(row.status) }]),
    ...(row.call_id === null ? [] : [{ name: 'call', value: row.call_id }]),
  ];
  const more = Object.entries(row.detail ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value: String(value) }],
  );
  return [...details, ...more];
}
