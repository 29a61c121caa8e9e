import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resultSeriesUids } from '../../../../pipelines/artifacts/modules.ts';
import type { DicomIdentity } from '../../../../pipelines/dicom/subject.ts';
import { mergePatients } from '../../../../src/core/patients/merges.ts';
import { holdStudy, releaseStudy, rerunStudy } from '../../../../src/core/studies/commands.ts';
import {
  holdText,
  mismatchWithinStudy,
  studyIdentity,
} from '../../../../src/core/studies/patient.ts';
import { findStudy } from '../../../../src/core/studies/study-store.ts';
import { subjectOfRequest, subjectOfStudy } from '../../../../src/core/studies/subject.ts';
import { dicomFile, type SmallObject } from '../../../dimse/dicom-file.ts';
import { instanceHeader } from '../../../dimse/instance-header.ts';
import { sendBuffer } from '../../../dimse/send.ts';
import { openSite, type Site } from '../../../dimse/site.ts';

const BY_RULES = { rule: null, under: null };
const ANNA = { PatientID: 'A', IssuerOfPatientID: 'HOSP', PatientBirthDate: '19900101' };
const identity = (over: Partial<DicomIdentity>) =>
  instanceHeader({ identity: { ...ANNA, ...over } }).identity;

describe('objects of one study', () => {
  test.each([
    ['the same patient', {}, null],
    ['no patient ID', { PatientID: '' }, null],
    ['no birth date', { PatientBirthDate: '' }, null],
    ['no issuer', { IssuerOfPatientID: '' }, null],
    [
      'nothing of the patient',
      { PatientID: '', IssuerOfPatientID: '', PatientBirthDate: '' },
      null,
    ],
    ['another sex, which carts set by a default', { PatientSex: 'O' }, null],
    ['another spelling of the name', { PatientName: 'DOE^ANNA^^^' }, null],
    ['another patient ID', { PatientID: 'B' }, 'patient-id'],
    ['another issuer', { IssuerOfPatientID: 'CLINIC' }, 'issuer'],
    ['another birth date', { PatientBirthDate: '19900102' }, 'birth-date'],
    [
      'another birth date and no patient ID',
      { PatientID: '', PatientBirthDate: '19900102' },
      'birth-date',
    ],
  ])('of which one states %s', (_what, over, why) => {
    for (const both of [
      [identity({ PatientSex: 'F' }), identity(over)],
      [identity(over), identity({ PatientSex: 'F' })],
    ]) {
      expect(mismatchWithinStudy(both)).toBe(why);
    }
  });

  test('are compared pairwise, because the first may state nothing', () => {
    const nothing = identity({ PatientID: '', PatientBirthDate: '' });
    expect(mismatchWithinStudy([nothing, identity({})])).toBeNull();
    expect(
      mismatchWithinStudy([nothing, identity({}), identity({ PatientID: 'B' })]),
    ).not.toBeNull();
    expect(mismatchWithinStudy([])).toBeNull();
  });

  test('give the study the first patient that one of them states', () => {
    const nothing = identity({ PatientID: '' });
    expect(studyIdentity([nothing, identity({}), identity({ PatientID: 'B' })])?.PatientID).toBe(
      'A',
    );
    expect(studyIdentity([nothing])).toEqual(nothing);
  });

  test.each([
    ['Wait for me.', null, 'Wait for me.'],
    [
      null,
      'issuer',
      'The objects identify different patients (another issuer of the ID); release the study only if they are the same person.',
    ],
    [
      'Wait for me.',
      'patient-id',
      'Wait for me. The objects identify different patients (another patient ID); release the study only if they are the same person.',
    ],
    [null, null, null],
  ] as const)('held by %j and for %j are held with the words %j', (reason, mismatch, text) => {
    expect(holdText(reason, mismatch)).toBe(text);
  });
});

