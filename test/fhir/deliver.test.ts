import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceRequest } from '@medplum/fhirtypes';
import pino from 'pino';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FhirDestination } from '../../config/schema.ts';
import type { Subject } from '../../pipelines/artifacts/subject.ts';
import { type Logger, silentLogger } from '../../src/logging/logger.ts';
import type { Deliverer } from '../../src/outbox/port.ts';
import type { ResultReader } from '../../src/requests/port.ts';
import {
  type Fault,
  type FhirTestServer,
  startFhirServer,
  statementOf,
} from '../peers/fhir-server.ts';
import {
  DELIVERY,
  delivererTo,
  destinationOf,
  MRN_SYSTEM,
  PATIENT,
  REQUEST,
} from './delivering.ts';
import { PATIENT_ID, sampleResult, sampleSubject } from './sample.ts';

const patient = PATIENT;

let ehr: FhirTestServer;
let folder: string;

beforeEach(async () => {
  ehr = await startFhirServer();
  folder = await mkdtemp(join(tmpdir(), 'sonogate-fhir-'));
});

afterEach(async () => {
  await ehr.close();
  await rm(folder, { recursive: true });
});

function deliverer(
  settings: Partial<FhirDestination> = {},
  subject: Subject | null = sampleSubject(REQUEST),
  pdf: Buffer | null = Buffer.from('%PDF-1.4 specimen'),
  logger: Logger = silentLogger,
  results: ResultReader = { result: async () => sampleResult(), artifactPath: async () => null },
): Deliverer {
  return delivererTo(destinationOf(ehr, settings), folder, {
    results,
    subjectOf: async () => subject,
    reportPdf: async () => pdf,
    logger,
  });
}

const send = (to: Deliverer, attempt = 1) =>
  to.send({ ...DELIVERY, attempt }, AbortSignal.timeout(30_000));

describe('a result that arrives', () => {
  test('is one preliminary report of the EHR patient, with its Observations', async () => {
    const known = await ehr.put(patient);
    expect(await send(deliverer())).toMatchObject({
      outcome: 'delivered',
      detail: expect.stringMatching(/^DiagnosticReport\/\S+, \d+ entries$/),
    });
    const [report, ...others] = await ehr.all('DiagnosticReport');
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      status: 'preliminary',
      subject: { reference: `Patient/${known.id}`, identifier: { value: PATIENT_ID } },
    });
    const observations = await ehr.all('Observation');
    expect(report?.result?.map((reference) => reference.reference).sort()).toEqual(
      observations.map((observation) => `Observation/${observation.id}`).sort(),
    );
    expect(JSON.stringify(report)).not.toContain('urn:uuid:');
  });

  test('twice is there once', async () => {
    await ehr.put(patient);
    const to = deliverer();
    await send(to);
    const before = await counts();
    expect(await send(to)).toMatchObject({ outcome: 'delivered' });
    expect(await counts()).toEqual(before);
  });

  describe('with an order of its accession number', () => {
    const orderOf = (subject: string): ServiceRequest => ({
      resourceType: 'ServiceRequest',
      status: 'active',
      intent: 'order',
      identifier: [{ system: 'urn:oid:9.9', value: 'ACC-00042' }],
      subject: { reference: subject },
      encounter: { reference: 'Encounter/5' },
    });

    test('is based on it, in its visit', async () => {
      const known = await ehr.put(patient);
      const order = await ehr.put(orderOf(`Patient/${known.id}`));
      await send(deliverer());
      const [report] = await ehr.all('DiagnosticReport');
      expect(report?.basedOn?.[0]?.reference).toBe(`ServiceRequest/${order.id}`);
      expect(report?.encounter?.reference).toBe('Encounter/5');
    });

    test.each<[string, (patientId: string) => Promise<unknown>]>([
      ['none', async () => undefined],
      [
        'two',
        async (id) => [
          await ehr.put(orderOf(`Patient/${id}`)),
          await ehr.put(orderOf(`Patient/${id}`)),
        ],
      ],
      ['one of another patient', () => ehr.put(orderOf('Patient/stranger'))],
    ])('names the number alone where there is %s, and claims no visit', async (_, prepare) => {
      const known = await ehr.put(patient);
      await prepare(known.id);
      await send(deliverer());
      const [report] = await ehr.all('DiagnosticReport');
      expect(report?.basedOn?.[0]?.reference).toBeUndefined();
      expect(report?.basedOn?.[0]?.identifier?.value).toBe('ACC-00042');
      expect(report?.encounter).toBeUndefined();
    });
  });

  test('goes to the base itself, also when the setting ends with a slash', async () => {
    await ehr.put(patient);
    const to = deliverer({ baseUrl: `${ehr.baseUrl}/` });
    expect(await send(to)).toMatchObject({ outcome: 'delivered' });
  });

  test('sends no patient identifier in an address', async () => {
    await ehr.put(patient);
    await send(deliverer());
    expect(ehr.calls.map((call) => call.path).join()).not.toContain(PATIENT_ID);
  });
});

