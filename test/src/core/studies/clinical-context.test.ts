import { describe, expect, test } from 'vitest';
import { contextFromHeaders, inputFor } from '../../../../src/core/studies/clinical-context.ts';
import { instanceHeader } from '../../../dimse/instance-header.ts';

const dating = (lastMenstrualDate: string, StudyDate: string) =>
  contextFromHeaders([instanceHeader({ lastMenstrualDate, identity: { StudyDate } })]).dating;

describe('dating from the last menstrual date', () => {
  test.each([
    ['20260101', '20260521', 140],
    ['20240101', '20240520', 140], // a leap year has one more day
    ['20260101', '20260212', 42],
    ['20260101', '20261029', 301],
  ])('%s, scanned on %s: %i days', (lmp, study, days) => {
    expect(dating(lmp, study)).toEqual({ ga_days: days, basis: 'lmp' });
  });

  test.each([
    ['20260101', '20260211', '41 days, below the range'],
    ['20260101', '20261030', '302 days, above the range'],
    ['20260521', '20260101', 'after the scan'],
    ['20260230', '20260521', 'no day of the calendar'],
    ['', '20260521', 'no last menstrual date'],
    ['20260101', '', 'no study date'],
  ])('%s, scanned on %s is not used: %s', (lmp, study) => {
    expect(dating(lmp, study)).toBeNull();
  });
});

describe('dating that the cart states', () => {
  const stated = (statedAgeDays: number | null, lastMenstrualDate = '') =>
    contextFromHeaders([
      instanceHeader({ statedAgeDays, lastMenstrualDate, identity: { StudyDate: '20260521' } }),
    ]).dating?.ga_days ?? null;

  test.each([
    [41, null],
    [42, 42],
    [301, 301],
    [302, null],
    [null, null],
  ])('%s days give %s', (days, used) => {
    expect(stated(days)).toBe(used);
  });

  test('comes after the last menstrual date', () => {
    expect(stated(150, '20260101')).toBe(140);
  });

  test.each([
    ['20250101', 'of an earlier pregnancy'],
    ['20260521', 'of the day of the study'],
    ['20260901', 'after the study'],
  ])('is not hidden by a last menstrual date %s, %s', (lmp) => {
    expect(stated(150, lmp)).toBe(150);
  });

  test('comes after the last menstrual date of any object', () => {
    const headers = [
      instanceHeader({ statedAgeDays: 150 }),
      instanceHeader({ lastMenstrualDate: '20260101', identity: { StudyDate: '20260521' } }),
    ];
    expect(contextFromHeaders(headers).dating?.ga_days).toBe(140);
  });
});

describe('age', () => {
  const age = (patientAge: string, PatientBirthDate = '', StudyDate = '20260615') =>
    contextFromHeaders([instanceHeader({ patientAge, identity: { PatientBirthDate, StudyDate } })])
      .age_years;

  test.each([
    ['034Y', 34],
    ['011M', 0],
    ['012M', 1],
    ['104W', 1],
    ['105W', 2],
    ['130Y', 130],
    ['131Y', null],
    ['34Y', null],
  ])('stated as %s is %s', (stated, years) => {
    expect(age(stated)).toBe(years);
  });

  test.each([
    ['19900615', 36],
    ['19900616', 35],
    ['20260615', 0],
    ['20260616', null],
  ])('of a patient born %s on 15 June 2026 is %s', (birth, years) => {
    expect(age('', birth)).toBe(years);
  });

  // With the dots, a 17-year-old was read as an adult, to whom the adult limits of the echo apply.
  test.each([
    ['2008.06.16', '20260615', 17],
    ['20080616', '2026.06.15', 17],
    ['2008.06.16', '2026.06.15', 17],
    ['2008.06.15', '20260615', 18],
    ['2008.02.29', '20260228', 17],
    ['2008.02.30', '20260615', null],
  ])(
    'of a patient born %s, scanned on %s, in either form of a date, is %s',
    (birth, study, years) => {
      expect(age('', birth, study)).toBe(years);
    },
  );
});

test('each value comes from the first object that has it', () => {
  const context = contextFromHeaders([
    instanceHeader(),
    instanceHeader({ patientSizeMetres: 1.655, identity: { PatientSex: 'F' } }),
    instanceHeader({ patientSizeMetres: 1.8, patientWeightKilograms: 70.5 }),
  ]);
  expect(context).toMatchObject({ height_cm: 165.5, weight_kg: 70.5, sex: 'female' });
});

test.each([
  [0.29, 30, null, 30],
  [0.3, 0.9, 30, null],
  [2.5, 400, 250, 400],
  [2.51, 401, null, null],
])('size %s m and weight %s kg become %s cm and %s kg', (size, weight, height_cm, weight_kg) => {
  const header = instanceHeader({ patientSizeMetres: size, patientWeightKilograms: weight });
  expect(contextFromHeaders([header])).toMatchObject({ height_cm, weight_kg });
});

describe('the input of an endpoint', () => {
  const context = {
    dating: { ga_days: 140, basis: 'lmp' },
    age_years: 30,
    sex: 'female',
    height_cm: 170,
    weight_kg: 60,
  } as const;

  test('obstetric contains dating, age and sex, but no height or weight', () => {
    expect(inputFor('us/obstetric/interpret', { previews: true }, context)).toEqual({
      options: { previews: true, dating: { ga_days: 140, basis: 'lmp' } },
      clinical_context: { age_years: 30, sex: 'female' },
    });
  });

  test('echo contains height and weight, but no dating', () => {
    expect(inputFor('us/echo', {}, context)).toEqual({
      options: {},
      clinical_context: { age_years: 30, sex: 'female', height_cm: 170, weight_kg: 60 },
    });
  });

  test('an option of the rule takes precedence over the header, and unknown values are left out', () => {
    const ruleDating = { dating: { ga_days: 100, basis: 'crl' } };
    expect(
      inputFor('us/obstetric', ruleDating, { ...context, age_years: null, sex: null }),
    ).toEqual({ options: ruleDating, clinical_context: {} });
  });
});
