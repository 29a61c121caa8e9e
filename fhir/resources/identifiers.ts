import { createHash } from 'node:crypto';
import type { CodeableConcept, Identifier, Resource } from '@medplum/fhirtypes';
import { SYSTEMS } from './codes.ts';

/** Namespace of our name-based UUIDs. If it changed, every retry would create new resources. */
const NAMESPACE = '6bf5099b-1cb3-4019-bc15-e23960e56f25';

/**
 * Returns the name-based UUID (RFC 9562 5.5, version 5) of a resource, derived from its request and
 * its role in that request. It is the same on every retry.
 */
export function resourceUuid(requestId: string, role: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(NAMESPACE.replaceAll('-', ''), 'hex'))
    .update(`${requestId}/${role}`)
    .digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-');
}

/** Returns the `Bundle.entry.fullUrl` of a new resource. */
export function resourceUrn(requestId: string, role: string): string {
  return `urn:uuid:${resourceUuid(requestId, role)}`;
}

/**
 * Returns the identifier of one of our resources, which is also the key of its conditional update.
 * It belongs to the destination's result namespace or, in a bundle without a destination, is the
 * name-based UUID itself.
 */
export function resultIdentifier(
  system: string | null,
  requestId: string,
  role: string | null = null,
): Identifier {
  if (system === null) {
    return { system: SYSTEMS.uri, value: resourceUrn(requestId, role ?? 'DiagnosticReport') };
  }
  return { system, value: role === null ? requestId : `${requestId}/${role}` };
}

/**
 * Returns a DICOM UID as a FHIR identifier (R4 ImagingStudy: `urn:dicom:uid` with an `urn:oid:`
 * value).
 */
export function dicomUidIdentifier(uid: string): Identifier {
  return { system: SYSTEMS.dicomUid, value: `urn:oid:${uid}` };
}

const identifierType = (code: 'MR' | 'ACSN', display: string): CodeableConcept => ({
  coding: [{ system: SYSTEMS.identifierType, code, display }],
});

/**
 * Returns a medical record number. The value is trimmed but keeps its zeros and case, because
 * identifiers are compared exactly.
 */
export function medicalRecordNumber(system: string, value: string): Identifier {
  return { type: identifierType('MR', 'Medical record number'), system, value: value.trim() };
}

/**
 * Returns the Accession Number (0008,0050) as an identifier. It has no system, because the gateway
 * does not store its issuer.
 */
export function accessionNumber(value: string): Identifier {
  return { type: identifierType('ACSN', 'Accession ID'), value: value.trim() };
}

/** Returns a FHIR search token, with `,` `|` `$` and `\` escaped (R4 3.1.1.5.10). */
export function searchToken({ system, value = '' }: Identifier): string {
  const escaped = (text: string) => text.replace(/[\\,|$]/g, (character) => `\\${character}`);
  return system === undefined ? escaped(value) : `${escaped(system)}|${escaped(value)}`;
}

/** Returns the query of a conditional interaction, fully percent-encoded (`|` is `%7C`). */
export function identifierQuery(identifier: Identifier): string {
  return `identifier=${encodeURIComponent(searchToken(identifier))}`;
}

/** Returns the identifiers of a resource; empty for a type that has none. */
export function identifiersOf(resource: Resource): Identifier[] {
  return 'identifier' in resource && Array.isArray(resource.identifier) ? resource.identifier : [];
}