describe('a lost connection', () => {
  beforeEach(() => ehr.put(patient));

  test('after the commit is ambiguous, and the retry leaves one report', async () => {
    ehr.fail('POST /', { kind: 'cut-after-commit' });
    const to = deliverer();
    expect(await send(to)).toMatchObject({ failure: 'ambiguous', code: 'ehr_ambiguous' });
    const before = await counts();
    expect(before.DiagnosticReport).toBe(1);
    expect(await send(to, 2)).toMatchObject({ outcome: 'delivered' });
    expect(await counts()).toEqual(before);
  });

  test('while searching is transient', async () => {
    ehr.fail('POST /Patient/_search', { kind: 'cut-before' });
    expect(await send(deliverer())).toMatchObject({
      failure: 'transient',
      code: 'ehr_unavailable',
    });
  });

  test('by a slow answer to the transaction is ambiguous', async () => {
    ehr.fail('POST /', { kind: 'slow', milliseconds: 1500 });
    expect(await send(deliverer({ timeoutSeconds: 0.5 }))).toMatchObject({ failure: 'ambiguous' });
  });

  test('because nobody listens is transient', async () => {
    const to = deliverer({ baseUrl: 'http://127.0.0.1:9/fhir' });
    expect(await send(to)).toMatchObject({ failure: 'transient', code: 'ehr_unavailable' });
  });
});

