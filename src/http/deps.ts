import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Config } from '../../config/schema.ts';
import type { ModelCard } from '../../pipelines/inference/model-cards.ts';
import type { Authenticate, Principal } from '../accounts/keys.ts';
import type { WriteAudit } from '../audit/audit.ts';
import type { RefusalAudit } from '../audit/refusals.ts';
import type { ConsoleState } from '../console/deps.ts';
import type { Database } from '../database/port.ts';
import type { BlobStore } from '../files/blob-store.ts';
import type { Uploads } from '../files/uploads.ts';
import type { Logger } from '../logging/logger.ts';
import type { Metric } from '../metrics/exposition.ts';
import type { OutboundClient } from '../outbound/client.ts';
import type { RequestCore } from '../requests/core.ts';
import type { CallLimits } from './call-limits.ts';
import { isHost } from './host-header.ts';
import type { UrlSigner } from './signed-url.ts';
import type { StoreInstances } from './store-port.ts';

/** All the HTTP door needs of the rest; `main.ts` hands it over. */
export interface HttpDeps {
  core: RequestCore;
  database: Database;
  authenticate: Authenticate;
  writeAudit: WriteAudit;
  /** Told of keys that are none. */
  refusals?: Pick<RefusalAudit, 'refused'>;
  uploads: Uploads;
  storeInstances: StoreInstances;
  blobs: Pick<BlobStore, 'direct'>;
  outbound: Pick<OutboundClient, 'check'>;
  limits: CallLimits;
  signer: UrlSigner;
  config: Pick<Config['http'], 'publicUrl' | 'maxBodyBytes' | 'maxFileBytes'>;
  /** The models in use, with their licence and accuracy. */
  models: () => Promise<ModelCard[]>;
  logger: Logger;
  /** Name of a part → resolves when it works, rejects with the reason when it does not. */
  checks: Record<string, () => Promise<unknown>>;
  metrics: () => Promise<Metric[]>;
  /** The web console; undefined where the site has none. */
  console?: Router<ConsoleState> | undefined;
  /** Aborted when the server stops: open streams end. */
  stopping: AbortSignal;
  now?: () => Date;
  /** Time between two comments on a quiet event stream. */
  heartbeatMs?: number;
}

/** What the middleware leaves for the resources. */
export interface HttpState {
  requestId: string;
  principal: Principal;
  /** Parsed JSON body; undefined when the call had none. */
  body: unknown;
  /** Names this call among all accounts when the client asked for it to be done once; else null. */
  idempotencyKey: string | null;
  /** The caller's place in a trace, where it sent one. */
  traceparent?: string;
  /** True once the call was written down together with what it did. */
  audited?: boolean;
}

/**
 * Address under which the caller reached us, without a trailing slash; empty where its Host names no
 * machine, so that what is made of it is relative.
 */
export function baseUrl(
  { protocol, host }: Pick<Context, 'protocol' | 'host'>,
  config: HttpDeps['config'],
): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/+$/, '');
  return isHost(host) ? `${protocol}://${host}` : '';
}
