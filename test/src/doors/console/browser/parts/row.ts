import type { WorklistRow } from '../../../../../../src/doors/console/contract.ts';

/** Returns a worklist row of a study with a draft result, which arrived at 10 o'clock and `minute`. */
export const row = (key: string, minute: number, more: Partial<WorklistRow> = {}): WorklistRow => ({
  key,
  subject: { shown: 'hidden', pseudonym: key },
  state: 'succeeded',
  reason: null,
  source: 'cart',
  endpoint: 'us/echo/interpret',
  specialty: 'echo',
  requestId: null,
  objects: 1,
  tags: [],
  test: false,
  arrivedAt: `2026-01-01T10:${String(minute).padStart(2, '0')}:00Z`,
  changedAt: '2026-01-01T11:00:00Z',
  waitsFor: null,
  waitsUntil: null,
  stage: null,
  critical: [],
  acknowledged: null,
  glance: null,
  review: 'draft',
  readers: [],
  deliveries: { waiting: 0, delivered: 0, dead: 0, held: 0 },
  ...more,
});
