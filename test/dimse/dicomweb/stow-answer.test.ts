import { describe, expect, test } from 'vitest';
import {
  type StowAnswer,
  serverTrouble,
  storeResults,
  unsupportedClass,
} from '../../../dimse/dicomweb/stow-transport.ts';
import { outgoingBuffer } from '../../../dimse/send/store-scu.ts';
import { catalogueEntry } from '../../../src/platform/errors/catalogue.ts';
import { dicomFile } from '../dicom-file.ts';

const OBJECT = outgoingBuffer(dicomFile({ sopInstanceUid: '1.1' }));
const OTHER = outgoingBuffer(dicomFile({ sopInstanceUid: '1.2' }));

const item = (uid: string, reason: Record<string, unknown> = {}) => ({
  '00081155': { vr: 'UI', Value: [uid] },
  ...reason,
});
const failureReason = (value: number) => ({ '00081197': { vr: 'US', Value: [value] } });
const warningReason = (value: number) => ({ '00081196': { vr: 'US', Value: [value] } });
const response = (stored: object[], failed: object[] = []) => ({
  ...(stored.length > 0 && { '00081199': { vr: 'SQ', Value: stored } }),
  ...(failed.length > 0 && { '00081198': { vr: 'SQ', Value: failed } }),
});
const answered = (status: number, body: unknown = '', retryAfter = ''): StowAnswer => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'answered', status, retryAfter, body: text };
};
const judge = (answer: StowAnswer) => storeResults(answer, [OBJECT])[0];

describe('a response that lists the objects', () => {
  test('as stored means that they are delivered', () => {
    expect(judge(answered(200, response([item('1.1')])))).toMatchObject({
      outcome: 'stored',
      status: 0,
      code: null,
      detail: 'HTTP 200',
    });
  });

  test.each([
    [0xb000, 'B000H'],
    [0xb006, 'B006H'],
    [0xb007, 'B007H'],
  ])('as stored with warning %i means that they are delivered, with a remark', (reason, said) => {
    expect(judge(answered(202, response([item('1.1', warningReason(reason))])))).toMatchObject({
      outcome: 'warning',
      code: null,
      detail: `HTTP 202, warning ${said}`,
    });
  });

  test.each([
    [0xa6ff, 'peer_refused_object', 'permanent'],
    [0xa700, 'peer_out_of_resources', 'transient'],
    [0xa7ff, 'peer_out_of_resources', 'transient'],
    [0xa900, 'peer_refused_object', 'permanent'],
    [0xc000, 'peer_refused_object', 'permanent'],
    [0xc122, 'peer_refused_object', 'permanent'],
    [0x010f, 'peer_refused_object', 'permanent'],
    [0x0110, 'peer_processing_failure', 'transient'],
    [0x0112, 'peer_refused_object', 'permanent'],
    [0x0122, 'peer_refused_object', 'permanent'],
  ] as const)('as refused for reason %i is %s', (reason, code, retry) => {
    const result = judge(answered(409, response([], [item('1.1', failureReason(reason))])));
    expect(result).toMatchObject({ outcome: 'failed', code });
    expect(catalogueEntry(code).retry).toBe(retry);
  });

  test('as already known means that they are delivered, with a remark', () => {
    const known = judge(answered(409, response([], [item('1.1', failureReason(0x0111))])));
    expect(known).toEqual({
      sopClassUid: OBJECT.sopClassUid,
      sopInstanceUid: '1.1',
      outcome: 'warning',
      status: 0x0111,
      code: null,
      detail: 'HTTP 409, failure reason 0111H (the peer has the object already)',
    });
  });

  test('is evaluated for each object separately, in any order', () => {
    const body = response([item('1.2')], [item('1.1', failureReason(0xa700))]);
    expect(storeResults(answered(202, body), [OBJECT, OTHER])).toMatchObject([
      { code: 'peer_out_of_resources' },
      { code: null },
    ]);
  });

  test.each([
    ['an item without a UID', {}],
    ['an item with an empty UID', { '00081155': { vr: 'UI' } }],
    ['an item with two UIDs', { '00081155': { vr: 'UI', Value: ['1.3', '1.4'] } }],
    ['text in place of an item', 'x'],
    ['an empty item', null],
  ])('is evaluated for the other objects despite %s', (_, broken) => {
    const body = {
      '00081199': { vr: 'SQ', Value: [broken, item('1.2')] },
      '00081198': { vr: 'SQ', Value: [item('1.1', failureReason(0xa700)), broken] },
    };
    expect(storeResults(answered(202, body), [OBJECT, OTHER])).toMatchObject([
      { code: 'peer_out_of_resources' },
      { code: null },
    ]);
  });

  test.each([
    ['of the warning', '00081199', '00081196', null],
    ['of the failure', '00081198', '00081197', 'peer_processing_failure'],
  ])('is evaluated although the reason %s is malformed', (_, list, reason, code) => {
    const broken = item('1.1', { [reason]: { vr: 'US', Value: ['B000H'] } });
    const body = { [list]: { vr: 'SQ', Value: [broken] } };
    expect(judge(answered(202, body))).toMatchObject({ code });
  });

  test('is evaluated although one of its lists is malformed', () => {
    const body = { '00081199': { Value: [item('1.1')] }, '00081198': { Value: 'none' } };
    expect(judge(answered(200, body))).toMatchObject({ code: null });
  });

  test('can also be an array with one member', () => {
    expect(judge(answered(200, [response([item('1.1')])]))).toMatchObject({ code: null });
  });

  test('with a failure that has no reason is a failure', () => {
    expect(judge(answered(409, response([], [item('1.1')])))).toMatchObject({
      code: 'peer_processing_failure',
      status: 0x0110,
    });
  });
});

