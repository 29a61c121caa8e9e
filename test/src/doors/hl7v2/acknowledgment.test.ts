import { describe, expect, test } from 'vitest';
import { outcomeOfAcknowledgment } from '../../../../src/doors/hl7v2/deliver.ts';

const answer = (...segments: string[]) =>
  outcomeOfAcknowledgment(Buffer.from(['MSH|^~\\&|HIS', ...segments, ''].join('\r')), 'C1');

describe('an acknowledgment', () => {
  test.each(['AA', 'CA'])('%s counts as delivered', (code) => {
    expect(answer(`MSA|${code}|C1`)).toMatchObject({ outcome: 'delivered' });
  });

  test.each([
    ['AE', 'ERR||PID^1^3|101^Required field missing|E', 'permanent', 'receiver_rejected'],
    ['CE', 'ERR|||102|E', 'permanent', 'receiver_rejected'],
    ['AE', 'ERR|||206|E', 'transient', 'receiver_busy'],
    ['AE', 'ERR|||207|E', 'transient', 'receiver_busy'],
    ['AE', 'ERR|PID^1^3^207', 'transient', 'receiver_busy'],
    ['AR', 'ERR|||207|E', 'transient', 'receiver_busy'],
    ['AR', 'NTE|1', 'transient', 'receiver_busy'],
    ['CR', 'ERR|||203|E', 'permanent', 'receiver_rejected'],
    ['AR', 'ERR|||200|E', 'permanent', 'receiver_rejected'],
  ])('%s with %s is %s', (code, error, failure, reason) => {
    expect(answer(`MSA|${code}|C1`, error)).toMatchObject({ failure, code: reason });
  });

  test.each([
    ['names another message', 'MSA|AA|C2'],
    ['has no MSA', 'PID|1'],
    ['has an unknown code', 'MSA|ZZ|C1'],
  ])('that %s is ambiguous', (_, line) => {
    expect(answer(line)).toMatchObject({ failure: 'ambiguous', code: 'peer_answer_unclear' });
  });

  test('that is not a message is ambiguous', () => {
    expect(outcomeOfAcknowledgment(Buffer.from('HTTP/1.1 400'), 'C1')).toMatchObject({
      failure: 'ambiguous',
    });
  });

  test("is reported with error code and location, without the receiver's text about the patient", () => {
    const outcome = answer('MSA|AE|C1|Roe Jane', 'ERR||PID^1^5|101|E|||Roe^Jane 1990');
    expect(outcome.detail).toBe('Acknowledgment AE; error 101 at PID-1-5');
  });
});
