import { DELIVERIES_EVENTS } from './events/deliveries.ts';
import { DICOM_EVENTS } from './events/dicom.ts';
import { GATEWAY_EVENTS } from './events/gateway.ts';
import { HL7V2_EVENTS } from './events/hl7v2.ts';
import { REQUESTS_EVENTS } from './events/requests.ts';

/**
 * Every log line that an operator may act on: `logger.event(EVENTS.associationAccepted, {…})`.
 * docs/log-events.md is generated from this table (`npm run docs`).
 */
export const EVENTS = {
  ...GATEWAY_EVENTS,
  ...DICOM_EVENTS,
  ...REQUESTS_EVENTS,
  ...HL7V2_EVENTS,
  ...DELIVERIES_EVENTS,
} as const;
