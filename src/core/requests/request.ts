import type { Withdrawal } from '../../../pipelines/contract/withdrawal.ts';
import type { ErrorCode } from '../../platform/errors/catalogue.ts';
import type { SubmitAudit } from '../audit/audit.ts';
import type { ArchivedObject } from '../files/archived-objects.ts';
import type { DeliveryTarget } from '../outbox/delivery.ts';
import type { EndpointInput, PriceLine } from './endpoint.ts';

/**
 * States of a request (api 3).
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

/** A file of a request: held by the gateway, or fetched when the run is prepared. */
export type RequestFile = HeldFile | HostedFile | ArchivedFile;

/** A file that the blob store holds under its SHA-256, or that a host holds, or both. */
export interface HeldFile {
  name: string;
  /** Path of a received object on the host that received it; empty for an upload. */
  path: string;
  sha256: string;
}

/**
 * A file that the client supplied as a URL. In a request stored by an earlier version, it also has
 * the members of a held file, which are then empty.
 */
interface HostedFile {
  name: string;
  url: string;
}

/** An object in an archive. */
interface ArchivedFile {
  name: string;
  archive: ArchivedObject;
}

/** Format of a webhook body: the request object, or the message of the compatible queue. */
export type WebhookShape = 'request' | 'queue';

export interface Webhook {
  url: string;
  events: string[];
  /** Base address that the caller used to reach us. URLs in the body start with it. */
  address?: string;
  shape?: WebhookShape;
}

/** How a request was submitted. Contains no identity: `study` is our internal study id. */
export type RequestSource =
  | {
      kind: 'api' | 'queue';
      /** The `traceparent` header as the caller sent it (W3C Trace Context). */
      traceparent?: string;
    }
  | { kind: 'dicom'; study: string; revision: number; rule: string };

/** What HTTP, DICOM and the compatible queue pass to `submit`. */
export interface SubmitCommand {
  /** Endpoint id or model alias, without version. */
  endpoint: string;
  version: string | null;
  input: EndpointInput;
  files: RequestFile[];
  priorFiles: RequestFile[];
  priority: Priority;
  /** Any JSON value, supplied by the client. */
  metadata: unknown;
  webhook: Webhook | null;
  source: RequestSource;
  /**
   * If a request with this key already exists, submitting returns that request. Each study is thus
   * submitted exactly once.
   */
  uniqueKey: string | null;
  /** The SOP Instance UID chosen by the creator of a workitem (UPS). */
  workitemUid?: string;
  accountId: string | null;
  keyId: string | null;
  test: boolean;
  deliverTo: DeliveryTarget[];
  /**
   * Who submitted the request, written to the audit trail in the same transaction. Absent for
   * studies received by DICOM, which have no caller.
   */
  audit?: SubmitAudit;
}

/** The properties that determine when a waiting request is claimed. */
export interface WaitingRequest {
  id: string;
  priority: Priority;
  /** Requests made with test keys wait in a separate queue. */
  test: boolean;
  /** Within a priority, studies are claimed before requests from the API. */
  source: RequestSource['kind'];
}

/** The queue of requests waiting for a worker; implemented by `RequestQueue` in src/core/queue. */
export interface JobQueue {
  /** Adds a job. Its id is the id of the request, so adding it twice does no harm. */
  add(request: WaitingRequest): Promise<void>;
  /** Removes a waiting job. A job that a worker has claimed is not removed. */
  remove(requestId: string): Promise<void>;
}

interface SubmittedRequest {
  id: string;
  status: RequestStatus;
}

/**
 * Validates the input against the endpoint's schema, stores the request and its first event in one
 * transaction, and queues the job. Resolves after the commit.
 * @throws SonogateError `unknown_endpoint`, `invalid_input`, `identifiers_in_context`.
 */
export type Submit = (command: SubmitCommand) => Promise<SubmittedRequest>;

/** Reads the result of a finished request, for deliveries and downloads. */
export interface ResultReader {
  /**
   * Returns the `output` of a succeeded request; null if there is no result or it has been purged.
   * @param revision a signed revision, or 0 for the draft; if absent, the last signed revision, or
   * the draft if there is none.
   */
  result(requestId: string, revision?: number): Promise<unknown>;
  /**
   * Returns the path of a stored artifact on this host; null if it does not exist or has been
   * purged.
   */
  artifactPath(requestId: string, name: string): Promise<string | null>;
}

/**
 * Current stage of a request (api 6.1). `progress` runs from 0 to 1; `eta_s` is the number of
 * seconds left, if known.
 */
export interface Stage {
  name: string;
  label: string;
  progress: number;
  eta_s: number | null;
}

export interface Cost {
  currency: 'USD';
  /** Decimal string in USD, because binary fractions cannot represent money exactly. */
  total: string;
  lines: PriceLine[];
}

/** Why a request ended without a result; shown to clients as problem details. */
export interface RequestFault {
  code: ErrorCode;
  detail: string;
}

export interface RequestRow {
  id: string;
  account_id: string | null;
  key_id: string | null;
  model: string;
  endpoint: string;
  version: string;
  status: RequestStatus;
  stage: Stage;
  priority: Priority;
  test: boolean;
  input: EndpointInput | null;
  metadata: unknown;
  webhook: Webhook | null;
  source: RequestSource;
  cost: Cost;
  fault: RequestFault | null;
  /** Number of claims by workers. It identifies the current run. */
  attempts: number;
  /** Number of times that a pipeline process died while running the request. */
  crashes: number;
  /**
   * Number of attempts that were interrupted or lost because the gateway stopped or died, or
   * because the database was unreachable. They do not count against the request.
   */
  lost_runs: number;
  /** Number of the last event in the request's log. */
  last_seq: number;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  expires_at: Date | null;
  /** Null unless a person has withdrawn the result. */
  withdrawal: Withdrawal | null;
}

/** The whole row, including the columns that only the core needs. */
export interface StoredRequest extends RequestRow {
  files: RequestFile[];
  prior_files: RequestFile[];
  deliver_to: DeliveryTarget[];
  /** The SOP Instance UID chosen by the creator of a workitem; null for any other request. */
  workitem_uid: string | null;
}

const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/**
 * Returns the exact sum of decimal strings, with at least two decimals.
 * @throws Error if a string is not a decimal.
 */
export function sumDecimals(amounts: readonly string[]): string {
  const split = amounts.map((amount) => {
    const match = DECIMAL.exec(amount);
    if (!match) throw new Error(`"${amount}" is not a decimal amount`);
    return { whole: match[1] ?? '0', fraction: match[2] ?? '' };
  });
  const decimals = Math.max(2, ...split.map(({ fraction }) => fraction.length));
  const total = split.reduce(
    (sum, { whole, fraction }) => sum + BigInt(whole + fraction.padEnd(decimals, '0')),
    0n,
  );
  const digits = total.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** The cost of a request that ended without a result or was made with a test key. */
export const NO_COST: Cost = { currency: 'USD', total: '0.00', lines: [] };

/** Returns the cost of a succeeded request. Requests made with test keys are free. */
export function costOf(lines: PriceLine[], test: boolean): Cost {
  if (test) return NO_COST;
  return { currency: 'USD', total: sumDecimals(lines.map(({ amount }) => amount)), lines };
}