describe('an EHR that refuses', () => {
  beforeEach(() => ehr.put(patient));

  test.each<[string, Fault, number, object]>([
    ['401', { kind: 'status', status: 401 }, 1, { failure: 'transient', code: 'ehr_unauthorized' }],
    ['403', { kind: 'status', status: 403 }, 1, { failure: 'transient', code: 'ehr_unauthorized' }],
    ['408', { kind: 'status', status: 408 }, 1, { failure: 'transient', code: 'ehr_unavailable' }],
    ['503', { kind: 'status', status: 503 }, 1, { failure: 'transient', code: 'ehr_unavailable' }],
    ['400', { kind: 'status', status: 400 }, 1, { failure: 'permanent', code: 'ehr_rejected' }],
    [
      '404 of the base',
      { kind: 'status', status: 404 },
      1,
      { failure: 'transient', code: 'ehr_unavailable', retryAfter: 300 },
    ],
    [
      '404 of a reference',
      {
        kind: 'status',
        status: 404,
        body: {
          resourceType: 'OperationOutcome',
          issue: [{ severity: 'error', code: 'not-found' }],
        },
      },
      1,
      { failure: 'permanent', code: 'ehr_rejected' },
    ],
    ['410', { kind: 'status', status: 410 }, 1, { failure: 'permanent', code: 'ehr_rejected' }],
    [
      '415',
      { kind: 'status', status: 415 },
      1,
      { failure: 'permanent', code: 'ehr_misconfigured' },
    ],
    ['422', { kind: 'status', status: 422 }, 1, { failure: 'permanent', code: 'ehr_rejected' }],
    ['202', { kind: 'status', status: 202 }, 1, { failure: 'permanent', code: 'ehr_rejected' }],
    [
      '409 four times',
      { kind: 'status', status: 409 },
      4,
      { failure: 'permanent', code: 'ehr_rejected' },
    ],
    [
      '412 twice',
      { kind: 'status', status: 412 },
      2,
      { failure: 'permanent', code: 'ehr_rejected' },
    ],
    [
      'a sign-in page with 200',
      { kind: 'page', status: 200 },
      1,
      { failure: 'permanent', code: 'ehr_misconfigured' },
    ],
    [
      'an error page with 502',
      { kind: 'page', status: 502 },
      1,
      { failure: 'transient', code: 'ehr_unavailable' },
    ],
    [
      'a redirect',
      { kind: 'status', status: 307, headers: { location: 'http://127.0.0.1:9/' } },
      1,
      { failure: 'permanent', code: 'ehr_misconfigured' },
    ],
    [
      'an entry with 422 inside a 200',
      { kind: 'entry-status', status: '422 Unprocessable' },
      1,
      { failure: 'permanent', code: 'ehr_rejected' },
    ],
    [
      'an answer without entries',
      { kind: 'status', status: 200 },
      1,
      { failure: 'ambiguous', code: 'ehr_ambiguous' },
    ],
  ])('with %s', async (_, fault, times, expected) => {
    ehr.fail('POST /', fault, times);
    expect(await send(deliverer())).toMatchObject(expected);
  });

  test.each([
    ['409 three times', 409, 3],
    ['412 once', 412, 1],
  ])('with %s gets the bundle rebuilt', async (_, status, times) => {
    ehr.fail('POST /', { kind: 'status', status }, times);
    expect(await send(deliverer())).toMatchObject({ outcome: 'delivered' });
  });

  test('with 429 says how long to wait', async () => {
    ehr.fail('POST /', { kind: 'status', status: 429, headers: { 'retry-after': '3' } });
    expect(await send(deliverer())).toMatchObject({ failure: 'transient', retryAfter: 3 });
  });

  test('with 500 is tried five times and then left to a person', async () => {
    ehr.fail('POST /', { kind: 'status', status: 500 }, 2);
    const to = deliverer();
    expect(await send(to, 4)).toMatchObject({ failure: 'transient' });
    expect(await send(to, 5)).toMatchObject({ failure: 'permanent' });
  });

  test('with a transient issue under a permanent status is tried again', async () => {
    const body = {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'error', code: 'lock-error' }],
    };
    ehr.fail('POST /', { kind: 'status', status: 400, body });
    expect(await send(deliverer())).toMatchObject({ failure: 'transient' });
  });

  test('gives a detail with the place and without the patient', async () => {
    ehr.fail('POST /', {
      kind: 'status',
      status: 422,
      body: {
        resourceType: 'OperationOutcome',
        issue: [
          {
            severity: 'error',
            code: 'invalid',
            diagnostics: `Patient ${PATIENT_ID} Müller`,
            details: { text: 'Müller' },
            expression: ['DiagnosticReport.status', "Patient.where(name='Müller')"],
          },
        ],
      },
    });
    expect(await send(deliverer())).toMatchObject({
      detail: 'HTTP 422; invalid at DiagnosticReport.status',
    });
  });
});

test('a transaction with one entry that the EHR refuses leaves nothing there', async () => {
  await ehr.put(patient);
  const before = await counts();
  const subject = sampleSubject(REQUEST);
  const [instance] = subject.instances;
  if (!instance) throw new Error('the sample has an instance');
  const broken = { ...subject, instances: [{ ...instance, sopInstanceUid: 'not a uid' }] };
  expect(await send(deliverer({}, broken))).toMatchObject({ code: 'ehr_rejected' });
  expect(await counts()).toEqual(before);
});