describe('a response that does not list the object', () => {
  test.each([
    ['200 without a body', answered(200), 'peer_answer_unclear'],
    ['200 with a page', answered(200, '<html/>'), 'peer_answer_unclear'],
    ['200 with empty lists', answered(200, { '00081199': { vr: 'SQ' } }), 'peer_answer_unclear'],
    ['202: some were, but which?', answered(202), 'peer_answer_unclear'],
    ['202 that names another', answered(202, response([item('9')])), 'peer_answer_unclear'],
    ['409: none was', answered(409), 'peer_refused_object'],
    ['204 is no answer of a store', answered(204), 'peer_answer_unclear'],
  ])('%s', (_, answer, code) => {
    expect(judge(answer)?.code).toBe(code);
  });
});

describe('HTTP status', () => {
  test.each([
    [301, 'invalid_config', 'permanent'],
    [400, 'peer_refused_object', 'permanent'],
    [401, 'peer_unauthorized', 'transient'],
    [403, 'peer_unauthorized', 'transient'],
    [404, 'peer_unavailable', 'transient'],
    [405, 'invalid_config', 'permanent'],
    [408, 'peer_unavailable', 'transient'],
    [413, 'peer_refused_object', 'permanent'],
    [415, 'peer_refused_object', 'permanent'],
    [429, 'peer_unavailable', 'transient'],
    [500, 'peer_unavailable', 'transient'],
    [503, 'peer_unavailable', 'transient'],
    [507, 'peer_unavailable', 'transient'],
  ] as const)('%i: %s, %s', (status, code, retry) => {
    expect(judge(answered(status))?.code).toBe(code);
    expect(catalogueEntry(code).retry).toBe(retry);
  });

  test.each([
    [503, '120', 120],
    [503, '', undefined],
    [503, 'Wed, 21 Oct 2099 07:28:00 GMT', 3600],
    [503, 'soon', undefined],
    [401, '', 300],
    [401, '10', 10],
    [503, '3600', 3600],
    [503, '3601', 3600],
  ])('%i with Retry-After "%s" waits %s seconds', (status, retryAfter, seconds) => {
    expect(judge(answered(status, '', retryAfter))?.retryAfter).toBe(seconds);
  });
});

test.each([
  ['before anything left', false, 'peer_unreachable', 'transient'],
  ['after a part had left', true, 'peer_connection_lost', 'ambiguous'],
] as const)('a connection lost %s', (_, begun, code, retry) => {
  expect(judge({ kind: 'lost', begun, detail: 'ECONNRESET' })?.code).toBe(code);
  expect(catalogueEntry(code).retry).toBe(retry);
});

test.each([
  [0x0122, true],
  [0xc122, true],
  [0xa900, false],
])('after failure reason %i, another form is worth trying: %s', (reason, hope) => {
  const result = judge(answered(409, response([], [item('1.1', failureReason(reason))])));
  expect(unsupportedClass(result)).toBe(hope);
});

test.each([
  ['finds nothing', answered(204), null],
  ['has no search', answered(404), null],
  ['has not implemented it', answered(501), null],
  ['refuses the query', answered(400), null],
  ['is behind a broken proxy', answered(502), 'peer_unavailable'],
  ['refuses our credentials', answered(401), 'peer_unauthorized'],
  ['has had enough', answered(429), 'peer_unavailable'],
  ['is not there', { kind: 'lost', begun: false, detail: 'ECONNREFUSED' }, 'peer_unreachable'],
] as [string, StowAnswer, string | null][])('a server that %s', (_, answer, code) => {
  expect(serverTrouble(answer)).toBe(code);
});
