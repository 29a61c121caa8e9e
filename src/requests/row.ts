import type { ErrorCode } from '../errors/catalogue.ts';
import type { EndpointInput, PriceLine } from './endpoint.ts';
import type {
  DeliveryTarget,
  Priority,
  RequestFile,
  RequestSource,
  RequestStatus,
  Webhook,
} from './port.ts';

/** Current stage of a request (service.md 6.1). `progress` 0 to 1, `eta_s` seconds or unknown. */
export interface Stage {
  name: string;
  label: string;
  progress: number;
  eta_s: number | null;
}

export interface Cost {
  currency: 'USD';
  /** Decimal string in USD: money is never a binary fraction. */
  total: string;
  lines: PriceLine[];
}

/** Why a request ended without a result; turned into problem details when it is shown. */
export interface RequestFault {
  code: ErrorCode;
  detail: string;
}

/** A request as it is stored; one row of `requests`. */
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
  metadata: Record<string, string>;
  webhook: Webhook | null;
  source: RequestSource;
  cost: Cost;
  fault: RequestFault | null;
  /** Times that a worker has taken the request up. */
  attempts: number;
  /** Times that a pipeline process was seen to die of it. */
  crashes: number;
  /** Number of the last event in its log. */
  last_seq: number;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  expires_at: Date | null;
}

/** A row with what only the core itself needs. */
export interface StoredRequest extends RequestRow {
  files: RequestFile[];
  prior_files: RequestFile[];
  deliver_to: DeliveryTarget[];
  unique_key: string | null;
  lease_until: Date | null;
}