test('an EHR that refuses our ids gets the Provenance after the transaction, once', async () => {
  await ehr.close();
  ehr = await startFhirServer({
    capabilities: statementOf({ resource: [{ type: 'Provenance', updateCreate: false }] }),
  });
  await ehr.put(patient);
  const to = deliverer();
  ehr.fail('POST /Provenance', { kind: 'status', status: 503 });
  expect(await send(to)).toMatchObject({ failure: 'transient' });
  expect(await send(to)).toMatchObject({ outcome: 'delivered' });
  expect(await send(to)).toMatchObject({ outcome: 'delivered' });
  const [provenance, ...others] = await ehr.all('Provenance');
  expect(others).toEqual([]);
  const [report] = await ehr.all('DiagnosticReport');
  expect(provenance?.target[0]?.reference).toBe(`DiagnosticReport/${report?.id}`);
  expect(JSON.stringify(provenance)).not.toContain('urn:uuid:');
});

describe('a report that a person has touched', () => {
  test.each(['final', 'amended', 'entered-in-error'] as const)(
    'is kept when it is %s',
    async (status) => {
      await ehr.put(patient);
      const to = deliverer();
      await send(to);
      const [report] = await ehr.all('DiagnosticReport');
      if (!report) throw new Error('no report');
      await ehr.put({ ...report, status, conclusion: 'Seen by a person.' });
      expect(await send(to)).toMatchObject({ failure: 'permanent', code: 'ehr_already_verified' });
      const [kept] = await ehr.all('DiagnosticReport');
      expect(kept?.conclusion).toBe('Seen by a person.');
    },
  );
});

describe('the patient', () => {
  test('who is not there yet is waited for', async () => {
    expect(await send(deliverer())).toMatchObject({
      failure: 'transient',
      code: 'ehr_patient_not_found',
    });
    expect(await ehr.all('DiagnosticReport')).toEqual([]);
  });

  test('is created once where the site allows it', async () => {
    const to = deliverer({ createPatient: true });
    await send(to);
    await send(to);
    const patients = await ehr.all('Patient');
    expect(patients).toHaveLength(1);
    expect(patients[0]).toMatchObject({ birthDate: '1990-04-02', gender: 'female' });
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.subject?.reference).toBe(`Patient/${patients[0]?.id}`);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['two records', async () => [await ehr.put(patient), await ehr.put(patient)]],
    ['another birth date', () => ehr.put({ ...patient, birthDate: '1991-04-02' })],
    [
      'another sex and family name',
      () => ehr.put({ ...patient, gender: 'male', name: [{ family: 'Other' }] }),
    ],
    ['an inactive record', () => ehr.put({ ...patient, active: false })],
    [
      'a merged record',
      () =>
        ehr.put({ ...patient, link: [{ type: 'replaced-by', other: { reference: 'Patient/1' } }] }),
    ],
  ])('with %s is left to a person', async (_, prepare) => {
    await prepare();
    expect(await send(deliverer())).toMatchObject({
      failure: 'permanent',
      code: 'ehr_patient_ambiguous',
    });
    expect(await ehr.all('DiagnosticReport')).toEqual([]);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'another family name alone (marriage)',
      () => ehr.put({ ...patient, name: [{ family: 'Other' }] }),
    ],
    ['no demographics', () => ehr.put({ resourceType: 'Patient', identifier: patient.identifier })],
    ['the year of birth alone', () => ehr.put({ ...patient, birthDate: '1990' })],
    ['the same name without its diacritics', () => ehr.put(patient)],
  ])('with %s is taken', async (_, prepare) => {
    await prepare();
    expect(await send(deliverer())).toMatchObject({ outcome: 'delivered' });
  });

  test('of an unmapped issuer is refused before anybody is asked', async () => {
    const to = deliverer({}, sampleSubject(REQUEST, { IssuerOfPatientID: 'ELSEWHERE' }));
    expect(await send(to)).toMatchObject({ failure: 'permanent', code: 'ehr_issuer_unmapped' });
    expect(ehr.calls.map((call) => call.path)).not.toContain('/Patient/_search');
  });

  test('without issuer needs the entry "*"', async () => {
    await ehr.put(patient);
    const anonymousIssuer = sampleSubject(REQUEST, { IssuerOfPatientID: '' });
    expect(await send(deliverer({}, anonymousIssuer))).toMatchObject({
      code: 'ehr_issuer_unmapped',
    });
    const mapped = deliverer({ patientIdentifierSystems: { '*': MRN_SYSTEM } }, anonymousIssuer);
    expect(await send(mapped)).toMatchObject({ outcome: 'delivered' });
  });

  test('with the same number at another issuer is not ours', async () => {
    await ehr.put({ ...patient, identifier: [{ system: 'urn:oid:9', value: PATIENT_ID }] });
    expect(await send(deliverer())).toMatchObject({ code: 'ehr_patient_not_found' });
  });

  test('of a server that ignores the search parameter is not taken for ours', async () => {
    const stranger = { ...patient, id: '1', identifier: [{ system: MRN_SYSTEM, value: '999' }] };
    ehr.fail('POST /Patient/_search', {
      kind: 'status',
      status: 200,
      body: { resourceType: 'Bundle', type: 'searchset', entry: [{ resource: stranger }] },
    });
    expect(await send(deliverer())).toMatchObject({ code: 'ehr_patient_not_found' });
  });
});

