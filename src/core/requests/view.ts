import type { Withdrawal, WithdrawalReceiver } from '../../../pipelines/contract/withdrawal.ts';
import { type Problem, problem } from '../../platform/errors/problem.ts';
import type { EndpointInput } from './endpoint.ts';
import type { Cost, Priority, RequestRow, RequestSource, RequestStatus, Stage } from './request.ts';

/** The request object of the HTTP API. Every field is always present unless marked optional. */
export interface RequestObject {
  id: string;
  object: 'request';
  model: string;
  endpoint: string;
  version: string;
  status: RequestStatus;
  stage: Stage;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  expires_at: string | null;
  key: string | null;
  test: boolean;
  priority: Priority;
  /** Any JSON value, supplied by the client. */
  metadata: unknown;
  /** Absent in list items; null once it has been purged. */
  input?: EndpointInput | null;
  webhook: { url: string; events: string[] } | null;
  /** How the request was submitted. Contains no identity: `study` is our internal study id. */
  source: RequestSource;
  cost: Cost;
  error: Problem | null;
  /** Null unless the result was withdrawn. `receivers` is absent in list items. */
  withdrawal: (Withdrawal & { receivers?: WithdrawalReceiver[] }) | null;
  /** Absent in list items; null unless the request has succeeded and its result is stored. */
  output?: unknown;
  urls: { self: string; events: string; cancel: string };
}

/**
 * Returns the request as clients see it. `bodies` holds the result, and the state of a withdrawal at
 * each receiver; it is null for list items, which omit `input` and `output`. `baseUrl` is the server's
 * address without a trailing slash.
 */
export function viewRequest(
  row: RequestRow,
  baseUrl: string,
  bodies: { output: unknown; receivers: WithdrawalReceiver[] } | null,
): RequestObject {
  const path = `/v1/requests/${row.id}`;
  const self = baseUrl + path;
  return {
    id: row.id,
    object: 'request',
    model: row.model,
    endpoint: row.endpoint,
    version: row.version,
    status: row.status,
    stage: row.stage,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    key: row.key_id,
    test: row.test,
    priority: row.priority,
    metadata: row.metadata,
    ...(bodies && { input: row.input }),
    webhook: row.webhook && { url: row.webhook.url, events: row.webhook.events },
    source: row.source,
    cost: row.cost,
    error: row.fault && problem(row.fault.code, row.fault.detail, baseUrl, { instance: path }),
    withdrawal: row.withdrawal && {
      ...row.withdrawal,
      ...(bodies && { receivers: bodies.receivers }),
    },
    ...(bodies && { output: bodies.output }),
    urls: { self, events: `${self}/events`, cancel: `${self}/cancel` },
  };
}
