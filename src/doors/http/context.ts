import type { Socket } from 'node:net';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';
import type { Routing } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import type { ModelCard } from '../../../pipelines/inference/model-registry.ts';
import type { Authenticate, Principal } from '../../core/accounts/keys.ts';
import type { WriteAudit } from '../../core/audit/audit.ts';
import type { RefusalAudit } from '../../core/audit/refusals.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import type { ReceivedObjects } from '../../core/files/received-objects.ts';
import type { Uploads } from '../../core/files/uploads.ts';
import type { RequestCore } from '../../core/requests/core.ts';
import type { Reviews } from '../../core/reviews/reviews.ts';
import type { StoreInstances } from '../../core/studies/store-port.ts';
import type { Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { OutboundClient } from '../../platform/outbound/client.ts';
import type { CallLimits } from './call-limits.ts';
import type { StudySource } from './fhir/study-source.ts';
import type { UrlSigner } from './signed-url.ts';

/** True if URLs can be built from a Host header. False for an empty header (HTTP/1.0). */
export function isValidHost(host: string): boolean {
  return !/[/?#@\\\s]/.test(host) && URL.canParse(`http://${host}`);
}

/**
 * Answers 400 to a call without a Host header, with more than one or with an invalid one (RFC 9112
 * 3.2), before any URL is built from it. HTTP/1.0 does not require the header.
 */
export function requireValidHost(): Middleware<HttpState> {
  return (context, next) => {
    const { req } = context;
    const [host, ...more] = req.headersDistinct.host ?? [];
    if (more.length > 0 || (host === undefined && req.httpVersion !== '1.0')) {
      throw new SonogateError('invalid_host', 'The call needs exactly one Host header.');
    }
    if (host && !isValidHost(host)) {
      throw new SonogateError('invalid_host', 'The Host header does not name a host.');
    }
    return next();
  };
}

/** Dependencies of the HTTP server, provided by `src/app/wiring/http-door.ts`. */
export interface HttpDeps {
  core: RequestCore;
  reviews: Reviews;
  database: Database;
  authenticate: Authenticate;
  writeAudit: WriteAudit;
  /** Records calls made with an invalid key. */
  refusals?: Pick<RefusalAudit, 'refused'>;
  uploads: Uploads;
  storeInstances: StoreInstances;
  objects: Pick<ReceivedObjects, 'locate'>;
  /** Whether studies can be searched for and retrieved (QIDO-RS, WADO-RS). */
  servesStudies: boolean;
  /**
   * Whether requests can be read as FHIR Tasks. They always can if the gateway accepts FHIR Tasks
   * or serves subscriptions.
   */
  servesTasks: boolean;
  /** Whether clients can subscribe to reports as FHIR Subscriptions. */
  servesSubscriptions: boolean;
  /**
   * Archives and EHRs from which studies can be submitted as FHIR Tasks; null if there are none.
   */
  studySource: StudySource | null;
  /** Dependencies of the worklist service (UPS-RS); undefined if it is not enabled. */
  worklist?:
    | { config: Pick<Config, 'dataDir' | 'destinations'>; routing: () => Routing }
    | undefined;
  blobs: Pick<BlobStore, 'direct'>;
  outbound: Pick<OutboundClient, 'check'>;
  limits: CallLimits;
  signer: UrlSigner;
  config: Pick<Config['http'], 'publicUrl' | 'maxBodyBytes' | 'maxFileBytes'>;
  models: () => Promise<ModelCard[]>;
  logger: Logger;
  /**
   * Readiness checks by component. Each resolves if the component works and rejects with the reason
   * if it does not.
   */
  checks: Record<string, () => Promise<unknown>>;
  metrics: () => Promise<string>;
  /** Adds the web console to the server; undefined if it is not enabled. */
  addConsole?: ((app: Koa<HttpState>) => void) | undefined;
  /** Aborted when the server stops; open streams then end. */
  stopping: AbortSignal;
  now?: () => Date;
  /** Milliseconds between keep-alive comments on a quiet event stream. */
  heartbeatMs?: number;
}

export interface HttpState {
  requestId: string;
  principal: Principal;
  /** Parsed JSON body; undefined if the call had none. */
  body: unknown;
  /**
   * Identifies this call across all accounts if the client sent an Idempotency-Key; otherwise null.
   */
  idempotencyKey: string | null;
  /** The caller's trace context, if it sent a valid one. */
  traceparent?: string;
  /** The subscription that the call created or deleted, for the audit. */
  subscription?: string;
  /** True if the audit entry was stored together with the effect of the call. */
  audited?: boolean;
  /** Begins the event stream with which the call is answered. */
  beginStream?: () => void;
}

/**
 * Returns the configured public address, otherwise the address at which the caller reached us,
 * without a trailing slash. Returns '' if the Host header is invalid, so that URLs built from it
 * are relative.
 */
export function baseUrl(
  context: Pick<Context, 'protocol' | 'get' | 'socket'>,
  config: HttpDeps['config'],
): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/+$/, '');
  // `context.host` is unsuitable: Koa drops the text before an `@` and after a `/`.
  const host = context.get('Host') || addressOf(context.socket);
  return isValidHost(host) ? `${context.protocol}://${host}` : '';
}

/** Returns our end of a connection. HTTP/1.0 does not require a Host header (RFC 9112 3.2). */
function addressOf({ localAddress, localPort, localFamily }: Socket): string {
  return `${localFamily === 'IPv6' ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** Adds a `Link` to the next page of a list (RFC 8288), unless this page is the last. */
export function linkNextPage(
  context: Context,
  config: HttpDeps['config'],
  cursor: string | null,
): void {
  if (cursor === null) return;
  // Only the path and the query are used; a call may name another host (RFC 9112 3.2.2).
  const next = new URL(context.originalUrl, 'http://localhost');
  next.searchParams.set('cursor', cursor);
  context.set('Link', `<${baseUrl(context, config)}${next.pathname}${next.search}>; rel="next"`);
}
