import { describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES, webhookBody } from '../../../../src/core/requests/announce.ts';
import type { RequestObject } from '../../../../src/core/requests/view.ts';

const ENDED = {
  id: 'req_1',
  object: 'request',
  status: 'succeeded',
  input: { files: ['file_1'] },
  output: { texts: ['hello'] },
  error: null,
} as RequestObject;

const SUCCEEDED = { event: 'request.succeeded', triage: [] } as const;

const told = (over: object, shape: 'request' | 'queue' = 'request') =>
  JSON.parse(webhookBody({ ...ENDED, ...over }, shape, SUCCEEDED)) as Record<string, unknown>;

/** Returns the request with a field that makes its body exactly `bytes` long. */
const ofLength = (bytes: number) => {
  const bare = Buffer.byteLength(JSON.stringify({ ...ENDED, output: '', ...SUCCEEDED }));
  return { output: 'x'.repeat(bytes - bare) };
};

describe('the body of a webhook', () => {
  it('is the request object up to 20 kB, and omits its output beyond that', () => {
    expect(told(ofLength(MAX_BODY_BYTES))).not.toHaveProperty('output_omitted');
    expect(told(ofLength(MAX_BODY_BYTES + 1))).toEqual({
      ...ENDED,
      ...SUCCEEDED,
      output: null,
      output_omitted: true,
    });
  });

  it('also omits the input if that is what makes it long', () => {
    const files = Array.from({ length: 1000 }, (_, n) => `https://pacs.example/${n}.dcm`);
    expect(told({ input: { files } })).toEqual({
      ...ENDED,
      ...SUCCEEDED,
      input: null,
      input_omitted: true,
      output: null,
      output_omitted: true,
    });
  });
});

describe('the body of a webhook of the compatible queue', () => {
  const error = { detail: 'a.png: not an image' };

  it.each([
    ['succeeded', {}, { status: 'OK', payload: { texts: ['hello'] } }],
    ['failed', { output: null, error }, { status: 'ERROR', payload: null, error: error.detail }],
    ['rejected', { output: null, error }, { status: 'ERROR', payload: null, error: error.detail }],
    [
      'expired',
      { output: null },
      { status: 'OK', payload: null, payload_error: 'The result has been purged.' },
    ],
  ])('of a request that has %s', (status, over, expected) => {
    expect(told({ status, ...over }, 'queue')).toEqual({
      request_id: 'req_1',
      gateway_request_id: 'req_1',
      ...expected,
    });
  });

  it('states where a result is that makes it longer than 20 kB', () => {
    expect(told(ofLength(2 * MAX_BODY_BYTES), 'queue')).toMatchObject({
      status: 'OK',
      payload: null,
      payload_error: expect.stringContaining('too large'),
    });
  });
});
