import { DELIVERIES_EVENTS } from './deliveries.ts';
import { DICOM_EVENTS } from './dicom.ts';
import { GATEWAY_EVENTS } from './gateway.ts';
import { REQUESTS_EVENTS } from './requests.ts';

/**
 * Every line of the log that an operator may act on, by its stable id. The logger adds the id to the
 * line by its text; docs/log-events.md is generated from here. Alert on ids: texts may be worded anew.
 */
export const LOG_EVENTS = {
  ...GATEWAY_EVENTS,
  ...DICOM_EVENTS,
  ...REQUESTS_EVENTS,
  ...DELIVERIES_EVENTS,
};

const IDS: ReadonlyMap<string, string> = new Map(
  Object.entries(LOG_EVENTS).map(([id, { text }]) => [text, id]),
);

/** The id of the event that a line of this text tells; undefined when it is none. */
export function eventOf(text: string): string | undefined {
  return IDS.get(text);
}
