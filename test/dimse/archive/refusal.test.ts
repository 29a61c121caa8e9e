import { expect, test } from 'vitest';
import { throwIfRefused } from '../../../dimse/archive/query.ts';

test.each([
  ['0000', 'success'],
  ['B000', 'some objects failed'],
])('the last status %sH (%s) is not a refusal', (status) => {
  expect(() => throwIfRefused('C-GET', { status: Number.parseInt(status, 16) })).not.toThrow();
});

test.each([
  ['A700', 'peer_out_of_resources'],
  ['A701', 'peer_out_of_resources'],
  ['A702', 'peer_out_of_resources'],
  ['A801', 'move_destination_unknown'],
  ['A900', 'archive_refused_query'],
  ['C000', 'archive_refused_query'],
  ['FE00', 'archive_refused_query'],
  ['0122', 'archive_refused_query'],
])('the last status %sH is %s', (status, code) => {
  const answer = { status: Number.parseInt(status, 16), errorComment: 'why' };
  expect(() => throwIfRefused('C-MOVE', answer)).toThrow(
    expect.objectContaining({ code, detail: expect.stringContaining(`C-MOVE status ${status}H`) }),
  );
});
