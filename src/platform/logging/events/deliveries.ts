import { event } from '../event.ts';

export const DELIVERIES_EVENTS = {
  destinationLeftAlone: event<{ destination: string; code: string }>({
    id: 'destination_left_alone',
    level: 'warn',
    text: 'destination keeps failing, deliveries wait',
    meaning:
      'A destination failed several times in a row: its circuit breaker is open, its deliveries wait, and it is probed from time to time.',
    action: 'Check the destination with `npx sonogate doctor`.',
  }),
  destinationProbed: event<{ destination: string }>({
    id: 'destination_probed',
    level: 'info',
    text: 'destination responds again, trying one delivery',
    meaning: 'A destination whose circuit breaker was open responds again.',
    action: null,
  }),
  destinationWorks: event<{ destination: string }>({
    id: 'destination_works',
    level: 'info',
    text: 'destination works again',
    meaning: 'The circuit breaker of the destination is closed; deliveries are sent again.',
    action: null,
  }),
  destinationDiverted: event<{
    destination?: string;
    alternate: string;
    many?: number;
    delivery?: string;
    instead?: string;
  }>({
    id: 'destination_diverted',
    level: 'warn',
    text: 'deliveries diverted to the alternate',
    meaning:
      'Deliveries waited too long, or failed permanently, and were diverted to the alternate destination.',
    action: 'Repair the original destination.',
  }),
  destinationProbeUnrecorded: event<{ destination: string; error: string }>({
    id: 'destination_probe_unrecorded',
    level: 'warn',
    text: 'probe could not be recorded, will probe again',
    meaning: 'The outcome of a probe could not be stored.',
    action: 'Check the database.',
  }),
  delivered: event<{ delivery: string; request: string; destination: string; object: string }>({
    id: 'delivered',
    level: 'info',
    text: 'delivered',
    meaning: 'A peer confirmed a delivery.',
    action: null,
  }),
  deliveryNotSent: event<{
    delivery: string;
    request: string;
    destination: string;
    object: string;
  }>({
    id: 'delivery_not_sent',
    level: 'info',
    text: 'nothing sent',
    meaning:
      'A delivery ended without being sent: the receiver has a later or signed result, or the result has no such object.',
    action: null,
  }),
  deliveryReport: event<{
    report: string;
    entries: number;
    provenance: boolean;
    delivery: string;
    request: string;
  }>({
    id: 'delivery_report',
    level: 'info',
    text: 'report delivered',
    meaning: 'An EHR confirmed a report.',
    action: null,
  }),
  deliveryRetried: event<{
    code: string;
    wait: number;
    delivery: string;
    request: string;
    destination: string;
    object: string;
  }>({
    id: 'delivery_retried',
    level: 'warn',
    text: 'delivery failed, will retry',
    meaning: 'A delivery failed and is sent again after `wait` seconds.',
    action: 'Nothing; if it continues, run `npx sonogate doctor`.',
  }),
  deliveryDead: event<{
    code: string;
    delivery: string;
    request: string;
    destination: string;
    object: string;
  }>({
    id: 'delivery_dead',
    level: 'error',
    text: 'delivery failed permanently, action needed',
    meaning: 'A delivery failed, and sending it again as it is would not help.',
    action:
      'Correct the fault that `code` identifies, then run `npx sonogate replay ID`; if the receiver will never get it, `npx sonogate deliveries close ID`.',
  }),
  deliveryGivenUp: event<{
    delivery: string;
    destination: string;
    code: string;
    request?: string;
    object?: string;
  }>({
    id: 'delivery_given_up',
    level: 'error',
    text: 'delivery given up',
    meaning: 'A delivery kept failing until its time limit.',
    action:
      'Repair the peer, then run `npx sonogate replay ID`; if it will never get the object, `npx sonogate deliveries close ID`.',
  }),
  deliveryClosed: event<{ delivery: string; destination: string; object: string; code?: string }>({
    id: 'delivery_closed',
    level: 'info',
    text: 'delivery closed by a person',
    meaning:
      'A person closed a dead delivery or rejected a held report: it is not sent any more. The audit has the person.',
    action: null,
  }),
  deliveryThrew: event<{ delivery: string; error: string }>({
    id: 'delivery_threw',
    level: 'error',
    text: 'delivery failed unexpectedly, will retry',
    meaning: 'A defect in the gateway made a delivery fail; it is tried again.',
    action: 'Report it to the developers with this line.',
  }),
  deliveryInterrupted: event<{
    delivery: string;
    request: string;
    destination: string;
    object: string;
  }>({
    id: 'delivery_interrupted',
    level: 'info',
    text: 'delivery interrupted by the gateway, will send again',
    meaning:
      'The gateway stopped, or its database was unreachable, during a delivery; it is sent again with the same identifiers, and the interrupted attempt does not count.',
    action: null,
  }),
  deliveryUnrecorded: event<{ delivery: string; error: string }>({
    id: 'delivery_unrecorded',
    level: 'warn',
    text: 'delivery outcome could not be recorded, will send again',
    meaning:
      'The outcome of a delivery could not be stored; it is sent again with the same identifiers.',
    action: 'Check the database.',
  }),
  outboxUnreadable: event<{ error: string }>({
    id: 'outbox_unreadable',
    level: 'warn',
    text: 'outbox could not be read, will retry',
    meaning: 'The check for due deliveries failed.',
    action: 'Check the database.',
  }),
  alertsNotEscalated: event<{ error: string }>({
    id: 'alerts_not_escalated',
    level: 'warn',
    text: 'unacknowledged alerts could not be read, will retry',
    meaning: 'The search for critical flags that nobody has acknowledged failed.',
    action: 'Check the database.',
  }),
  subscriptionsNotKept: event<{ error: string }>({
    id: 'subscriptions_not_kept',
    level: 'warn',
    text: 'FHIR subscriptions could not be read, will retry',
    meaning: 'The search for subscriptions that have ended or need a heartbeat failed.',
    action: 'Check the database.',
  }),
  ehrSimplerMode: event<{ delivery: string; destination: string; mode: string }>({
    id: 'ehr_simpler_mode',
    level: 'warn',
    text: 'EHR needs a simpler delivery mode',
    meaning: 'The EHR does not accept the full transaction; reports are sent in a simpler form.',
    action: 'Nothing; [FHIR](fhir.md) describes what is lost.',
  }),
} as const;
