import type { Config } from '../../../config/schema.ts';
import {
  catalogueEntry,
  type ErrorCode,
  type FailureClass,
} from '../../platform/errors/catalogue.ts';

/**
 * The longest pause in seconds that a hospital system can request. A wrong clock or header must not
 * stop its deliveries for days.
 */
export const LONGEST_HOLD_SECONDS = 3600;

interface KindProperties {
  /**
   * What is sent. A notice only says that there is something to read: it is not ordered with the
   * other deliveries of its study, and a dead notice does not keep its study. A withdrawal asks a
   * receiver to withdraw a result; it is sent after any delivery of the result that is being sent
   * to the receiver, and waits for nothing else.
   */
  carries: 'received_object' | 'result_object' | 'report' | 'withdrawal' | 'notice';
  /**
   * True if the receiver is an API client, and false if it is a system or person of the hospital.
   */
  toClient: boolean;
  /** True if such a delivery may be diverted to another destination (divert.ts). */
  mayBeDiverted: boolean;
}

/** Kinds of delivery; each has one deliverer. */
export const DELIVERY_KINDS = {
  dicom: { carries: 'result_object', toClient: false, mayBeDiverted: true },
  forward: { carries: 'received_object', toClient: false, mayBeDiverted: true },
  // A destination for de-identified objects has no alternate (config/schema.ts).
  deidentified: { carries: 'received_object', toClient: false, mayBeDiverted: false },
  fhir: { carries: 'report', toClient: false, mayBeDiverted: false },
  hl7v2: { carries: 'report', toClient: false, mayBeDiverted: false },
  'dicom-withdrawal': { carries: 'withdrawal', toClient: false, mayBeDiverted: false },
  'fhir-withdrawal': { carries: 'withdrawal', toClient: false, mayBeDiverted: false },
  'hl7v2-withdrawal': { carries: 'withdrawal', toClient: false, mayBeDiverted: false },
  mail: { carries: 'notice', toClient: false, mayBeDiverted: false },
  webhook: { carries: 'notice', toClient: true, mayBeDiverted: false },
  subscription: { carries: 'notice', toClient: true, mayBeDiverted: false },
} as const satisfies Record<string, KindProperties>;

export type DeliveryKind = keyof typeof DELIVERY_KINDS;

/** Returns the SQL list of the kinds with a property. */
function kindsThat(have: (kind: KindProperties) => boolean): string {
  const kinds = Object.entries(DELIVERY_KINDS).filter(([, kind]) => have(kind));
  return `(${kinds.map(([name]) => `'${name}'`).join(', ')})`;
}

/** SQL list of the kinds that go to API clients rather than to the hospital. */
export const TO_CLIENTS = kindsThat(({ toClient }) => toClient);

/** SQL list of the kinds that carry a notice. */
export const NOTICES = kindsThat(({ carries }) => carries === 'notice');

/** SQL list of the kinds that may be diverted. */
export const MAY_BE_DIVERTED = kindsThat(({ mayBeDiverted }) => mayBeDiverted);

/** SQL list of the kinds that withdraw a result. */
export const WITHDRAWALS = kindsThat(({ carries }) => carries === 'withdrawal');

/** `object` of a delivery that withdraws a result. */
export const WITHDRAWAL_OBJECT = 'withdrawal';

/** Kinds of delivery by which a hospital system receives a result, and the kind that withdraws it. */
export const WITHDRAWN_BY = {
  dicom: 'dicom-withdrawal',
  fhir: 'fhir-withdrawal',
  hl7v2: 'hl7v2-withdrawal',
} as const satisfies Partial<Record<DeliveryKind, DeliveryKind>>;

/** SQL list of the kinds that carry a report to an EHR. */
const REPORTS = kindsThat(({ carries }) => carries === 'report');

/** Deliveries of received objects: unchanged, or as de-identified copies. */
export type ForwardKind = 'forward' | 'deidentified';

/** An object to be sent to a destination once the request succeeds. */
export interface DeliveryTarget {
  kind: Exclude<DeliveryKind, ForwardKind>;
  destination: string;
  object: string;
}

interface ToDestination {
  id: string;
  /**
   * Name of a destination in the configuration; for a webhook, the id of its endpoint; for a
   * notification, the id of its subscription; for a mail, its mailing list (`alert:<name>`).
   */
  destination: string;
  attempt: number;
}

/** A delivery of a result, of its withdrawal, or of a notice about a request. */
export interface RequestDelivery extends ToDestination {
  kind: Exclude<DeliveryKind, ForwardKind | 'subscription'>;
  requestId: string;
  /**
   * The object to send: `sr-tid1500`, `fhir-bundle`, `oru-r01` or `withdrawal`; for a webhook, its
   * event; for a mail, `alert <section> <code>` or `escalation`.
   */
  object: string;
  /** Signed revision of the result; 0 for the draft. */
  resultRevision: number;
}

/** A delivery of a received object. */
interface ReceivedObjectDelivery extends ToDestination {
  kind: ForwardKind;
  requestId: null;
  /** Id of the received object. */
  object: string;
}

/** A notification to the client of a FHIR Subscription. */
export interface SubscriptionDelivery extends ToDestination {
  kind: 'subscription';
  /** Null for the handshake and the heartbeat. */
  requestId: string | null;
  /** The event; `heartbeat` or `handshake`. */
  object: string;
}

