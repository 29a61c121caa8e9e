export const EVENT_NAMES = ['status', 'stage', 'triage', 'partial', 'error', 'done'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** One event of a request. `seq` starts at 1 and has no gaps within the request. */
export interface StoredEvent {
  seq: number;
  name: EventName;
  /** Payload of api.md "Following"; addresses in it are complete. */
  data: unknown;
}
