import type { Patient } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { demographicConflicts, matchPatient } from '../../../fhir/match/patient.ts';
import { sampleSubject } from '../sample.ts';

type Identity = NonNullable<ReturnType<typeof sampleSubject>['identity']>;

function conflicts(patient: Partial<Patient>, images: Partial<Identity>) {
  const { identity } = sampleSubject('req_1', {
    PatientName: '',
    PatientSex: '',
    PatientBirthDate: '',
    ...images,
  });
  if (!identity) throw new Error('the sample has an identity');
  return demographicConflicts({ resourceType: 'Patient', ...patient }, identity);
}

describe('birth date', () => {
  test.each([
    ['1990-04-02', '19900402', []],
    ['1990-04', '19900402', []],
    ['1990', '19900402', []],
    ['1990-04-03', '19900402', ['birth_date']],
    ['1991', '19900402', ['birth_date']],
    ['1990-04-02', '', []],
    [undefined, '19900402', []],
  ])('%s and %s conflict in %j', (birthDate, PatientBirthDate, expected) => {
    expect(conflicts({ birthDate }, { PatientBirthDate })).toEqual(expected);
  });
});

describe('sex', () => {
  test.each<[Patient['gender'], string, string[]]>([
    ['female', 'F', []],
    ['male', 'F', ['sex']],
    ['unknown', 'F', []],
    [undefined, 'F', []],
    ['male', '', []],
    ['female', 'f ', []],
  ])('%s and "%s" conflict in %j', (gender, PatientSex, expected) => {
    expect(conflicts({ gender }, { PatientSex })).toEqual(expected);
  });
});

describe('family name', () => {
  test.each<[string, string, string[]]>([
    ['Müller', 'MULLER^ANA', []],
    ['O’Brien-Smith', 'OBRIEN SMITH^ANA', []],
    ['Yamada', 'Yamada^Tarou=山田^太郎', []],
    ['山田', 'Yamada^Tarou=山田^太郎', []],
    ['Muller', 'Miller^Ana', ['family_name']],
    ['Muller', '', []],
  ])('%s and %s conflict in %j', (family, PatientName, expected) => {
    expect(conflicts({ name: [{ family }] }, { PatientName })).toEqual(expected);
  });

  test('of a record without a name conflicts with none', () => {
    expect(conflicts({ name: [{ given: ['Ana'] }] }, { PatientName: 'Miller^Ana' })).toEqual([]);
  });

  test('matches if any of the recorded names does', () => {
    const name = [{ family: 'Married' }, { family: 'Maiden' }];
    expect(conflicts({ name }, { PatientName: 'Maiden^Ana' })).toEqual([]);
  });
});

describe('the issuer of the patient id', () => {
  const OURS = 'urn:oid:1.2.3';
  const THEIRS = 'urn:oid:9.9';
  const newPatient = async (images: Partial<Identity>) => {
    const { identity } = sampleSubject('req_1', images);
    if (!identity) throw new Error('the sample has an identity');
    const settings = {
      patientIdentifierSystems: { '*': OURS, HOSPITAL: OURS, '9.9': THEIRS },
      createPatient: true,
    };
    const none = { search: async () => [] };
    const match = await matchPatient(none, identity, settings, AbortSignal.timeout(1000));
    return 'newPatient' in match ? match.newPatient : null;
  };
  const systemFor = async (images: Partial<Identity>) =>
    (await newPatient(images))?.identifier?.[0]?.system;
  const entity = (UniversalEntityID: string, UniversalEntityIDType = 'ISO') => ({
    IssuerOfPatientIDQualifiers: { UniversalEntityID, UniversalEntityIDType },
  });
  const unnamed = { IssuerOfPatientID: '' };

  test.each([
    ['Roe^Jane^Ann', [{ family: 'Roe', given: ['Jane', 'Ann'] }]],
    ['Roe', [{ family: 'Roe' }]],
    ['^Jane', [{ given: ['Jane'] }]],
    [
      'Yamada^Tarou=山田^太郎',
      [
        { family: 'Yamada', given: ['Tarou'] },
        { family: '山田', given: ['太郎'] },
      ],
    ],
    ['', undefined],
  ])('does not matter for the name %s of a new patient', async (PatientName, name) => {
    expect((await newPatient({ PatientName }))?.name).toEqual(name);
  });

  test.each<[string, Partial<Identity>, string]>([
    ['none: the entry for images without one', unnamed, OURS],
    ['a universal id alone', { ...unnamed, ...entity('9.9') }, THEIRS],
    ['a name and a universal id: the name', entity('9.9'), OURS],
  ])('%s', async (_, images, system) => {
    expect(await systemFor(images)).toBe(system);
  });

  test.each([
    ['an unknown OID', entity('9.8')],
    ['an id that is no OID', entity('other.example', 'DNS')],
  ])('%s is never treated as no issuer', async (_, images) => {
    await expect(systemFor({ ...unnamed, ...images })).rejects.toMatchObject({
      reason: { code: 'ehr_issuer_unmapped' },
    });
  });
});