/**
 * One object, to be sent to one destination. The functions that create deliveries (deliveries.ts)
 * ensure that each kind has what its type states.
 */
export type Delivery = RequestDelivery | ReceivedObjectDelivery | SubscriptionDelivery;

/** A DICOM object that a PACS has stored. */
export interface StoredObject {
  sopClassUid: string;
  sopInstanceUid: string;
}

export type SendOutcome =
  | {
      outcome: 'delivered';
      detail: string;
      /** True if the delivery succeeded without sending anything; `detail` states the reason. */
      notSent?: boolean;
      /** DICOM objects that the PACS has stored. */
      objects?: readonly StoredObject[];
      /** True if storage commitment will be requested for these objects. */
      commits?: boolean;
    }
  | {
      outcome: 'failed';
      failure: FailureClass;
      code: ErrorCode;
      detail: string;
      /**
       * Seconds that the peer asked us to wait. This applies to all deliveries to this destination.
       */
      retryAfter?: number;
    };

type Failed = Extract<SendOutcome, { outcome: 'failed' }>;

/** Returns the outcome of an attempt that failed with an error. */
export function failed(code: ErrorCode, detail: string): Failed {
  return { outcome: 'failed', failure: catalogueEntry(code).retry, code, detail };
}

/**
 * Sends one delivery. A failure on the peer's side is returned, never thrown. An exception means
 * that the signal was aborted, that our database is unreachable (`DatabaseUnreachableError`), that
 * the object cannot be sent (SonogateError, a failure with the class of its code) or that our code
 * has a defect.
 */
export interface Deliverer<Kind extends DeliveryKind = DeliveryKind> {
  kind: Kind;
  /**
   * Returns the seconds until the next attempt after `tries` failed attempts; null if the delivery
   * is not attempted again. Without this method, the settings in `delivery` apply. `random` is
   * uniform in [0, 1).
   */
  retryWait?(tries: number, random: number): number | null;
  /**
   * Probes a destination whose breaker is open, without sending a delivery. Without this method,
   * the oldest delivery is tried. Never throws.
   * @returns null if the destination responds, otherwise the error; undefined if this deliverer
   * does not serve the destination.
   */
  probe?(destination: string, signal: AbortSignal): Promise<ErrorCode | null | undefined>;
  send(delivery: Delivery & { kind: Kind }, signal: AbortSignal): Promise<SendOutcome>;
}

/**
 * States of a delivery. Each arrow is one SQL statement, with the arrow's starting state in its
 * WHERE clause (deliveries.ts, outbox.ts).
 *
 *   pending ──▶ sending ──▶ delivered
 *      ▲  ▲        │ │
 *      │  └────────┘ └────▶ dead        permanent failure, or given up
 *      │  transient,         │
 *      │  ambiguous,         │ replay by a person
 *      │  lease ran out      │
 *      └─────────────────────┘
 *
 *   pending ──▶ dead                 it waited too long for a destination with an open breaker
 *   delivered ──▶ dead               the PACS refused to commit to storing an object
 *   dead ──▶ delivered               the PACS committed after it had refused
 *   pending, dead ──▶ diverted       another delivery takes its place (divert.ts)
 *   pending, dead ──▶ delivered      not sent, because the result was withdrawn
 *   pending, dead ──▶ closed         a person decided that it is not sent any more (close.ts)
 *   closed ──▶ pending               replay by a person
 *   closed ──▶ delivered             the PACS committed after it had refused
 *
 * A webhook can be replayed from `delivered` too, because receivers lose messages that they had
 * confirmed. The handshake and the heartbeat of a FHIR Subscription have one row each, which returns
 * to `pending` from any state (subscriptions.ts).
 */
export const DELIVERY_STATES = [
  'pending',
  'sending',
  'delivered',
  'dead',
  'diverted',
  'closed',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/**
 * Returns the deliveries that can start with the draft; some destinations accept only signed
 * results. If an earlier result of the study is signed, no report is sent as a draft: an EHR would
 * replace the signed report, or show a newer draft next to it.
 * @param signed true if an earlier result of the study is signed.
 */
export function startingWithDraft(
  targets: readonly DeliveryTarget[],
  destinations: Config['destinations'],
  signed: boolean,
): DeliveryTarget[] {
  const waiting = new Set(
    destinations.flatMap(({ name, release }) => (release === 'after-signature' ? [name] : [])),
  );
  return targets.filter(
    ({ kind, destination }) =>
      !waiting.has(destination) && !(signed && DELIVERY_KINDS[kind].carries === 'report'),
  );
}

/**
 * SQL: the destinations that receive nothing before the result of request `r` is signed, because no
 * delivery of the draft was created for them (`startingWithDraft`).
 */
export const AFTER_SIGNATURE = `(SELECT coalesce(array_agg(DISTINCT target ->> 'destination'), '{}')
  FROM jsonb_array_elements(r.deliver_to) AS target
  WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.request_id = r.id
    AND d.destination = target ->> 'destination' AND NOT (d.kind IN ${REPORTS} AND d.not_sent)))`;

/**
 * PostgreSQL channel whose notifications wake the outbox of every process. They are sent when the
 * transaction commits.
 */
export const OUTBOX_CHANNEL = 'sonogate_outbox';
