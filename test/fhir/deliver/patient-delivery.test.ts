import { describe, expect, test } from 'vitest';
import { MRN_SYSTEM, PATIENT, REQUEST, withEhr } from '../delivering.ts';
import { PATIENT_ID, sampleSubject } from '../sample.ts';

const site = withEhr();
const { deliverer, send } = site;

describe('the patient', () => {
  test('who does not exist yet is waited for', async () => {
    expect(await send(deliverer())).toMatchObject({
      failure: 'transient',
      code: 'ehr_patient_not_found',
    });
    expect(await site.ehr.all('DiagnosticReport')).toEqual([]);
  });

  test('is created once if the site allows it', async () => {
    const to = deliverer({ createPatient: true });
    await send(to);
    await send(to);
    const patients = await site.ehr.all('Patient');
    expect(patients).toHaveLength(1);
    expect(patients[0]).toMatchObject({ birthDate: '1990-04-02', gender: 'female' });
    const [report] = await site.ehr.all('DiagnosticReport');
    expect(report?.subject?.reference).toBe(`Patient/${patients[0]?.id}`);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['two records', async () => [await site.ehr.put(PATIENT), await site.ehr.put(PATIENT)]],
    ['another birth date', () => site.ehr.put({ ...PATIENT, birthDate: '1991-04-02' })],
    [
      'another sex and family name',
      () => site.ehr.put({ ...PATIENT, gender: 'male', name: [{ family: 'Other' }] }),
    ],
    ['an inactive record', () => site.ehr.put({ ...PATIENT, active: false })],
    [
      'a merged record',
      () =>
        site.ehr.put({
          ...PATIENT,
          link: [{ type: 'replaced-by', other: { reference: 'Patient/1' } }],
        }),
    ],
  ])('with %s is left to a person', async (_, prepare) => {
    await prepare();
    expect(await send(deliverer())).toMatchObject({
      failure: 'permanent',
      code: 'ehr_patient_ambiguous',
    });
    expect(await site.ehr.all('DiagnosticReport')).toEqual([]);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'another family name alone (marriage)',
      () => site.ehr.put({ ...PATIENT, name: [{ family: 'Other' }] }),
    ],
    [
      'no demographics',
      () => site.ehr.put({ resourceType: 'Patient', identifier: PATIENT.identifier }),
    ],
    ['the year of birth alone', () => site.ehr.put({ ...PATIENT, birthDate: '1990' })],
    ['the same name without its diacritics', () => site.ehr.put(PATIENT)],
  ])('with %s is accepted', async (_, prepare) => {
    await prepare();
    expect(await send(deliverer())).toMatchObject({ outcome: 'delivered' });
  });

  test('with an unmapped issuer is refused before any query', async () => {
    const to = deliverer({}, sampleSubject(REQUEST, { IssuerOfPatientID: 'ELSEWHERE' }));
    expect(await send(to)).toMatchObject({ failure: 'permanent', code: 'ehr_issuer_unmapped' });
    expect(site.ehr.calls.map((call) => call.path)).not.toContain('/Patient/_search');
  });

  test('without an issuer needs the entry "*"', async () => {
    await site.ehr.put(PATIENT);
    const anonymousIssuer = sampleSubject(REQUEST, { IssuerOfPatientID: '' });
    expect(await send(deliverer({}, anonymousIssuer))).toMatchObject({
      code: 'ehr_issuer_unmapped',
    });
    const mapped = deliverer({ patientIdentifierSystems: { '*': MRN_SYSTEM } }, anonymousIssuer);
    expect(await send(mapped)).toMatchObject({ outcome: 'delivered' });
  });

  test('with the same number from another issuer is not ours', async () => {
    await site.ehr.put({ ...PATIENT, identifier: [{ system: 'urn:oid:9', value: PATIENT_ID }] });
    expect(await send(deliverer())).toMatchObject({ code: 'ehr_patient_not_found' });
  });

  test('from a server that ignores the search parameter is not mistaken for ours', async () => {
    const stranger = { ...PATIENT, id: '1', identifier: [{ system: MRN_SYSTEM, value: '999' }] };
    site.ehr.fail('POST /Patient/_search', {
      kind: 'status',
      status: 200,
      body: { resourceType: 'Bundle', type: 'searchset', entry: [{ resource: stranger }] },
    });
    expect(await send(deliverer())).toMatchObject({ code: 'ehr_patient_not_found' });
  });
});
