import type { OperationOutcome, Task } from '@medplum/fhirtypes';
import { Client } from 'fhir-kit-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestFile } from '../../../../../src/core/requests/request.ts';
import type { StudySource } from '../../../../../src/doors/http/fhir/study-source.ts';
import { SonogateError } from '../../../../../src/platform/errors/catalogue.ts';
import { indexDefinitions, validationErrors } from '../../../../fhir/validators.ts';
import { type Gateway, startGateway } from '../gateway.ts';

const US = '1.2.840.10008.5.1.4.1.1.6.1';
const PRESENTATION_STATE = '1.2.840.10008.5.1.4.1.1.11.1';
const STUDY = '1.2.3.4';

let gateway: Gateway;
let client: Client;
let asked: string[];
let objects: Awaited<ReturnType<StudySource['objects']>>;
let ehr: Record<string, unknown>;

const object = (number: number, sopClassUid = US) => ({
  studyInstanceUid: STUDY,
  seriesInstanceUid: `${STUDY}.1`,
  sopInstanceUid: `${STUDY}.1.${number}`,
  sopClassUid,
});

const source: StudySource = {
  usualArchive: 'pacs',
  archiveAt: (address) => (address === 'https://vna.example/dicom-web' ? 'vna' : null),
  async objects(archive, study) {
    asked.push(`${archive} ${study}`);
    return study === STUDY ? objects : [];
  },
  async read(_type, reference) {
    asked.push(reference);
    if (reference === 'ImagingStudy/slow') throw new SonogateError('overloaded');
    return ehr[reference] ?? null;
  },
};

beforeAll(async () => {
  indexDefinitions();
  gateway = await startGateway({ studySource: source });
  client = clientOf(await gateway.key({ scopes: ['run', 'read', 'retrieve'] }));
});
afterAll(() => gateway.stop());
beforeEach(() => {
  asked = [];
  objects = [object(1), object(2), object(3, PRESENTATION_STATE)];
  ehr = {};
});

const clientOf = (bearerToken: string) =>
  new Client({ baseUrl: `${gateway.url}/fhir`, bearerToken });

const imagingStudy = (over: object = {}) => ({
  resourceType: 'ImagingStudy',
  id: 'study',
  status: 'available',
  subject: { display: 'Ana Müller' },
  identifier: [{ system: 'urn:dicom:uid', value: `urn:oid:${STUDY}` }],
  ...over,
});
const endpointAt = (address: string, code = 'dicom-wado-rs', id = 'wado') => ({
  resourceType: 'Endpoint',
  id,
  status: 'active',
  connectionType: {
    system: 'http://terminology.hl7.org/CodeSystem/endpoint-connection-type',
    code,
  },
  payloadType: [{ text: 'DICOM' }],
  address,
});
const task = (over: object = {}) => ({
  resourceType: 'Task',
  status: 'requested',
  intent: 'order',
  for: { display: 'Ana Müller' },
  code: { coding: [{ system: 'urn:sonogate:endpoint', code: 'us/obstetric/interpret' }] },
  focus: { reference: '#study' },
  contained: [imagingStudy()],
  ...over,
});
const submit = async (over: object = {}, by = client, headers = {}) =>
  (await by.create({
    resourceType: 'Task',
    body: task(over) as never,
    options: { headers },
  })) as unknown as Task;
const filesOf = async ({ id = '' }: Task) => {
  const { rows } = await gateway.database.query<{ files: RequestFile[]; priority: string }>(
    'SELECT files, priority FROM requests WHERE id = $1',
    [id.replace('-', '_')],
  );
  return rows[0]?.files ?? [];
};
async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => null,
    (thrown: { response: { status: number; data: OperationOutcome } }) => thrown,
  );
  const { status = 0, data } = error?.response ?? {};
  const [issue] = data?.issue ?? [];
  return { status, code: issue?.code, at: issue?.expression?.[0], says: issue?.diagnostics ?? '' };
}

