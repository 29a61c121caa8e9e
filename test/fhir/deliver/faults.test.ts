import { beforeEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../peers/fhir-server.ts';
import { PATIENT, withEhr } from '../delivering.ts';
import { PATIENT_ID } from '../sample.ts';

const site = withEhr();
const { deliverer, send } = site;

describe('a lost connection', () => {
  beforeEach(() => site.ehr.put(PATIENT));

  test('after the commit is ambiguous, and the retry leaves one report', async () => {
    site.ehr.fail('POST /', { kind: 'cut-after-commit' });
    const to = deliverer();
    expect(await send(to)).toMatchObject({ failure: 'ambiguous', code: 'ehr_ambiguous' });
    const before = await site.counts();
    expect(before.DiagnosticReport).toBe(1);
    expect(await send(to, 2)).toMatchObject({ outcome: 'delivered' });
    expect(await site.counts()).toEqual(before);
  });

  test('while searching is transient', async () => {
    site.ehr.fail('POST /Patient/_search', { kind: 'cut-before' });
    expect(await send(deliverer())).toMatchObject({
      failure: 'transient',
      code: 'ehr_unavailable',
    });
  });

  test('through a slow response to the transaction is ambiguous', async () => {
    site.ehr.fail('POST /', { kind: 'slow', milliseconds: 1500 });
    expect(await send(deliverer({ timeoutSeconds: 0.5 }))).toMatchObject({ failure: 'ambiguous' });
  });

  test('because no server listens is transient', async () => {
    const to = deliverer({ baseUrl: 'http://127.0.0.1:9/fhir' });
    expect(await send(to)).toMatchObject({ failure: 'transient', code: 'ehr_unavailable' });
  });
});

describe('an EHR that accepts now but writes later', () => {
  beforeEach(() => site.ehr.put(PATIENT));

  test('is asked for the report until it exists', async () => {
    site.ehr.fail('POST /', { kind: 'accepted', milliseconds: 300 });
    expect(await send(deliverer())).toMatchObject({
      outcome: 'delivered',
      detail: expect.stringMatching(/^DiagnosticReport\/\S+/),
    });
    expect(await site.ehr.all('DiagnosticReport')).toHaveLength(1);
  });

  test('receives the report again if it does not appear in time, and then has one', async () => {
    site.ehr.fail('POST /', { kind: 'status', status: 202 });
    const to = deliverer({ timeoutSeconds: 1 });
    expect(await send(to)).toMatchObject({ failure: 'ambiguous', code: 'ehr_ambiguous' });
    expect(await send(to)).toMatchObject({ outcome: 'delivered' });
    expect(await site.ehr.all('DiagnosticReport')).toHaveLength(1);
  });
});

describe('an EHR that refuses', () => {
  beforeEach(() => site.ehr.put(PATIENT));

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
    site.ehr.fail('POST /', fault, times);
    expect(await send(deliverer())).toMatchObject(expected);
  });

  test.each([
    ['409 three times', 409, 3],
    ['412 once', 412, 1],
  ])('with %s gets the bundle rebuilt', async (_, status, times) => {
    site.ehr.fail('POST /', { kind: 'status', status }, times);
    expect(await send(deliverer())).toMatchObject({ outcome: 'delivered' });
  });

  test('with 429 states how long to wait', async () => {
    site.ehr.fail('POST /', { kind: 'status', status: 429, headers: { 'retry-after': '3' } });
    expect(await send(deliverer())).toMatchObject({ failure: 'transient', retryAfter: 3 });
  });

  test('with 500 is retried up to five attempts and then left to a person', async () => {
    site.ehr.fail('POST /', { kind: 'status', status: 500 }, 5);
    const to = deliverer();
    for (const attempt of [1, 2, 3, 4]) {
      expect(await send(to, attempt)).toMatchObject({ failure: 'transient' });
    }
    expect(await send(to, 5)).toMatchObject({ failure: 'permanent' });
  });

  test('with 500 gets five attempts even after many attempts that failed otherwise', async () => {
    site.ehr.fail('POST /', { kind: 'status', status: 500 }, 4);
    const to = deliverer();
    for (const attempt of [40, 41, 42, 43]) {
      expect(await send(to, attempt)).toMatchObject({ failure: 'transient' });
    }
    site.ehr.fail('POST /', { kind: 'status', status: 503 });
    expect(await send(to, 44)).toMatchObject({ failure: 'transient' });
    site.ehr.fail('POST /', { kind: 'status', status: 500 });
    expect(await send(to, 45)).toMatchObject({ failure: 'transient' });
  });

  test('with 500 gets five more attempts once a person has sent the report again', async () => {
    site.ehr.fail('POST /', { kind: 'status', status: 500 }, 6);
    const to = deliverer();
    for (const attempt of [1, 2, 3, 4]) await send(to, attempt);
    expect(await send(to, 5)).toMatchObject({ failure: 'permanent' });
    expect(await send(to, 6)).toMatchObject({ failure: 'transient' });
  });

  test('with a transient issue under a permanent status is retried', async () => {
    const body = {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'error', code: 'lock-error' }],
    };
    site.ehr.fail('POST /', { kind: 'status', status: 400, body });
    expect(await send(deliverer())).toMatchObject({ failure: 'transient' });
  });

  test('returns a detail that shows the place but not the patient', async () => {
    site.ehr.fail('POST /', {
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
