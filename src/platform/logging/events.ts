import type { LogEvent } from './event.ts';
import { DELIVERIES_EVENTS } from './events/deliveries.ts';
import { DICOM_EVENTS } from './events/dicom.ts';
import { GATEWAY_EVENTS } from './events/gateway.ts';
import { HL7V2_EVENTS } from './events/hl7v2.ts';
import { REQUESTS_EVENTS } from './events/requests.ts';

/**
 * Every log line that an operator may act on, by its stable id:
 * `logger.event('association_accepted', {…})`. docs/log-events.md is generated from this table
 * (`npm run docs`).
 */
export const EVENTS = {
  ...GATEWAY_EVENTS,
  ...DICOM_EVENTS,
  ...REQUESTS_EVENTS,
  ...HL7V2_EVENTS,
  ...DELIVERIES_EVENTS,
} as const;

export type EventId = keyof typeof EVENTS;
type Fields = {
  [Id in EventId]: (typeof EVENTS)[Id] extends LogEvent<infer Own> ? Own : never;
};
export type FieldsOf<Id extends EventId> = Fields[Id];
/** Ids of the events that are logged without fields. */
export type PlainEventId = {
  [Id in EventId]: keyof Fields[Id] extends never ? Id : never;
}[EventId];
