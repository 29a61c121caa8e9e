import { createHmac } from 'node:crypto';
import type { DicomIdentity } from '../dicom/subject.ts';
import { uidOfDigest } from '../dicom/uid.ts';

/**
 * Returns a key for the patient of a study: the patient identifier with its issuer or, if there is
 * no identifier, the study. It is the same for all objects of the study, whatever each object
 * states.
 */
export function patientKey({
  PatientID,
  IssuerOfPatientID,
  StudyInstanceUID,
}: Pick<DicomIdentity, 'PatientID' | 'IssuerOfPatientID' | 'StudyInstanceUID'>): string {
  const id = PatientID.trim();
  const key = id === '' ? ['study', StudyInstanceUID.trim()] : [IssuerOfPatientID.trim(), id];
  return JSON.stringify(key);
}

/**
 * Range of the date shift, in days. Dates are moved back by one to ten years, so that none is in
 * the future.
 */
const LEAST_DAYS = 365;
const DAYS = 3287;

/** Replacements for a patient's identity, the same in every transmission with the same variant. */
export interface Pseudonyms {
  /** Pseudonym for (0010,0010) and (0010,0020). */
  patient: string;
  /** Number of days added to every date; negative. */
  days: number;
  /**
   * Returns the replacement for a UID. It depends only on the UID and the variant, not on the
   * patient.
   */
  uid(uid: string): string;
}

/**
 * Derives pseudonyms from the installation's secret (HMAC-SHA-256). Without the secret, nobody can
 * trace a pseudonym to a patient or test a guess. With it, priors and repeated transmissions get
 * the same pseudonym, and no table of patients has to be stored.
 *
 * @param patient the patient's key at the hospital (`patientKey`).
 *
 * @param variant how the objects are de-identified. A copy with other content gets other UIDs
 * (PS3.5 9).
 */
export function pseudonymsFor(secret: Buffer, patient: string, variant: string): Pseudonyms {
  const digest = (purpose: string, text: string) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, text]))
      .digest();
  return {
    patient: `SG-${digest('patient', patient).toString('hex').slice(0, 16).toUpperCase()}`,
    days: -(LEAST_DAYS + (digest('days', patient).readUInt32BE(0) % DAYS)),
    // A version 8 UUID (RFC 9562 5.8, PS3.5 B.2).
    uid: (uid) => uidOfDigest(digest(`uid ${variant}`, uid), 8),
  };
}

const DAY = 24 * 3600 * 1000;

/**
 * Moves a DA or DT value by whole days, keeping the time of day. Returns null for an incomplete
 * date, which cannot be moved.
 */
export function shiftedDate(value: string, days: number): string | null {
  const found = /^(\d{4})\.?(\d{2})\.?(\d{2})(\d{0,6}(?:\.\d{1,6})?)(?:[+-]\d{4})?$/.exec(
    value.trim(),
  );
  if (!found) return null;
  const [, year, month, day, time = ''] = found;
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (at.getUTCMonth() !== Number(month) - 1 || at.getUTCDate() !== Number(day)) return null;
  const moved = new Date(at.getTime() + days * DAY);
  return moved.toISOString().slice(0, 10).replaceAll('-', '') + time;
}
