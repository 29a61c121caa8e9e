import { expect, test } from 'vitest';
import { describeBreaker, describeDelivery, replay } from '../../../../src/app/cli/deliveries.ts';

const row = {
  id: 'dlv_1',
  request_id: 'req_1',
  kind: 'dicom',
  destination: 'pacs',
  object: 'sr-tid1500',
  state: 'pending',
  attempt: 0,
  result_revision: 0,
  attempts_before: 0,
  lost_attempts: 0,
  next_at: '2026-11-21T07:00:00.123Z',
  give_up_at: '2026-11-24T07:00:00.000Z',
  code: null,
  detail: null,
  not_sent: false,
  maybe_received: false,
  created_at: '2026-11-21T07:00:00.000Z',
  ended_at: null,
  committed_at: null,
  study: null,
  revision: null,
  rank: 0,
  own_failures: 0,
  alternate_of: null,
  closed: null,
} as const;

test.each([
  ['that nobody has tried', {}, 'waiting in the queue'],
  [
    'that failed once',
    { attempt: 1, code: 'peer_unreachable', detail: 'ECONNREFUSED' },
    'failed once, again at 2026-11-21T07:00:00Z; The peer cannot be reached (peer_unreachable): ECONNREFUSED; nothing is listening on that port: is the peer running, and is the port correct?',
  ],
  ['under way', { state: 'sending', attempt: 2 }, 'being sent, attempt 2'],
  ['at its end', { state: 'delivered' }, 'delivered'],
  [
    'that the PACS keeps',
    { state: 'delivered', committed_at: '2026-11-21T07:00:00.000Z' },
    'delivered and committed',
  ],
  [
    'that was not sent',
    { state: 'delivered', not_sent: true, detail: 'Not sent: the EHR already has a later result' },
    'Not sent: the EHR already has a later result',
  ],
  ['given up', { state: 'dead' }, 'failed permanently, action needed'],
  [
    'that a person closed',
    {
      state: 'closed',
      closed: { at: '2026-11-25T07:00:00.123Z', by: 'Sam', reason: 'The PACS was replaced' },
      code: 'peer_unreachable',
      detail: 'ECONNREFUSED',
    },
    'closed by Sam at 2026-11-25T07:00:00Z: The PACS was replaced; The peer cannot be reached (peer_unreachable): ECONNREFUSED; nothing is listening on that port: is the peer running, and is the port correct?',
  ],
] as const)('a delivery %s', (_, over, words) => {
  expect(describeDelivery({ ...row, ...over })).toBe(`dlv_1  req_1 sr-tid1500 → pacs: ${words}`);
});

test('two deliveries of one object refer to each other', () => {
  const ambiguous = { state: 'diverted', code: 'peer_connection_lost', detail: 'x' } as const;
  expect(describeDelivery({ ...row, ...ambiguous })).toContain(
    'diverted to another destination; the original one may have received it, too',
  );
  const alternate = { ...row, id: 'dlv_2', destination: 'archive', alternate_of: 'dlv_1' };
  expect(describeDelivery(alternate)).toContain('→ archive (instead of dlv_1)');
});

test('a paused destination states since when, why and until when', () => {
  expect(
    describeBreaker({
      destination: 'pacs',
      state: 'open',
      failures: 5,
      code: 'peer_unreachable',
      opened_at: '2026-11-21T07:00:00.000Z',
      probe_at: '2026-11-21T07:05:00.000Z',
      probes: 3,
    }),
  ).toBe(
    'pacs keeps failing, sending paused since 2026-11-21T07:00:00Z: The peer cannot be reached; probed again at 2026-11-21T07:05:00Z',
  );
});

test.each([
  [undefined, { destination: 'pacs', to: 'archive' }, '--to needs the id'],
  [undefined, { to: 'archive' }, '--to needs the id'],
  [undefined, { toAlternate: true }, '--to-alternate needs the id'],
  ['dlv_1', { destination: 'pacs' }, 'not both'],
  ['dlv_1', { to: 'archive', toAlternate: true }, 'not both'],
])('replay %s with %o sends nothing', async (id, options, message) => {
  await expect(replay(id, options)).rejects.toThrow(message);
});
