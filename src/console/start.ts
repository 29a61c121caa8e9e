import type { PooledDatabase } from '../database/pooled.ts';
import { createCallLimits } from '../http/call-limits.ts';
import { openChanges } from './changes.ts';
import type { ConsoleDeps } from './deps.ts';
import { createShowSubject, loadPseudonymSecret } from './identity.ts';
import { createOidcProvider } from './oidc.ts';
import { readPageFiles } from './page-files.ts';
import { consoleRouter } from './routes.ts';

type Made = 'signInLimits' | 'showSubject' | 'changes' | 'files' | 'oidc' | 'database' | 'now';

export interface Console {
  router: ReturnType<typeof consoleRouter>;
  close(): Promise<void>;
}

/** Puts the console together; `migrate` must have run. */
export async function startConsole(
  parts: Omit<ConsoleDeps, Made> & { database: PooledDatabase; now?: () => Date },
): Promise<Console> {
  const { config, database, logger, now = () => new Date() } = parts;
  const { signInsPerMinute, oidc } = config.console;
  const changes = await openChanges(database, logger);
  const router = consoleRouter({
    ...parts,
    now,
    changes,
    signInLimits: createCallLimits({
      database,
      config: { callsPerMinute: signInsPerMinute, openStreamsPerKey: 1 },
    }),
    showSubject: createShowSubject(await loadPseudonymSecret(database)),
    files: await readPageFiles(),
    oidc: oidc ? createOidcProvider(oidc) : null,
  });
  return { router, close: () => changes.close() };
}
