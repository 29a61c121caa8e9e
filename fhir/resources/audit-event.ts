import type { AuditEvent, AuditEventAgent, AuditEventEntity, Coding } from '@medplum/fhirtypes';
import {
  type AuditedObject,
  type AuditFacts,
  networkType,
  OUTCOME_INDICATORS,
  PARTICIPANT_ROLES,
  type Participant,
} from '../../src/core/audit/facts.ts';

const DCM = 'http://dicom.nema.org/resources/ontology/DCM';
const OBJECT_TYPE = 'http://terminology.hl7.org/CodeSystem/audit-entity-type';
const OBJECT_ROLE = 'http://terminology.hl7.org/CodeSystem/object-role';
const SOURCE_TYPE = 'http://terminology.hl7.org/CodeSystem/security-source-type';
/**
 * FHIR identifier system of a Study Instance UID (0020,000D) (DICOM PS3.20,
 * ImagingStudy.identifier).
 */
const DICOM_UID = 'urn:dicom:uid';

interface AuditIdentifiers {
  /** Identifier system of our request ids. */
  requestSystem: string;
  /**
   * Identifier systems by Issuer of Patient ID (0010,0021); `*` is for images without an issuer.
   * Absent if no system is configured.
   */
  patientSystems?: Readonly<Record<string, string>>;
}

/** Converts an audit event to an R4 AuditEvent conforming to IHE BALP 1.1. */
export function auditEvent(facts: AuditFacts, identifiers: AuditIdentifiers): AuditEvent {
  const { at, event, type, does, outcome, site } = facts;
  return {
    resourceType: 'AuditEvent',
    type: dcm(event),
    ...(type && { subtype: [dcm(type)] }),
    action: does,
    recorded: at.toISOString(),
    outcome: OUTCOME_INDICATORS[outcome],
    agent: facts.participants.map(agent),
    source: {
      ...(site.siteId && { site: site.siteId }),
      observer: { display: site.sourceId },
      type: [{ system: SOURCE_TYPE, code: '4', display: 'Application Server' }],
    },
    entity: entities(facts, identifiers),
  };
}

function agent({ id, aeTitle, isRequestor, role, address }: Participant): AuditEventAgent {
  return {
    ...(role && { type: { coding: [dcm(PARTICIPANT_ROLES[role])] } }),
    who: { identifier: { value: id }, display: id },
    ...(aeTitle && { altId: aeTitle }),
    requestor: isRequestor,
    ...(address && { network: { address, type: networkType(address) } }),
  };
}

/**
 * Returns the entities of the event: its objects, or a single entity if it has none. The first one
 * holds the details.
 */
function entities(
  { objects, details }: AuditFacts,
  identifiers: AuditIdentifiers,
): AuditEventEntity[] {
  const detail = details.map(({ name, value }) => ({ type: name, valueString: value }));
  const made = objects.map((object) => entity(object, identifiers));
  const [first = { what: { display: 'event' }, type: objectType('2', 'System Object') }, ...rest] =
    made;
  return [{ ...first, detail }, ...rest];
}

function entity(object: AuditedObject, identifiers: AuditIdentifiers): AuditEventEntity {
  switch (object.kind) {
    case 'patient': {
      const system = patientSystem(object.issuer, identifiers.patientSystems);
      return {
        what: { identifier: { ...(system && { system }), value: object.id } },
        type: objectType('1', 'Person'),
        role: objectRole('1', 'Patient'),
      };
    }
    case 'study':
      return {
        what: { identifier: { system: DICOM_UID, value: `urn:oid:${object.id}` } },
        type: objectType('2', 'System Object'),
        role: objectRole('3', 'Report'),
      };
    case 'request':
      return {
        what: { identifier: { system: identifiers.requestSystem, value: object.id } },
        type: objectType('2', 'System Object'),
        role: objectRole('20', 'Job'),
      };
    case 'audit-log':
    case 'node':
      return {
        what: { display: object.kind === 'node' ? object.id : 'Security Audit Log' },
        type: objectType('2', 'System Object'),
        role: objectRole('13', 'Security Resource'),
      };
  }
}

/**
 * Returns the identifier system of an issuer; undefined if it is not mapped. An ID of another
 * hospital must not be taken for one without an issuer.
 */
function patientSystem(
  issuer: string,
  systems: AuditIdentifiers['patientSystems'] = {},
): string | undefined {
  const key = issuer || '*';
  return Object.hasOwn(systems, key) ? systems[key] : undefined;
}

function dcm({ code, display }: { code: string; display: string }): Coding {
  return { system: DCM, code, display };
}

function objectType(code: string, display: string): Coding {
  return { system: OBJECT_TYPE, code, display };
}

function objectRole(code: string, display: string): Coding {
  return { system: OBJECT_ROLE, code, display };
}
