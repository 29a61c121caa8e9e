import { describe, expect, it } from 'vitest';
import {
  FINAL_STATUS,
  REQUEST_STATUS,
  type RequestStatus,
} from '../../../../src/core/requests/request.ts';
import { canMove, TRANSITIONS } from '../../../../src/core/requests/transitions.ts';

/** All state transitions of a request (api 3). */
const ARROWS = new Set([
  'queued preparing',
  'queued canceled',
  'preparing running',
  'preparing failed',
  'preparing rejected',
  'preparing canceled',
  'running succeeded',
  'running failed',
  'running rejected',
  'running canceled',
  'succeeded expired',
]);

const PAIRS = REQUEST_STATUS.flatMap((from) => REQUEST_STATUS.map((to) => ({ from, to })));

describe('the state table of requests', () => {
  it.each(PAIRS)('$from → $to', ({ from, to }) => {
    expect(canMove(from, to)).toBe(ARROWS.has(`${from} ${to}`));
  });

  it('lets nothing but expiry follow a final status', () => {
    const after = [...FINAL_STATUS].flatMap(
      (status): readonly RequestStatus[] => TRANSITIONS[status],
    );
    expect(after).toEqual(['expired']);
  });

  it('reaches every status from queued', () => {
    const reached = new Set<RequestStatus>(['queued']);
    for (const status of reached) for (const next of TRANSITIONS[status]) reached.add(next);
    expect([...reached].sort()).toEqual([...REQUEST_STATUS].sort());
  });
});
