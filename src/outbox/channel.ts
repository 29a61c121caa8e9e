/** Wakes the outbox of every process; sent when the transaction commits. */
export const OUTBOX_CHANNEL = 'sonogate_outbox';
