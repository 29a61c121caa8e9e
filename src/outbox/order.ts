import type { DeliveryKind } from './port.ts';

/**
 * Deliveries of one study to one destination leave in this order: by revision of the study, and
 * within one revision images before the structured reports that refer to them, and those before all
 * that may refer to a report (key objects, presentation states, documents). What has the same place
 * is in no order.
 */
const RANK = { receivedObject: 0, structuredReport: 1, other: 2 } as const;

/** Place of an object within its revision. */
export function rankOf(kind: DeliveryKind, object: string): number {
  if (kind === 'forward') return RANK.receivedObject;
  return object.startsWith('sr-') ? RANK.structuredReport : RANK.other;
}

/**
 * A delivery that has failed so often for what may be reasons of its own is overtaken: one object
 * that a peer cannot take must not hold up the study behind it. Failures of a peer that takes
 * nothing do not count, and one that is dead holds up nobody.
 */
export const OVERTAKEN_AFTER_FAILURES = 3;

/** SQL: whether a delivery that goes before `d` is still on its way. */
export const SOMETHING_AHEAD = `EXISTS (SELECT 1 FROM deliveries ahead
  WHERE ahead.destination = d.destination AND ahead.study = d.study AND d.study IS NOT NULL
    AND ahead.state IN ('pending', 'sending')
    AND (ahead.revision, ahead.rank) < (d.revision, d.rank)
    AND ahead.own_failures < ${OVERTAKEN_AFTER_FAILURES})`;
