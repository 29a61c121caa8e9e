import { describe, expect, test } from 'vitest';
import { priorsSchema } from '../../../config/peers.ts';
import type { Archive } from '../../../dimse/archive/archive.ts';
import { choosePriors, findPriors, priorKeys } from '../../../dimse/archive/prior-search.ts';
import type { RetrievalParts } from '../../../dimse/archive/retrievals.ts';
import { type PatientIdentity, patientMismatch } from '../../../src/core/studies/patient.ts';
import type { FoundStudy } from '../../../src/operations/operations.ts';
import { instanceHeader } from '../instance-header.ts';

const PATIENT: PatientIdentity = {
  patientId: 'P1',
  issuerOfPatientId: 'HERE',
  birthDate: '19900405',
  sex: 'F',
};

describe('two studies belong to the same patient', () => {
  test('when ID, issuer, birth date and sex agree', () => {
    expect(patientMismatch(PATIENT, { ...PATIENT })).toBeNull();
  });

  test.each<[string, Partial<PatientIdentity>]>([
    ['issuer', { issuerOfPatientId: '' }],
    ['sex', { sex: '' }],
  ])('even when one of them does not state the %s', (_, over) => {
    expect(patientMismatch(PATIENT, { ...PATIENT, ...over })).toBeNull();
    expect(patientMismatch({ ...PATIENT, ...over }, PATIENT)).toBeNull();
  });

  test.each<[Partial<PatientIdentity>, string]>([
    [{ patientId: 'P2' }, 'patient-id'],
    [{ patientId: '' }, 'no-patient-id'],
    [{ issuerOfPatientId: 'ELSEWHERE' }, 'issuer'],
    [{ birthDate: '19900406' }, 'birth-date'],
    [{ birthDate: '' }, 'no-birth-date'],
    [{ sex: 'M' }, 'sex'],
  ])('but not if they differ in %o', (over, why) => {
    expect(patientMismatch(PATIENT, { ...PATIENT, ...over })).toBe(why);
    expect(patientMismatch({ ...PATIENT, ...over }, PATIENT)).toBe(why);
  });
});

describe('earlier examinations', () => {
  const identity = {
    ...instanceHeader().identity,
    StudyInstanceUID: '1.2.9',
    StudyDate: '20260301',
    PatientID: 'P1',
    PatientBirthDate: '19900405',
    PatientSex: 'F',
  };
  const settings = { studies: 2, withinDays: 59, modality: 'US' };
  const found = (studyInstanceUid: string, over: Partial<FoundStudy> = {}): FoundStudy => ({
    ...PATIENT,
    studyInstanceUid,
    studyDate: '20260115',
    description: 'OB growth',
    modalities: ['US'],
    objects: 3,
    ...over,
  });
  const chosen = (studies: FoundStudy[], over: object = {}) =>
    choosePriors(identity, studies, { ...settings, ...over }).chosen.map(
      ({ studyInstanceUid }) => studyInstanceUid,
    );

  test('are requested by patient and modality, up to the day before the study', () => {
    expect(priorKeys(identity, settings)).toEqual({
      keys: { patientId: 'P1', studyDate: '20260101-20260228', modality: 'US' },
    });
  });

  test.each([
    [{ PatientID: '' }, 'the study has no patient ID'],
    [{ PatientID: 'P*' }, 'the patient ID contains a wildcard'],
    [{ PatientID: 'P?1' }, 'the patient ID contains a wildcard'],
    [{ PatientID: 'P1\\P2' }, 'the patient ID contains a wildcard'],
    [{ StudyDate: '' }, 'the study has no date'],
  ])('cannot be requested with %o', (over, why) => {
    expect(priorKeys({ ...identity, ...over }, settings)).toEqual({ why });
  });

  test('are accepted from the first day of the period to the day before the study, newest first', () => {
    const studies = [
      found('too-old', { studyDate: '20251231' }),
      found('first-day', { studyDate: '20260101' }),
      found('day-before', { studyDate: '20260228' }),
      found('same-day', { studyDate: '20260301' }),
      found('no-date', { studyDate: '' }),
    ];
    expect(chosen(studies)).toEqual(['day-before', 'first-day']);
  });

  test('are limited to the requested number', () => {
    const studies = ['20260110', '20260112', '20260111'].map((date) =>
      found(date, { studyDate: date }),
    );
    expect(chosen(studies)).toEqual(['20260112', '20260111']);
  });

  test('exclude the study itself, and studies with another modality or description', () => {
    const studies = [
      found('1.2.9'),
      found('ct', { modalities: ['CT'] }),
      found('thyroid', { description: 'Thyroid' }),
    ];
    expect(chosen(studies, { description: '^ob' })).toEqual([]);
  });

  test('are accepted from an archive that does not return modalities', () => {
    expect(chosen([found('1', { modalities: [] })])).toEqual(['1']);
  });

  test('of another patient are reported with the reason, without any value', () => {
    const { chosen, refused } = choosePriors(
      identity,
      [found('1', { birthDate: '19910101' })],
      settings,
    );
    expect(chosen).toEqual([]);
    expect(refused).toEqual(['birth-date']);
  });

  test('are also requested under patient IDs that were merged', async () => {
    const asked: (string | undefined)[] = [];
    const listed: string[] = [];
    const archive: Archive = {
      ...({} as Archive),
      name: 'pacs',
      async studies({ patientId }) {
        asked.push(patientId);
        return patientId === 'P0' ? [found('1.2.1', { patientId })] : [];
      },
      async objects(study) {
        listed.push(study);
        return [];
      },
    };
    const study = {
      identity,
      formerIds: ['P0', 'P*'],
      settings: priorsSchema.parse({ from: ['pacs'] }),
    };
    const parts = { database: { query: async () => ({ rows: [], rowCount: 0 }) } };
    await findPriors(
      study,
      new Map([['pacs', archive]]),
      parts as unknown as RetrievalParts,
      new AbortController().signal,
    );
    expect(asked).toEqual(['P1', 'P0']);
    expect(listed).toEqual(['1.2.1']);
  });
});
