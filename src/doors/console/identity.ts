import { createHmac } from 'node:crypto';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import { sees } from '../../core/accounts/roles.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { loadSiteSecret } from '../../platform/database/site-secret.ts';
import type { ConsoleRole, Identity, Subject } from './contract.ts';

const SECRET_NAME = 'console-pseudonym';
/** Crockford's base 32, without letters that can be mistaken for digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/**
 * 40 bits: among a million patients, two share a pseudonym with a probability of one half. This is
 * enough, because the pseudonym is never used as a key.
 */
const PSEUDONYM_CHARACTERS = 8;

/**
 * Decides how much of an identity a role receives. No other code of the console sends any identity.
 */
export type ShowSubject = (role: ConsoleRole, identity: DicomIdentity) => Subject;

/**
 * Creates the `ShowSubject` of a site. @param secret of the site, so that a pseudonym cannot be
 * computed from a patient ID.
 */
export function createShowSubject(secret: Buffer): ShowSubject {
  return (role, identity) => {
    const pseudonym = pseudonymOf(secret, identity);
    switch (sees(role)) {
      case 'hidden':
        return { shown: 'hidden', pseudonym };
      case 'initials':
        return { shown: 'initials', pseudonym, initials: initialsOf(identity) };
      case 'identity':
        return {
          shown: 'identity',
          pseudonym,
          initials: initialsOf(identity),
          ...inFull(identity),
        };
    }
  };
}

/**
 * Returns the secret with which all processes of a site make pseudonyms; it is created at first
 * use.
 */
export function loadPseudonymSecret(database: Queryable): Promise<Buffer> {
  return loadSiteSecret(database, SECRET_NAME);
}

/**
 * Returns the pseudonym. It is made from the patient if the images name one, otherwise from the
 * study.
 */
function pseudonymOf(secret: Buffer, identity: DicomIdentity): string {
  const { PatientID, IssuerOfPatientID, StudyInstanceUID } = identity;
  const whose = PatientID ? ['patient', IssuerOfPatientID, PatientID] : ['study', StudyInstanceUID];
  const digest = createHmac('sha256', secret).update(whose.join('\n')).digest();
  const characters = Array.from(
    digest.subarray(0, PSEUDONYM_CHARACTERS),
    (byte) => ALPHABET[byte % ALPHABET.length],
  ).join('');
  return `${characters.slice(0, 4)}-${characters.slice(4)}`;
}

/**
 * Returns the first letters of family and given name (PS3.5 6.2.1.1), from the first component
 * group that has them.
 */
function initialsOf({ PatientName }: DicomIdentity): string {
  const group = PatientName.split('=').find((text) => text.trim() !== '') ?? '';
  return group
    .split('^', 2)
    .map((component) => [...component.trim()][0]?.toUpperCase() ?? '')
    .join('');
}

function inFull(identity: DicomIdentity): Identity {
  return {
    name: readableName(identity.PatientName),
    patientId: identity.PatientID,
    issuer: identity.IssuerOfPatientID,
    birthDate: identity.PatientBirthDate,
    sex: identity.PatientSex,
    accessionNumber: identity.AccessionNumber,
    studyInstanceUid: identity.StudyInstanceUID,
    studyDate: identity.StudyDate,
    studyTime: identity.StudyTime,
    studyDescription: identity.StudyDescription,
    referringPhysician: readableName(identity.ReferringPhysicianName),
  };
}

/** Formats a name: `DOE^JANE^M=山田^花子` becomes `DOE JANE M 山田 花子`. */
function readableName(name: string): string {
  return name
    .split(/[\^=]+/)
    .filter((part) => part.trim() !== '')
    .join(' ');
}
