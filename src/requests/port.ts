import type { SubmitAudit } from '../audit/audit.ts';
import type { DeliveryKind } from '../outbox/port.ts';
import type { EndpointInput } from './endpoint.ts';

/**
 * States of a request (service.md section 3).
 *
 *   queued ──▶ preparing ──▶ running ──▶ succeeded ──▶ expired
 *     │            ├────────────┼──────▶ failed
 *     │            ├────────────┼──────▶ rejected
 *     └────────────┴────────────┴──────▶ canceled
 */
export const REQUEST_STATUS = [
  'queued',
  'preparing',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'rejected',
  'expired',
] as const;
export type RequestStatus = (typeof REQUEST_STATUS)[number];

export const FINAL_STATUS: ReadonlySet<RequestStatus> = new Set([
  'succeeded',
  'failed',
  'canceled',
  'rejected',
  'expired',
]);

export type Priority = 'low' | 'normal' | 'high';

/** A file of a request; the work folder gets a link to it, or a copy of its own. */
export interface RequestFile {
  /** As the client knows it; a plain file name, unique in the request. */
  name: string;
  /** Where it is fetched from when the request starts; `path` and `sha256` are empty then. */
  url?: string;
  /** On this machine; empty for an upload, which lies in the blob store under its SHA-256. */
  path: string;
  bytes: number;
  sha256: string;
}

/** An object that must leave for a destination when the request succeeds. */
export interface DeliveryTarget {
  kind: DeliveryKind;
  destination: string;
  object: string;
}

/** Body of a webhook: the request object, or the message of the compatible queue. */
export type WebhookShape = 'request' | 'queue';

/** Where the end of a request is announced. */
export interface Webhook {
  url: string;
  events: string[];
  /** Address under which the caller reached us: addresses in the body start with it. */
  address?: string;
  shape?: WebhookShape;
}

/** Which door a request came through; no identity. `study` is our own id of the study row. */
export type RequestSource =
  | {
      kind: 'api' | 'queue';
      /** The caller's place in a trace, as it was sent (W3C Trace Context). */
      traceparent?: string;
    }
  | { kind: 'dicom'; study: string; revision: number; rule: string };

/** What each of the three doors hands to `submit`. */
export interface SubmitCommand {
  /** Endpoint id or model alias, without version. */
  endpoint: string;
  version: string | null;
  input: EndpointInput;
  files: RequestFile[];
  priorFiles: RequestFile[];
  priority: Priority;
  metadata: Record<string, string>;
  webhook: Webhook | null;
  source: RequestSource;
  /** A second submit with the same value answers the first request again (exactly once per study). */
  uniqueKey: string | null;
  accountId: string | null;
  keyId: string | null;
  test: boolean;
  deliverTo: DeliveryTarget[];
  /** Who submitted, written down with the request or not at all; a door without callers has none. */
  audit?: SubmitAudit;
}

/** What a door gets back. */
export interface SubmittedRequest {
  id: string;
  status: RequestStatus;
}

/**
 * Validates the input against the endpoint's schema, stores request and first event in one
 * transaction, and puts the job on the queue. Resolves after commit.
 * @throws SonogateError `unknown_endpoint`, `invalid_input`, `identifiers_in_context`.
 */
export type Submit = (command: SubmitCommand) => Promise<SubmittedRequest>;

/** Reads what a finished request left behind; for deliveries and downloads. */
export interface ResultReader {
  /** `output` of a succeeded request; null when there is none, or no longer one. */
  result(requestId: string): Promise<unknown>;
  /** Path of a stored artifact on this machine; null when there is none, or no longer one. */
  artifactPath(requestId: string, name: string): Promise<string | null>;
}
