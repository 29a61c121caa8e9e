import { describe, expect, test } from 'vitest';
import { classifyFetchError } from '../../../fhir/client/client.ts';
import { classifyStatus } from '../../../fhir/client/outcome.ts';

describe('an HTTP status', () => {
  test.each([
    [200, 'permanent', 'ehr_misconfigured'],
    [202, 'ambiguous', 'ehr_ambiguous'],
    [301, 'permanent', 'ehr_misconfigured'],
    [308, 'permanent', 'ehr_misconfigured'],
    [400, 'permanent', 'ehr_rejected'],
    [401, 'transient', 'ehr_unauthorized'],
    [403, 'transient', 'ehr_unauthorized'],
    [404, 'transient', 'ehr_unavailable'],
    [405, 'permanent', 'ehr_rejected'],
    [406, 'permanent', 'ehr_misconfigured'],
    [408, 'transient', 'ehr_unavailable'],
    [409, 'permanent', 'ehr_rejected'],
    [410, 'permanent', 'ehr_rejected'],
    [412, 'permanent', 'ehr_rejected'],
    [413, 'permanent', 'ehr_rejected'],
    [415, 'permanent', 'ehr_misconfigured'],
    [422, 'permanent', 'ehr_rejected'],
    [423, 'transient', 'ehr_unavailable'],
    [425, 'transient', 'ehr_unavailable'],
    [429, 'transient', 'ehr_unavailable'],
    [500, 'transient', 'ehr_unavailable'],
    [501, 'permanent', 'ehr_rejected'],
    [502, 'transient', 'ehr_unavailable'],
    [503, 'transient', 'ehr_unavailable'],
    [504, 'transient', 'ehr_unavailable'],
    [599, 'transient', 'ehr_unavailable'],
  ])('%i is %s, %s', (status, failure, code) => {
    expect(classifyStatus(status, undefined)).toMatchObject({ failure, code, status });
  });

  test("412 repeats the EHR's explanation, without identity", () => {
    const body = {
      resourceType: 'OperationOutcome',
      issue: [
        {
          code: 'processing',
          diagnostics:
            'Failed to CREATE resource with match URL "Patient?identifier=urn:oid:1.2|4711" because this search matched 2 resources: BEISPIEL zoe, mueller 12.03.1994 MRN 00815',
        },
      ],
    };
    const { detail } = classifyStatus(412, body);
    expect(detail).toBe(
      'HTTP 412; processing: Failed to CREATE resource with match URL … because this search matched 2 resources …',
    );
    expect(classifyStatus(400, body).detail).toBe('HTTP 400; processing');
  });

  test.each([405, 501])('%i leads to a simpler interaction', (status) => {
    expect(classifyStatus(status, undefined).simpler).toBe(true);
  });

  test('404 of a FHIR server concerns the report, and of any other server the address', () => {
    const issue = [{ severity: 'error', code: 'not-found' }];
    const told = classifyStatus(404, { resourceType: 'OperationOutcome', issue });
    expect(told).toMatchObject({ failure: 'permanent', code: 'ehr_rejected' });
    expect(told.retryAfter).toBeUndefined();
    expect(classifyStatus(404, undefined).retryAfter).toBe(300);
  });

  test('pauses the destination when the credentials are refused, or for as long as the EHR requests', () => {
    expect(classifyStatus(401, undefined).retryAfter).toBeGreaterThan(0);
    expect(classifyStatus(401, undefined, 7).retryAfter).toBe(7);
    expect(classifyStatus(503, undefined).retryAfter).toBeUndefined();
  });
});

describe('an OperationOutcome', () => {
  const outcome = (...codes: string[]) => ({
    resourceType: 'OperationOutcome',
    issue: codes.map((code) => ({ severity: 'error', code })),
  });

  test('that contains only passing issues makes a rejection transient', () => {
    expect(classifyStatus(422, outcome('throttled', 'timeout')).failure).toBe('transient');
    expect(classifyStatus(422, outcome('throttled', 'invalid')).failure).toBe('permanent');
  });

  test.each<[string, unknown]>([
    ['text', 'Internal error'],
    ['null', null],
    ['another resource', { resourceType: 'Patient', issue: [{ code: 'timeout' }] }],
    ['issues of the wrong shape', { resourceType: 'OperationOutcome', issue: [null] }],
    ['no issues', { resourceType: 'OperationOutcome' }],
  ])('that is malformed is ignored: %s', (_, body) => {
    expect(classifyStatus(422, body).detail).toBe('HTTP 422');
  });

  test('is shown by code and path, with at most five issues', () => {
    const { detail } = classifyStatus(422, outcome(...Array(9).fill('invalid'), 'x'.repeat(99)));
    expect(detail).toBe('HTTP 422; invalid; invalid; invalid; invalid; invalid');
  });

  test('whose code is free text is not quoted', () => {
    expect(classifyStatus(400, outcome('Jane Doe 1990')).detail).toBe('HTTP 400; issue');
  });
});

describe('a network error', () => {
  const fetchFailed = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('secret'), { code }) });

  test.each([
    ['ECONNREFUSED', 'write', 'transient'],
    ['ENOTFOUND', 'write', 'transient'],
    ['UND_ERR_CONNECT_TIMEOUT', 'write', 'transient'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'write', 'transient'],
    ['ECONNRESET', 'write', 'ambiguous'],
    ['UND_ERR_SOCKET', 'write', 'ambiguous'],
    ['ECONNRESET', 'read', 'transient'],
  ] as const)('%s during a %s is %s', (code, interaction, failure) => {
    const classified = classifyFetchError(fetchFailed(code), interaction);
    expect(classified.failure).toBe(failure);
    expect(classified.detail).toContain(code);
    expect(classified.detail).not.toContain('secret');
  });
});