describe('the PDF', () => {
  beforeEach(() => ehr.put(patient));

  test('up to the limit goes inline', async () => {
    await send(deliverer());
    expect(await ehr.all('Binary')).toEqual([]);
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.presentedForm?.[0]?.data).toBeDefined();
  });

  test('over the limit is one Binary, also after a retry', async () => {
    const to = deliverer({ inlinePdfMegabytes: 0 });
    await send(to);
    await send(to);
    const [binary, ...others] = await ehr.all('Binary');
    expect(others).toEqual([]);
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.presentedForm?.[0]).toMatchObject({ url: `Binary/${binary?.id}` });
    expect(report?.presentedForm?.[0]?.data).toBeUndefined();
  });

  test('that makes the body too large is sent again as a Binary', async () => {
    ehr.fail('POST /', { kind: 'status', status: 413 });
    expect(await send(deliverer())).toMatchObject({ outcome: 'delivered' });
    expect(await ehr.all('Binary')).toHaveLength(1);
  });
});

describe('key images', () => {
  const artifacts = ['overlay-biometry-1.png', 'overlay-biometry-2.png', 'growth-chart.png'].map(
    (name) => ({ name, media_type: 'image/png', bytes: 600_000, sha256: '', section: 'biometry' }),
  );

  beforeEach(async () => {
    await ehr.put(patient);
    for (const { name } of artifacts) await writeFile(join(folder, name), await noise());
  });

  /** A large PNG with nothing to compress: about 320 kB as the key image that is made of it. */
  const noise = () =>
    sharp({
      create: {
        width: 1200,
        height: 900,
        channels: 3,
        background: 'black',
        noise: { type: 'gaussian', mean: 128, sigma: 40 },
      },
    })
      .png()
      .toBuffer();

  const withImages = (settings: Partial<FhirDestination> = {}) =>
    deliverer(settings, sampleSubject(REQUEST), null, silentLogger, {
      result: async () => sampleResult({ artifacts }),
      artifactPath: async (_, name) => join(folder, name),
    });

  test('are the previews with calipers, once each', async () => {
    const to = withImages();
    await send(to);
    await send(to);
    const media = await ehr.all('Media');
    expect(media).toHaveLength(2);
    for (const { content } of media) {
      expect(content.contentType).toBe('image/jpeg');
      const picture = await sharp(Buffer.from(content.data ?? '', 'base64')).metadata();
      expect(picture).toMatchObject({ width: 960, height: 720 });
    }
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.media?.map((m) => m.link.reference).sort()).toEqual(
      media.map((m) => `Media/${m.id}`).sort(),
    );
  });

  test('are left out beyond the inline limit, and when the body is too large', async () => {
    await send(withImages({ inlinePdfMegabytes: 0.5 }));
    expect(await ehr.all('Media')).toHaveLength(1);
    ehr.fail('POST /', { kind: 'status', status: 413 });
    await send(withImages());
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.media).toBeUndefined();
  });
});

