import type { Endpoint } from './endpoint.ts';
import type { StoredEvent } from './events.ts';
import type { RequestStatus, ResultReader, Submit } from './port.ts';
import type { RequestRow } from './row.ts';
import type { RequestObject } from './view.ts';

/** One artifact of a finished request, as the result lists it. */
export interface ArtifactEntry {
  name: string;
  media_type: string;
  bytes: number;
  sha256: string;
  section: string | null;
}

/** Filters of `GET /v1/requests`; `model` is a model or an endpoint id. */
export interface HistoryQuery {
  accountId: string | null;
  model?: string;
  status?: RequestStatus[];
  key?: string;
  since?: Date;
  limit: number;
  cursor?: string;
}

export interface EventReader {
  /**
   * Stored events after `afterSeq` (0 for all), in order. `baseUrl` is the address under which the
   * caller reached us, without a trailing slash: addresses inside the events start with it.
   */
  list(id: string, afterSeq: number, baseUrl: string): Promise<StoredEvent[]>;
  /** As `list`, then every event as it happens; ends after `done`, or when `signal` aborts. */
  follow(
    id: string,
    afterSeq: number,
    baseUrl: string,
    signal: AbortSignal,
  ): AsyncIterable<StoredEvent>;
}

/** The one request core, as the three doors and the deliveries use it. */
export interface RequestCore extends ResultReader {
  submit: Submit;
  /** Null when unknown, or of another account; `accountId` null sees every account. */
  get(id: string, accountId: string | null): Promise<RequestRow | null>;
  /** Newest first, stable under inserts. */
  history(query: HistoryQuery): Promise<{ rows: RequestRow[]; nextCursor: string | null }>;
  /**
   * The request object of api.md. `output` is read for a succeeded request, unless
   * `withBodies` is false (list items leave out `output` and `input`).
   */
  view(
    row: RequestRow,
    baseUrl: string,
    options?: { withBodies?: boolean },
  ): Promise<RequestObject>;
  /**
   * Ends a request that has not ended; `running` ends within five seconds.
   * @throws SonogateError `not_found`, `already_finished`.
   */
  cancel(id: string, accountId: string | null): Promise<RequestRow>;
  /** Resolves with the row as soon as its status differs from `row.status`, or after `seconds`. */
  waitForChange(row: RequestRow, seconds: number, signal?: AbortSignal): Promise<RequestRow>;
  events: EventReader;
  /** Artifacts of a succeeded request, `result.json` first; empty when there are none (any more). */
  artifacts(id: string): Promise<ArtifactEntry[]>;
  endpoints(): readonly Endpoint[];
}
