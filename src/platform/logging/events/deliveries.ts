import { event } from '../event.ts';

interface OfObject {
  delivery: string;
  request: string;
  destination: string;
  object: string;
}

export const DELIVERIES_EVENTS = {
  destination_left_alone: event<{ destination: string; code: string }>({
    level: 'warn',
    text: 'destination keeps failing, deliveries wait',
    meaning:
      'A destination failed several times in a row: its circuit breaker is open, its deliveries wait, and it is probed from time to time.',
    action: 'Check the destination with `npx sonogate doctor`.',
  }),
  destination_probed: event<{ destination: string }>({
    level: 'info',
    text: 'destination responds again, trying one delivery',
    meaning: 'A destination whose circuit breaker was open responds again.',
  }),
  destination_works: event<{ destination: string }>({
    level: 'info',
    text: 'destination works again',
    meaning: 'The circuit breaker of the destination is closed; deliveries are sent again.',
  }),
  destination_diverted: event<{
    destination?: string;
    alternate: string;
    many?: number;
    delivery?: string;
    instead?: string;
  }>({
    level: 'warn',
    text: 'deliveries diverted to the alternate',
    meaning:
      'Deliveries waited too long, or failed permanently, and were diverted to the alternate destination.',
    action: 'Repair the original destination.',
  }),
  destination_probe_unrecorded: event<{ destination: string; error: string }>({
    level: 'warn',
    text: 'probe could not be recorded, will probe again',
    meaning: 'The outcome of a probe could not be stored.',
    action: 'Check the database.',
  }),
  delivered: event<OfObject>({
    level: 'info',
    text: 'delivered',
    meaning: 'A peer confirmed a delivery.',
  }),
  delivery_not_sent: event<OfObject>({
    level: 'info',
    text: 'nothing sent',
    meaning:
      'A delivery ended without being sent: the receiver has a later or signed result, or the result has no such object.',
  }),
  delivery_report: event<{
    report: string;
    entries: number;
    provenance: boolean;
    delivery: string;
    request: string;
  }>({
    level: 'info',
    text: 'report delivered',
    meaning: 'An EHR confirmed a report.',
  }),
  delivery_retried: event<OfObject & { code: string; wait: number }>({
    level: 'warn',
    text: 'delivery failed, will retry',
    meaning: 'A delivery failed and is sent again after `wait` seconds.',
    action: 'Nothing; if it continues, run `npx sonogate doctor`.',
  }),
  delivery_dead: event<OfObject & { code: string }>({
    level: 'error',
    text: 'delivery failed permanently, action needed',
    meaning: 'A delivery failed, and sending it again as it is would not help.',
    action:
      'Correct the fault that `code` identifies, then run `npx sonogate replay ID`; if the receiver will never get it, `npx sonogate deliveries close ID`.',
  }),
  delivery_given_up: event<{
    delivery: string;
    destination: string;
    code: string;
    request?: string;
    object?: string;
  }>({
    level: 'error',
    text: 'delivery given up',
    meaning: 'A delivery kept failing until its time limit.',
    action:
      'Repair the peer, then run `npx sonogate replay ID`; if it will never get the object, `npx sonogate deliveries close ID`.',
  }),
  delivery_closed: event<{ delivery: string; destination: string; object: string; code?: string }>({
    level: 'info',
    text: 'delivery closed by a person',
    meaning:
      'A person closed a dead delivery or rejected a held report: it is not sent any more. The audit has the person.',
  }),
  delivery_threw: event<{ delivery: string; error: string }>({
    level: 'error',
    text: 'delivery failed unexpectedly, will retry',
    meaning: 'A defect in the gateway made a delivery fail; it is tried again.',
    action: 'Report it to the developers with this line.',
  }),
  delivery_interrupted: event<OfObject>({
    level: 'info',
    text: 'delivery interrupted by the gateway, will send again',
    meaning:
      'The gateway stopped, or its database was unreachable, during a delivery; it is sent again with the same identifiers, and the interrupted attempt does not count.',
  }),
  delivery_unrecorded: event<{ delivery: string; error: string }>({
    level: 'warn',
    text: 'delivery outcome could not be recorded, will send again',
    meaning:
      'The outcome of a delivery could not be stored; it is sent again with the same identifiers.',
    action: 'Check the database.',
  }),
  outbox_unreadable: event<{ error: string }>({
    level: 'warn',
    text: 'outbox could not be read, will retry',
    meaning: 'The check for due deliveries failed.',
    action: 'Check the database.',
  }),
  alerts_not_escalated: event<{ error: string }>({
    level: 'warn',
    text: 'unacknowledged alerts could not be read, will retry',
    meaning: 'The search for critical flags that nobody has acknowledged failed.',
    action: 'Check the database.',
  }),
  subscriptions_not_kept: event<{ error: string }>({
    level: 'warn',
    text: 'FHIR subscriptions could not be read, will retry',
    meaning: 'The search for subscriptions that have ended or need a heartbeat failed.',
    action: 'Check the database.',
  }),
  ehr_simpler_mode: event<{ delivery: string; destination: string; mode: string }>({
    level: 'warn',
    text: 'EHR needs a simpler delivery mode',
    meaning: 'The EHR does not accept the full transaction; reports are sent in a simpler form.',
    action: 'Nothing; [FHIR](fhir.md) describes what is lost.',
  }),
} as const;
