import { afterAll, beforeAll, expect, it, test } from 'vitest';
import type { StoreOutcome, StoreTransaction } from '../../../../../src/core/studies/store-port.ts';
import { SonogateError } from '../../../../../src/platform/errors/catalogue.ts';
import { type Gateway, read, startGateway } from '../gateway.ts';

const OBJECT = {
  sopClassUid: '1.2',
  sopInstanceUid: '1.2.3',
  within: { study: '1.5', series: '1.6' },
};
const REFUSED = { sopClassUid: '1.2', sopInstanceUid: '1.2.4', reason: 0xa900, transient: false };
const CONGESTED = { ...REFUSED, reason: 0xa700, transient: true };

let gateway: Gateway;
let answer: () => StoreOutcome;
const seen: StoreTransaction[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    storeInstances: async (transaction) => {
      seen.push(transaction);
      transaction.body.resume();
      return answer();
    },
  });
});
afterAll(() => gateway.stop());

const outcome = (over: Partial<StoreOutcome> = {}): StoreOutcome => ({
  stored: [],
  failed: [],
  unreadable: [],
  ...over,
});
const store = async (key: string | null, path = '/dicomweb/studies', accept?: string) =>
  gateway.call(path, {
    key,
    method: 'POST',
    headers: { 'content-type': 'multipart/related', ...(accept && { accept }) },
  });

test.each([
  [200, 'all were stored', { stored: [OBJECT] }],
  [202, 'one of two was', { stored: [OBJECT], failed: [REFUSED] }],
  [202, 'a part held no object', { stored: [OBJECT], unreadable: [0xc000] }],
  [409, 'none was', { failed: [REFUSED] }],
  [409, 'none was, one of them for now', { failed: [REFUSED, CONGESTED] }],
  [409, 'nothing could be read', { unreadable: [0xc000] }],
])('%i: %s', async (status, _, over) => {
  answer = () => outcome(over);
  const response = await store(await gateway.key({ scopes: ['store'] }));
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toContain('application/dicom+json');
  const { stored = [] } = over as Partial<StoreOutcome>;
  expect('00081199' in ((await response.json()) as object)).toBe(stored.length > 0);
});

it('names the addresses from which the study and the object can be retrieved', async () => {
  const urls = async () => {
    const response = await store(await gateway.key({ scopes: ['store'] }));
    const { '00081190': study, '00081199': stored } = (await response.json()) as Record<
      string,
      { Value?: unknown[] }
    >;
    const [first] = (stored?.Value ?? []) as Record<string, { Value?: unknown[] }>[];
    return [study?.Value, first?.['00081190']?.Value];
  };
  answer = () => outcome({ stored: [OBJECT] });
  expect(await urls()).toEqual([
    [`${gateway.url}/dicomweb/studies/1.5`],
    [`${gateway.url}/dicomweb/studies/1.5/series/1.6/instances/1.2.3`],
  ]);
  // Objects of several studies have no common address.
  answer = () => outcome({ stored: [{ ...OBJECT, within: null }, OBJECT], failed: [REFUSED] });
  expect(await urls()).toEqual([undefined, undefined]);
});

it('answers in XML, if the sender prefers that', async () => {
  const key = await gateway.key({ scopes: ['store'] });
  answer = () => outcome({ stored: [OBJECT], failed: [{ ...REFUSED, sopInstanceUid: '<&>' }] });
  const response = await store(key, undefined, 'application/dicom+xml, */*;q=0.1');
  expect(response.status).toBe(202);
  expect(response.headers.get('content-type')).toBe('application/dicom+xml');
  const url = `${gateway.url}/dicomweb/studies/1.5`;
  const value = (text: string | number) => `<Value number="1">${text}</Value></DicomAttribute>`;
  expect(await response.text()).toBe(
    [
      '<?xml version="1.0" encoding="UTF-8"?>\n',
      '<NativeDicomModel xmlns="http://dicom.nema.org/PS3.19/models/NativeDICOM" xml:space="preserve">',
      `<DicomAttribute tag="00081190" vr="UR" keyword="RetrieveURL">${value(url)}`,
      '<DicomAttribute tag="00081198" vr="SQ" keyword="FailedSOPSequence"><Item number="1">',
      `<DicomAttribute tag="00081150" vr="UI" keyword="ReferencedSOPClassUID">${value('1.2')}`,
      `<DicomAttribute tag="00081155" vr="UI" keyword="ReferencedSOPInstanceUID">${value('&lt;&amp;&gt;')}`,
      `<DicomAttribute tag="00081197" vr="US" keyword="FailureReason">${value(0xa900)}`,
      '</Item></DicomAttribute>',
      '<DicomAttribute tag="00081199" vr="SQ" keyword="ReferencedSOPSequence"><Item number="1">',
      `<DicomAttribute tag="00081150" vr="UI" keyword="ReferencedSOPClassUID">${value('1.2')}`,
      `<DicomAttribute tag="00081155" vr="UI" keyword="ReferencedSOPInstanceUID">${value('1.2.3')}`,
      `<DicomAttribute tag="00081190" vr="UR" keyword="RetrieveURL">${value(`${url}/series/1.6/instances/1.2.3`)}`,
      '</Item></DicomAttribute></NativeDicomModel>',
    ].join(''),
  );
  const other = await store(key, undefined, 'text/html');
  expect(other.headers.get('content-type')).toContain('application/dicom+json');
});

test.each([
  ['none was taken for now', () => outcome({ failed: [CONGESTED] })],
  [
    'nothing is taken for now',
    () => {
      throw new SonogateError('overloaded');
    },
  ],
])('503 and when to retry: %s', async (_, answered) => {
  answer = answered;
  const response = await store(await gateway.key({ scopes: ['store'] }));
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
});

it('passes on the name of the key and the study in the path', async () => {
  answer = () => outcome({ stored: [OBJECT] });
  await store(await gateway.key({ name: 'cart-7', scopes: ['store'] }), '/dicomweb/studies/1.2.3');
  expect(seen.at(-1)).toMatchObject({ keyName: 'cart-7', study: '1.2.3' });
});

test.each([
  ['no key', null, '/dicomweb/studies', 401],
  ['a key for everything else', ['run', 'read', 'uploads'], '/dicomweb/studies', 403],
  ['a test key', 'test', '/dicomweb/studies', 403],
  ['a study that is no UID', ['store'], '/dicomweb/studies/abc', 400],
  ['a UID with a leading zero', ['store'], '/dicomweb/studies/1.02', 400],
  ['a UID of 65 characters', ['store'], `/dicomweb/studies/1.${'2'.repeat(63)}`, 400],
] as const)('%s is refused', async (_, scopes, path, status) => {
  const before = seen.length;
  const key =
    scopes === null
      ? null
      : await gateway.key(
          scopes === 'test' ? { test: true, scopes: ['store'] } : { scopes: [...scopes] },
        );
  const response = await store(key, path);
  expect(response.status).toBe(status);
  expect((await read(response)).code).toEqual(expect.any(String));
  expect(seen).toHaveLength(before);
});