describe('a study submitted as a Task', () => {
  it('becomes a request for the images that its archive lists, without its patient', async () => {
    const made = await submit();
    expect(validationErrors(made)).toEqual([]);
    expect(made).toMatchObject({
      status: 'accepted',
      code: { coding: [{}, { system: 'urn:sonogate:endpoint', code: 'us/obstetric/interpret' }] },
    });
    const { response } = Client.httpFor(made as never);
    expect(response?.status).toBe(201);
    const location = `${gateway.url}/fhir/Task/${made.id}`;
    expect(response?.headers.get('location')).toBe(location);
    expect(response?.headers.get('content-location')).toBe(location);
    expect(await filesOf(made)).toEqual([
      { name: 'object-0001.dcm', archive: { ...object(1), archive: 'pacs' } },
      { name: 'object-0002.dcm', archive: { ...object(2), archive: 'pacs' } },
    ]);
    const { rows } = await gateway.database.query('SELECT * FROM requests WHERE id = $1', [
      made.id?.replace('-', '_'),
    ]);
    expect(JSON.stringify(rows)).not.toContain('Müller');
  });

  it('includes only the objects that the ImagingStudy lists', async () => {
    const series = [{ uid: `${STUDY}.1`, instance: [{ uid: `${STUDY}.1.2`, sopClass: {} }] }];
    const made = await submit({ contained: [imagingStudy({ series })] });
    expect(await filesOf(made)).toMatchObject([{ archive: { sopInstanceUid: `${STUDY}.1.2` } }]);
  });

  it('comes from the archive of its Endpoint, whether contained or stored in the EHR', async () => {
    ehr['Endpoint/1'] = endpointAt('https://vna.example/dicom-web');
    ehr['ImagingStudy/42'] = imagingStudy({
      endpoint: [{ reference: '#viewer' }, { reference: 'Endpoint/1' }],
      contained: [endpointAt('https://127.0.0.1/viewer', 'ihe-iid', 'viewer')],
    });
    await submit({ focus: { reference: 'ImagingStudy/42' }, contained: undefined });
    const contained = [
      imagingStudy({ endpoint: [{ reference: '#wado' }] }),
      endpointAt('https://vna.example/dicom-web'),
    ];
    await submit({ contained });
    expect(asked).toEqual(['ImagingStudy/42', 'Endpoint/1', `vna ${STUDY}`, `vna ${STUDY}`]);
  });

  it('is created once per condition (If-None-Exist)', async () => {
    const condition = { 'If-None-Exist': 'identifier=urn:ris|7' };
    const first = await submit({}, client, condition);
    const again = await submit({}, client, condition);
    expect(again.id).toBe(first.id);
    expect(Client.httpFor(again as never).response?.status).toBe(200);
    const other = clientOf(await gateway.key({ test: true }));
    expect((await submit({}, other, condition)).id).not.toBe(first.id);
  });

  it('contacts neither archive nor EHR with a test key', async () => {
    const test = clientOf(await gateway.key({ test: true }));
    await submit({}, test);
    expect(await refusal(submit({ focus: { reference: 'ImagingStudy/42' } }, test))).toMatchObject({
      status: 422,
      at: 'focus',
    });
    expect(asked).toEqual([]);
  });
});

describe('a Task that is refused', () => {
  const many = Array.from({ length: 1001 }, (_, n) => object(n));
  const loop = { ...imagingStudy(), endpoint: [{ reference: '#study' }] };
  it.each<[string, object, string]>([
    ['an address inside', at('https://127.0.0.1/dicom-web'), 'focus'],
    ['an address that begins like an archive', at('https://vna.example/dicom-web/x'), 'focus'],
    ['an address with user information', at('https://vna.example@evil.example/'), 'focus'],
    ['a study that no EHR has', { focus: { reference: 'ImagingStudy/1' } }, 'focus'],
    ['a study of an EHR elsewhere', { focus: { reference: 'https://e/ImagingStudy/1' } }, 'focus'],
    ['a patient', { focus: { reference: 'Patient/1' } }, 'focus'],
    ['a study without its UID', { contained: [imagingStudy({ identifier: [] })] }, 'focus'],
    ['a UID that is a path', { contained: [withUid('1.2/../../3')] }, 'focus'],
    ['a study that the archive lacks', { contained: [withUid('1.2.99')] }, 'focus'],
    ['many endpoints', { contained: [imagingStudy({ endpoint: Array(6).fill({}) })] }, 'focus'],
    ['a code without an endpoint', { code: { coding: [{ code: 'fulfill' }] } }, 'code.coding'],
    ['a draft', { status: 'draft' }, 'status'],
    ['a modifier', { modifierExtension: [{ url: 'x' }] }, 'modifierExtension'],
    ['a Bundle', { resourceType: 'Bundle' }, 'resourceType'],
  ])('reports the element of %s', async (_, over, element) => {
    expect(await refusal(submit(over))).toMatchObject({
      status: 422,
      code: 'invalid',
      at: element,
    });
  });

  function at(address: string) {
    return {
      contained: [imagingStudy({ endpoint: [{ reference: '#wado' }] }), endpointAt(address)],
    };
  }
  function withUid(uid: string) {
    return imagingStudy({ identifier: [{ system: 'urn:dicom:uid', value: `urn:oid:${uid}` }] });
  }

  it('does not follow a reference to itself', async () => {
    await submit({ contained: [loop] });
    expect(asked).toEqual([`pacs ${STUDY}`]);
  });

  it('refuses studies with too many objects, named or listed, and huge bodies', async () => {
    objects = many;
    expect(await refusal(submit())).toMatchObject({ status: 422, at: 'focus' });
    const series = [{ instance: many.map((_, n) => ({ uid: `1.${n}` })) }];
    ehr['ImagingStudy/large'] = imagingStudy({ series });
    asked = [];
    const focus = { reference: 'ImagingStudy/large' };
    expect(await refusal(submit({ focus }))).toMatchObject({ status: 422, at: 'focus' });
    expect(asked).toEqual(['ImagingStudy/large']);
    expect(await refusal(submit({ note: [{ text: 'x'.repeat(20_000) }] }))).toMatchObject({
      status: 413,
    });
  });

  it('refuses keys that may not retrieve studies, and another account', async () => {
    for (const key of [
      await gateway.key({ scopes: ['run'] }),
      await gateway.key({ scopes: ['retrieve'] }),
      await gateway.key({ scopes: ['run', 'retrieve'], accountId: 'other' }),
    ]) {
      expect(await refusal(submit({}, clientOf(key)))).toMatchObject({
        status: 403,
        code: 'forbidden',
      });
    }
    expect(asked).toEqual([]);
  });

  it('states that an EHR does not respond, or that there is no such endpoint', async () => {
    const slow = { focus: { reference: 'ImagingStudy/slow' } };
    expect(await refusal(submit(slow))).toMatchObject({ status: 503, code: 'transient' });
    const coding = [{ system: 'urn:sonogate:endpoint', code: 'us/none' }];
    expect(await refusal(submit({ code: { coding } }))).toMatchObject({ status: 404 });
  });
});
