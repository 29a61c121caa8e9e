import { isoDate } from '../due-date.ts';
import type { DicomIdentity, Subject } from '../subject.ts';

/** "Beispiel, Zoë" of the PN "Beispiel^Zoë^^Dr."; the alphabetic group only (PS3.5 6.2.1). */
export function readableName(name: string): string {
  const [alphabetic = ''] = name.split('=');
  const [family = '', given = '', middle = '', prefix = '', suffix = ''] = alphabetic.split('^');
  const first = [prefix, given, middle].filter(Boolean).join(' ');
  return [family, first, suffix].filter(Boolean).join(', ');
}

/** A date for people; what is no date is shown as it stands. */
const readableDate = (date: string): string => isoDate(date) ?? date;

const or = (value: string): string => value || 'not given';

/** Label and value of the head of the report, in reading order. */
export function patientRows({ identity }: Subject): [string, string][] {
  if (!identity) return [['Patient', 'Anonymous']];
  return [
    ['Patient', or(readableName(identity.PatientName))],
    ['Date of birth', or(readableDate(identity.PatientBirthDate))],
    ['Patient ID', or(identity.PatientID)],
    ['Referring physician', or(readableName(identity.ReferringPhysicianName))],
  ];
}

export function studyRows(identity: DicomIdentity | null): [string, string][] {
  if (!identity) return [];
  return [
    ['Study date', or(readableDate(identity.StudyDate))],
    ['Study', or(identity.StudyDescription)],
    ['Accession number', or(identity.AccessionNumber)],
  ];
}

/** One line that names the patient on every page. */
export function patientLine({ identity }: Subject): string {
  if (!identity) return 'Anonymous';
  const birth = readableDate(identity.PatientBirthDate);
  return [readableName(identity.PatientName), birth, identity.PatientID].filter(Boolean).join('  ');
}