describe('credentials', () => {
  const SECRET = 's3cr3t-token';

  test.each<[string, (file: string) => FhirDestination['authorization'], string]>([
    ['bearer', (tokenFile) => ({ type: 'bearer', tokenFile }), `Bearer ${SECRET}`],
    [
      'basic',
      (passwordFile) => ({ type: 'basic', user: 'gw', passwordFile }),
      `Basic ${Buffer.from(`gw:${SECRET}`).toString('base64')}`,
    ],
  ])('%s from a file go with every call', async (_, authorization, expected) => {
    const file = join(folder, 'secret');
    await writeFile(file, `${SECRET}\n`);
    await ehr.put(patient);
    await send(deliverer({ authorization: authorization(file) }));
    expect(new Set(ehr.calls.map((call) => call.headers.authorization))).toEqual(
      new Set([expected]),
    );
  });

  test('are not sent on to where the EHR redirects', async () => {
    const elsewhere = await startFhirServer();
    const file = join(folder, 'secret');
    await writeFile(file, SECRET);
    const location = `${elsewhere.baseUrl}/Patient/_search`;
    ehr.fail('POST /Patient/_search', { kind: 'status', status: 307, headers: { location } });
    const to = deliverer({ authorization: { type: 'bearer', tokenFile: file } });
    expect(await send(to)).toMatchObject({ code: 'ehr_misconfigured' });
    expect(elsewhere.calls).toEqual([]);
    await elsewhere.close();
  });

  test('and the patient appear in no log line and in no outcome', async () => {
    const file = join(folder, 'secret');
    await writeFile(file, SECRET);
    const said: string[] = [];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void said.push(line) });
    const authorization = { type: 'bearer', tokenFile: file } as const;
    const to = deliverer({ authorization }, sampleSubject(REQUEST), null, logger);
    said.push(JSON.stringify(await send(to)));
    await ehr.put({ ...patient, birthDate: '1991-01-01' });
    said.push(JSON.stringify(await send(to)));
    await ehr.put({ ...patient, id: (await ehr.all('Patient'))[0]?.id });
    for (const status of [401, 422, 200]) {
      ehr.fail('POST /', { kind: 'status', status, body: { patient: PATIENT_ID } });
      said.push(JSON.stringify(await send(to)));
    }
    said.push(JSON.stringify(await send(to)));
    expect(said.at(-1)).toContain('delivered');
    expect(said.join()).not.toMatch(
      new RegExp(`${SECRET}|${PATIENT_ID}|M.ller|1990-04-02|1991-01-01`, 'i'),
    );
  });

  test('whose file is missing are an authorization failure', async () => {
    const to = deliverer({ authorization: { type: 'bearer', tokenFile: join(folder, 'none') } });
    expect(await send(to)).toMatchObject({ code: 'ehr_unauthorized' });
  });
});

test.each<[string, () => Deliverer, object]>([
  [
    'a request without a patient',
    () => deliverer({}, null),
    { failure: 'permanent', code: 'ehr_patient_not_found' },
  ],
  [
    'a destination that is gone',
    () => deliverer({ name: 'other' }),
    { failure: 'permanent', code: 'invalid_config' },
  ],
])('%s cannot be sent', async (_, to, expected) => {
  expect(await send(to())).toMatchObject(expected);
});

/** How many resources the EHR holds, of each type a bundle creates. */
async function counts(): Promise<Record<string, number>> {
  const types = [
    'Device',
    'ImagingStudy',
    'Observation',
    'Media',
    'DocumentReference',
    'DiagnosticReport',
    'Provenance',
    'Patient',
  ] as const;
  const found = await Promise.all(types.map((type) => ehr.all(type)));
  return Object.fromEntries(types.map((type, index) => [type, found[index]?.length ?? 0]));
}