describe('a study that has arrived', () => {
  let site: Site;
  let study = '';
  let count = 0;

  beforeAll(async () => {
    site = await openSite({
      rules: [{ name: 'obstetric', when: {}, run: { endpoint: 'us/obstetric/interpret' } }],
    });
  });
  afterAll(() => site.close());
  beforeEach(() => {
    count += 1;
    study = `1.2.840.88.${count}`;
  });

  async function send(number: number, object: Partial<SmallObject>): Promise<void> {
    const file = dicomFile({
      sopInstanceUid: `${study}.1.${number}`,
      studyInstanceUid: study,
      birthDate: '19900101',
      ...object,
    });
    expect(await sendBuffer(site.node, file)).toMatchObject({ outcome: 'stored' });
  }
  const row = async () => {
    const found = await findStudy(site.database, study);
    if (!found) throw new Error('the study is not there');
    return found;
  };
  const ended = async (state: string) => {
    site.pass(31);
    await expect.poll(async () => (await row()).state).toBe(state);
  };
  const requests = () =>
    site.submitted.filter(({ studyInstanceUid }) => studyInstanceUid === study);
  const patientOfResult = async () => {
    const { id, revision } = await row();
    const subject = await subjectOfStudy(site.database, {
      requestId: 'req_x',
      study: id,
      revision,
    });
    return subject?.identity?.PatientID;
  };
  const changes = async () => {
    const { rows } = await site.database.query(
      `SELECT actor, outcome, detail FROM audit WHERE study_id = $1 AND action = 'study.patient'`,
      [(await row()).id],
    );
    return rows;
  };

  test('with objects of two patients is not interpreted until a person has looked', async () => {
    await send(1, { patientId: 'A' });
    await send(2, { patientId: 'B' });
    await ended('held');
    expect((await row()).reason).toBe(
      'The objects identify different patients (another patient ID); release the study only if they are the same person.',
    );
    expect(requests()).toEqual([]);
    expect((await row()).identity.PatientID).toBe('A');

    const { routing } = site.config;
    await releaseStudy(site.database, study, BY_RULES, { routing, at: new Date() });
    await ended('submitted');
    expect(requests()).toHaveLength(1);
  });

  describe('under a merged ID with another birth date than the surviving patient', () => {
    const arrive = async () => {
      const prior = { id: `OLD${count}`, authority: 'H', unissued: true };
      const at = new Date();
      await site.database.transaction((tx) =>
        mergePatients(
          tx,
          { prior, survivorId: 'NEW', stated: { PatientBirthDate: '19800101' } },
          { sender: 'his', address: '', controlId: 'M', receivedAt: at, effectiveAt: at },
        ),
      );
      await send(1, { patientId: prior.id });
      await ended('held');
      return prior.id;
    };
    const release = (under: 'own-id' | null) =>
      releaseStudy(
        site.database,
        study,
        { rule: null, under },
        { routing: site.config.routing, at: new Date() },
      );

    test('keeps its ID and is held when it was released for another reason', async () => {
      const own = await arrive();
      await expect(release(null)).rejects.toThrow('invalid_input');
      await site.database.query(
        `UPDATE studies SET state = 'complete', hold_reason = NULL, released_revision = revision,
           next_attempt_at = $2 WHERE study_instance_uid = $1`,
        [study, new Date(0)],
      );
      await ended('held');
      expect((await row()).identity.PatientID).toBe(own);
      expect(requests()).toEqual([]);
    });

    test('keeps its ID when a person decides so, also when it is interpreted again', async () => {
      const own = await arrive();
      await release('own-id');
      await ended('submitted');
      await rerunStudy(site.database, study, new Date());
      await ended('submitted');
      expect(await row()).toMatchObject({ revision: 2, identity: { PatientID: own } });
      expect(requests()).toHaveLength(2);
    });
  });

  test('is interpreted for the patient stated by some objects if others state none', async () => {
    await send(1, { birthDate: '' });
    await send(2, { patientId: 'A' });
    await send(3, { patientId: 'A' });
    await ended('submitted');
    expect(await patientOfResult()).toBe('A');
    expect((await row()).identity.PatientID).toBe('A');
  });

  test('has the right patient everywhere once all its objects have arrived again with that patient', async () => {
    await send(1, { patientId: 'WRONG', patientName: Buffer.from('DOE^WRONG') });
    await send(2, { patientId: 'WRONG', patientName: Buffer.from('DOE^WRONG') });
    await ended('submitted');
    expect(await changes()).toEqual([]);

    await send(1, { patientId: 'RIGHT', patientName: Buffer.from('DOE^RIGHT') });
    expect((await row()).patient_mismatch).toBe('patient-id');
    await send(2, { patientId: 'RIGHT', patientName: Buffer.from('DOE^RIGHT') });
    expect(await row()).toMatchObject({ revision: 2, patient_mismatch: null, reason: null });
    await ended('submitted');

    expect(requests()).toHaveLength(2);
    expect((await row()).identity.PatientID).toBe('RIGHT');
    expect(await patientOfResult()).toBe('RIGHT');
    const { rows } = await site.database.query<{ patient: string; words: string }>(
      `SELECT patient = worklist_patient(s.identity) AS patient, w.words::text AS words
       FROM worklist w JOIN studies s ON s.id = w.study_id WHERE s.id = $1`,
      [(await row()).id],
    );
    expect(rows).toEqual([{ patient: true, words: "'doe' 'right'" }]);
    expect(await changes()).toMatchObject([
      { actor: 'ae:CART', outcome: 'success', detail: { revision: 2 } },
    ]);
    const first = await subjectOfRequest(site.database, `req_dicom:${(await row()).id}:1`);
    expect(first?.identity?.PatientID).toBe('WRONG');
  });

  test('has the right patient even if corrected objects arrive before it is complete', async () => {
    await send(1, { patientId: 'WRONG' });
    await send(1, { patientId: 'RIGHT' });
    await ended('submitted');
    expect(await row()).toMatchObject({ revision: 1, identity: { PatientID: 'RIGHT' } });
  });

  test('is not held for a result of ours that states the former patient', async () => {
    await send(1, { patientId: 'WRONG' });
    await ended('submitted');
    const [seriesInstanceUid] = resultSeriesUids(`req_dicom:${(await row()).id}:1`);
    await send(9, { patientId: 'WRONG', seriesInstanceUid });
    await send(1, { patientId: 'RIGHT' });
    await ended('submitted');
    expect(await row()).toMatchObject({ revision: 2, identity: { PatientID: 'RIGHT' } });
    expect(await patientOfResult()).toBe('RIGHT');
  });

  test('remains held by a person, whoever its patients are', async () => {
    await send(1, { patientId: 'A' });
    await holdStudy(site.database, study, 'Wait for me.');
    await send(2, { patientId: 'B' });
    await send(2, { patientId: 'A' });
    expect(await row()).toMatchObject({ hold_reason: 'Wait for me.', reason: 'Wait for me.' });
    await ended('held');
  });
});
