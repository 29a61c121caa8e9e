import { describe, expect, test } from 'vitest';
import { chooseOrder, type FoundOrder, orderKeys } from '../../../../src/core/studies/order.ts';
import { lacksOrder, studyContext } from '../../../../src/core/studies/order-join.ts';
import { instanceHeader } from '../../../dimse/instance-header.ts';

const { identity } = instanceHeader({
  identity: {
    PatientID: 'P1',
    PatientBirthDate: '19900405',
    PatientSex: 'F',
    AccessionNumber: 'A1',
    StudyDate: '20260521',
  },
});
const KEYS = { accessionNumber: 'A1' };

const order = (over: Partial<FoundOrder> = {}): FoundOrder => ({
  patient: { patientId: 'P1', issuerOfPatientId: '', birthDate: '19900405', sex: 'F' },
  studyInstanceUid: '1.2.9',
  accessionNumber: 'A1',
  placerOrderNumber: '',
  requestedProcedureId: 'RP1',
  requestedProcedure: 'Growth scan',
  indication: 'growth',
  referringPhysicianName: 'Roe^Jane',
  sex: 'F',
  lastMenstrualDate: '20260101',
  pregnancyStatus: null,
  patientSizeMetres: 1.68,
  patientWeightKilograms: null,
  ...over,
});

describe('the order of a study', () => {
  test('is searched by accession number, otherwise by patient and study', () => {
    expect(orderKeys(identity)).toEqual({
      keys: { accessionNumber: 'A1', studyDate: '20260521' },
    });
    expect(orderKeys({ ...identity, AccessionNumber: ' ' })).toEqual({
      keys: { patientId: 'P1', studyInstanceUid: '1.2.3', studyDate: '20260521' },
    });
    expect(orderKeys({ ...identity, AccessionNumber: '', PatientID: '' })).toHaveProperty('why');
  });

  test('has the requested accession number, whatever else a worklist returns', () => {
    const found = [order({ accessionNumber: 'A2' }), order({ accessionNumber: 'A11' })];
    expect(chooseOrder(identity, KEYS, found, 'ris')).toMatchObject({ state: 'none', order: null });
  });

  test('is not joined if any order with the number has another patient', () => {
    const other = order({ patient: { ...order().patient, patientId: 'P2' } });
    expect(chooseOrder(identity, KEYS, [order(), other], 'ris')).toMatchObject({
      state: 'refused',
      order: null,
      detail: expect.stringContaining('another patient ID'),
    });
  });

  test('with several procedures has the values on which they agree', () => {
    const found = [order(), order({ requestedProcedureId: 'RP2', requestedProcedure: 'Cervix' })];
    expect(chooseOrder(identity, KEYS, found, 'ris').order).toMatchObject({
      requestedProcedureId: '',
      requestedProcedure: '',
      indication: 'growth',
    });
  });

  test('with several procedures is the one that refers to the study', () => {
    const own = order({ studyInstanceUid: '1.2.3', indication: 'bleeding' });
    expect(chooseOrder(identity, KEYS, [order(), own], 'ris').order).toMatchObject({
      indication: 'bleeding',
    });
  });
});

describe('joining an order', () => {
  const header = (over: Parameters<typeof instanceHeader>[0] = {}) =>
    instanceHeader({ ...over, identity });

  test('adds what the headers lack, and lists it', () => {
    const context = studyContext([header()], order());
    expect(context).toMatchObject({
      dating: { ga_days: 140, basis: 'lmp' },
      indication: 'growth',
      height_cm: 168,
      weight_kg: null,
      accessionNumber: 'A1',
      sex: 'female',
    });
    expect(context.fromOrder).toEqual([
      'referringPhysicianName',
      'requestedProcedure',
      'indication',
      'dating',
      'height_cm',
    ]);
  });

  test('leaves a gestational age as the machine states it', () => {
    const context = studyContext([header({ statedAgeDays: 150 })], order());
    expect(context.dating).toEqual({ ga_days: 150, basis: 'lmp' });
    expect(context.fromOrder).not.toContain('dating');
  });

  test('does not date by the last period of a patient who is not pregnant', () => {
    expect(studyContext([header()], order({ pregnancyStatus: 1 })).dating).toBeNull();
  });

  test.each([
    ['us/obstetric/interpret', { indication: 'growth', lastMenstrualDate: '20260101' }, false],
    ['us/obstetric/interpret', { indication: 'growth' }, true],
    ['us/echo/interpret', { indication: 'dyspnoea' }, true],
    [
      'us/echo/interpret',
      { indication: 'dyspnoea', patientSizeMetres: 1.7, patientWeightKilograms: 70 },
      false,
    ],
  ])('is needed by %s for %o: %s', (endpoint, over, needed) => {
    const stated = { ...identity, ReferringPhysicianName: 'Roe^Jane' };
    const headers = [instanceHeader({ ...over, identity: stated })];
    expect(lacksOrder(headers, [endpoint])).toBe(needed);
  });
});
