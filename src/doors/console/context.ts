import type { Config } from '../../../config/schema.ts';
import type { Authenticate } from '../../core/accounts/keys.ts';
import type { WriteAudit } from '../../core/audit/audit.ts';
import type { RefusalAudit } from '../../core/audit/refusals.ts';
import type { RequestCore } from '../../core/requests/core.ts';
import type { Reviews } from '../../core/reviews/reviews.ts';
import type { StoreInstances } from '../../core/studies/store-port.ts';
import type { Operations } from '../../operations/operations.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { CallLimits } from '../http/call-limits.ts';
import type { HttpState } from '../http/context.ts';
import type { Changes } from './changes.ts';
import type { ShowSubject } from './identity.ts';
import type { OidcProvider } from './oidc.ts';
import type { PageFiles } from './page-files.ts';
import type { ConsoleSession } from './sessions.ts';

export interface ConsoleDeps {
  config: Pick<
    Config,
    'alerts' | 'http' | 'dicom' | 'destinations' | 'sources' | 'delivery' | 'retention' | 'console'
  >;
  database: PooledDatabase;
  core: RequestCore;
  reviews: Reviews;
  operations: Operations;
  /** Stores uploaded objects in the same way as objects from any other source. */
  storeInstances: StoreInstances;
  authenticate: Authenticate;
  writeAudit: WriteAudit;
  refusals: Pick<RefusalAudit, 'refused'>;
  limits: CallLimits;
  /** Limits sign-in attempts per address. */
  signInLimits: CallLimits;
  showSubject: ShowSubject;
  changes: Changes;
  files: PageFiles;
  /** The identity provider; null when none is configured. */
  oidc: OidcProvider | null;
  logger: Logger;
  stopping: AbortSignal;
  now: () => Date;
  heartbeatMs?: number;
}

export interface ConsoleState extends HttpState {
  session: ConsoleSession;
}
