import type { RequestStatus } from './port.ts';

/** Where a request may go from each status; the diagram is in port.ts. */
export const TRANSITIONS = {
  queued: ['preparing', 'canceled'],
  preparing: ['running', 'failed', 'rejected', 'canceled'],
  running: ['succeeded', 'failed', 'rejected', 'canceled'],
  succeeded: ['expired'],
  failed: [],
  canceled: [],
  rejected: [],
  expired: [],
} as const satisfies Record<RequestStatus, readonly RequestStatus[]>;

export function canMove(from: RequestStatus, to: RequestStatus): boolean {
  const allowed: readonly RequestStatus[] = TRANSITIONS[from];
  return allowed.includes(to);
}

/** A defect of the caller: the state table has no such arrow. */
export class IllegalTransitionError extends Error {
  override name = 'IllegalTransitionError';

  constructor(id: string, from: RequestStatus, to: RequestStatus) {
    super(`${id}: a request cannot go from ${from} to ${to}`);
  }
}
