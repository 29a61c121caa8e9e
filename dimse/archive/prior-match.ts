import type { PriorsSettings } from '../../config/archive.ts';
import type { DicomIdentity } from '../../pipelines/artifacts/subject.ts';
import { DAY_MS } from '../durations.ts';
import type { FoundStudy, PatientIdentity, StudyKeys } from './archive.ts';

export function patientOf(identity: DicomIdentity): PatientIdentity {
  return {
    patientId: identity.PatientID,
    issuerOfPatientId: identity.IssuerOfPatientID,
    birthDate: identity.PatientBirthDate,
    sex: identity.PatientSex,
  };
}

/**
 * What speaks against two studies being of one patient; null: nothing, and enough speaks for it. The
 * ID alone is not enough: numbers are given again, and typed wrongly. The birth date must be stated
 * by both; issuer and sex must not differ where both state them.
 */
export function whyNotSamePatient(one: PatientIdentity, other: PatientIdentity): string | null {
  if (one.patientId === '' || other.patientId === '') return 'no patient ID';
  if (one.patientId !== other.patientId) return 'another patient ID';
  if (differ(one.issuerOfPatientId, other.issuerOfPatientId)) return 'another issuer of the ID';
  if (one.birthDate === '' || other.birthDate === '') return 'no birth date to compare';
  if (one.birthDate !== other.birthDate) return 'another birth date';
  if (differ(one.sex, other.sex)) return 'another sex';
  return null;
}

const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other;

export interface PriorChoice {
  /** Newest first. */
  chosen: FoundStudy[];
  /** Why studies of the same ID are not used. */
  refused: string[];
}

/**
 * Keys by which an archive is asked for earlier examinations, or why it cannot be asked.
 * @param identity of the study that they are to be compared with.
 */
export function priorKeys(
  identity: DicomIdentity,
  { withinDays, modality }: Pick<PriorsSettings, 'withinDays' | 'modality'>,
): { keys: StudyKeys } | { why: string } {
  if (identity.PatientID === '') return { why: 'the study has no patient ID' };
  // PS3.4 C.2.2.2.4: these would match other patients.
  if (/[*?\\]/.test(identity.PatientID)) return { why: 'the patient ID holds a wildcard' };
  const to = daysBefore(identity.StudyDate, 1);
  const from = daysBefore(identity.StudyDate, withinDays);
  if (to === null || from === null) return { why: 'the study has no date' };
  return { keys: { patientId: identity.PatientID, studyDate: `${from}-${to}`, modality } };
}

/** Earlier examinations of the same patient that fit: archives may match more than they were asked. */
export function choosePriors(
  identity: DicomIdentity,
  found: readonly FoundStudy[],
  settings: Pick<PriorsSettings, 'withinDays' | 'modality' | 'description' | 'studies'>,
): PriorChoice {
  const from = daysBefore(identity.StudyDate, settings.withinDays) ?? '';
  const wanted = settings.description ? new RegExp(settings.description, 'i') : null;
  const fitting = found
    .filter(({ studyInstanceUid }) => studyInstanceUid !== identity.StudyInstanceUID)
    .filter(({ studyDate }) => studyDate !== '' && studyDate >= from)
    .filter(({ studyDate }) => studyDate < identity.StudyDate)
    .filter(({ modalities }) => modalities.length === 0 || modalities.includes(settings.modality))
    .filter(({ description }) => wanted === null || wanted.test(description))
    .toSorted((one, other) => (one.studyDate < other.studyDate ? 1 : -1));
  const patient = patientOf(identity);
  const judged = fitting.map((study) => ({ study, why: whyNotSamePatient(patient, study) }));
  return {
    chosen: judged
      .filter(({ why }) => why === null)
      .map(({ study }) => study)
      .slice(0, settings.studies),
    refused: judged.flatMap(({ why }) => why ?? []),
  };
}

/** A DA some days before another; null when that is no date. */
function daysBefore(date: string, days: number): string | null {
  const match = /^(\d{4})\.?(\d{2})\.?(\d{2})$/.exec(date);
  if (!match) return null;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const then = new Date(Date.UTC(year, month - 1, day) - days * DAY_MS);
  return then.toISOString().slice(0, 10).replaceAll('-', '');
}
