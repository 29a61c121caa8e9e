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
 * 40 bits: among a million patients, the probability that two share a pseudonym is about 37 %. This
 * is enough, because the pseudonym is never used as a key.
 */
const PSEUDONYM_CHARACTERS = 8;

/**
 * Returns as much of an identity as a role may see. This is the only way for names and birth dates
 * to leave the console, except in free text (such as the header values in the note of a rule).
 */
export type ShowSubject = (role: ConsoleRole, identity: DicomIdentity) => Subject;

/**
 * Creates the installation's `ShowSubject`.
 * @param secret prevents anyone without it from computing a pseudonym from a patient ID.
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
 * Returns the secret with which all processes of an installation make pseudonyms. It is created at
 * first use.
 */
export function loadPseudonymSecret(database: Queryable): Promise<Buffer> {
  return loadSiteSecret(database, SECRET_NAME);
}

/**
 * Derives the pseudonym from the patient ID and its issuer or, if the images contain no patient ID,
 * from the study.
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
 * Returns the first letters of the family and given names (PS3.5 6.2.1.1), from the first component
 * group that is not empty.
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
    birthDate: identity.PatientBirthDate,
    accessionNumber: identity.AccessionNumber,
    studyInstanceUid: identity.StudyInstanceUID,
    studyDate: identity.StudyDate,
    studyDescription: identity.StudyDescription,
  };
}

/** Formats a name: `DOE^JANE^M=山田^花子` becomes `DOE JANE M 山田 花子`. */
function readableName(name: string): string {
  return name
    .split(/[\^=]+/)
    .filter((part) => part.trim() !== '')
    .join(' ');
}
