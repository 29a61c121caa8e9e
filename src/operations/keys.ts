import { z } from 'zod';
import {
  createKey,
  listKeys,
  OVERLAP_HOURS,
  revokeKey,
  rotateKey,
  SCOPES,
} from '../core/accounts/keys.ts';
import { CONSOLE_ROLES } from '../core/accounts/roles.ts';
import type { Database } from '../platform/database/port.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import type { AdminOperations } from './socket.ts';

interface OperationParts {
  database: Database;
  studies: {
    /** What happened to a study; null when it is unknown. */
    explain(key: string): Promise<unknown>;
    completeNow(key: string): Promise<void>;
    release(key: string, rule: string | null): Promise<void>;
    rerun(key: string): Promise<void>;
    /** @param routing rules to try, as in a configuration file; null: those of the gateway. */
    dryRun(routing: unknown, last: number): Promise<unknown>;
  };
  /** Further operations, of the doors: each checks its own parameters. */
  more?: AdminOperations;
}

const keySchema = z.strictObject({
  name: z.string().min(1).max(100),
  test: z.boolean().default(false),
  scopes: z.array(z.enum(SCOPES)).min(1).optional(),
  consoleRole: z.enum(CONSOLE_ROLES).optional(),
});
const byId = z.strictObject({ id: z.string() });
const rotationSchema = byId.extend({
  overlapHours: z.number().min(0).max(OVERLAP_HOURS.longest).default(OVERLAP_HOURS.usual),
});
const byStudy = z.strictObject({ study: z.string() });

const releaseSchema = byStudy.extend({ rule: z.string().nullable().default(null) });
const dryRunSchema = z.strictObject({
  routing: z.unknown().default(null),
  last: z.number().int().positive().max(10_000).default(100),
});

/** What commands may ask of the gateway over its admin socket, by name. */
export function createKeyOperations({
  database,
  studies,
  more = {},
}: OperationParts): AdminOperations {
  return {
    'keys.create': async (parameters) => createKey(database, keySchema.parse(parameters)),
    'keys.list': async () => listKeys(database),
    'keys.rotate': async (parameters) => {
      const rotation = rotationSchema.parse(parameters);
      return rotateKey(database, { ...rotation, accountId: null, testOnly: false });
    },
    'keys.revoke': async (parameters) => revokeKey(database, byId.parse(parameters).id),
    'studies.explain': async (parameters) => {
      const { study } = byStudy.parse(parameters);
      const explanation = await studies.explain(study);
      if (!explanation) throw new SonogateError('not_found', `There is no study ${study}.`);
      return explanation;
    },
    'studies.complete': async (parameters) => studies.completeNow(byStudy.parse(parameters).study),
    'studies.release': async (parameters) => {
      const { study, rule } = releaseSchema.parse(parameters);
      return studies.release(study, rule);
    },
    'studies.rerun': async (parameters) => studies.rerun(byStudy.parse(parameters).study),
    'rules.test': async (parameters) => {
      const { routing, last } = dryRunSchema.parse(parameters);
      return studies.dryRun(routing, last);
    },
    ...more,
  };
}
