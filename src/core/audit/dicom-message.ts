import { isUid } from '../../../pipelines/dicom/uid.ts';
import { element } from '../../platform/xml.ts';
import type { AuditedObject, AuditFacts, Participant } from './facts.ts';
import { networkType, OUTCOME_INDICATORS, PARTICIPANT_ROLES } from './facts.ts';

interface Code {
  code: string;
  system: string;
  display: string;
}

/** AuditSourceTypeCode: an application server process or thread. */
const APPLICATION_SERVER: Code = { code: '4', system: 'DCM', display: 'Application Server' };

/**
 * ParticipantObjectTypeCode (1 person, 2 system object), ParticipantObjectTypeCodeRole (1 patient,
 * 3 report, 13 security resource, 20 job) and the kind of id.
 */
const OBJECT: Readonly<Record<AuditedObject['kind'], { type: string; role: string; id: Code }>> = {
  patient: { type: '1', role: '1', id: rfc3881('2', 'Patient Number') },
  study: { type: '2', role: '3', id: dcm('110180', 'Study Instance UID') },
  request: { type: '2', role: '20', id: rfc3881('10', 'Search Criteria') },
  'audit-log': { type: '2', role: '13', id: rfc3881('12', 'URI') },
  node: { type: '2', role: '13', id: dcm('110182', 'Node ID') },
};

/** Returns the DICOM Audit Message of an event (PS3.15 A.5.1), as XML without a byte order mark. */
export function dicomAuditMessage(facts: AuditFacts): string {
  const { at, event, type, does, outcome, site } = facts;
  const identification = element(
    'EventIdentification',
    {
      EventActionCode: does,
      EventDateTime: at.toISOString(),
      EventOutcomeIndicator: OUTCOME_INDICATORS[outcome],
    },
    codeElement('EventID', dcm(event.code, event.display)),
    type === null ? '' : codeElement('EventTypeCode', dcm(type.code, type.display)),
  );
  const source = element(
    'AuditSourceIdentification',
    { AuditEnterpriseSiteID: site.siteId, AuditSourceID: site.sourceId },
    codeElement('AuditSourceTypeCode', APPLICATION_SERVER),
  );
  const details = facts.details.map(({ name, value }) =>
    element('ParticipantObjectDetail', { type: name, value: base64(value) }),
  );
  const objects = facts.objects.map((object, n) =>
    participantObject(object, n === 0 ? details : []),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    element(
      'AuditMessage',
      {},
      identification,
      ...facts.participants.map(activeParticipant),
      source,
      ...objects,
    ),
  ].join('');
}

function activeParticipant({ id, aeTitle, isRequestor, role, address }: Participant): string {
  return element(
    'ActiveParticipant',
    {
      UserID: id,
      AlternativeUserID: aeTitle && `AETITLES=${aeTitle}`,
      UserIsRequestor: String(isRequestor),
      NetworkAccessPointID: address,
      NetworkAccessPointTypeCode: address && networkType(address),
    },
    role === undefined
      ? ''
      : codeElement(
          'RoleIDCode',
          dcm(PARTICIPANT_ROLES[role].code, PARTICIPANT_ROLES[role].display),
        ),
  );
}

function participantObject(object: AuditedObject, details: readonly string[]): string {
  const { type, role, id } = OBJECT[object.kind];
  return element(
    'ParticipantObjectIdentification',
    {
      // A patient in CX format: id and assigning authority (IHE ITI TF-2 3.20).
      ParticipantObjectID:
        object.kind === 'patient' ? `${object.id}^^^${authority(object.issuer)}` : object.id,
      ParticipantObjectTypeCode: type,
      ParticipantObjectTypeCodeRole: role,
    },
    codeElement('ParticipantObjectIDTypeCode', id),
    element('ParticipantObjectName', {}, object.kind === 'audit-log' ? 'Security Audit Log' : ''),
    ...details,
  );
}

/** Returns an issuer as CX.4 (HD): a universal ID is its second component. */
const authority = (issuer: string): string =>
  issuer.includes('.') && isUid(issuer) ? `&${issuer}&ISO` : issuer;

function dcm(code: string, display: string): Code {
  return { code, system: 'DCM', display };
}

function rfc3881(code: string, display: string): Code {
  return { code, system: 'RFC-3881', display };
}

function codeElement(name: string, { code, system, display }: Code): string {
  return element(name, { 'csd-code': code, codeSystemName: system, originalText: display });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
