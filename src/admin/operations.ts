import { z } from 'zod';
import { createKey, listKeys, revokeKey, SCOPES } from '../accounts/keys.ts';
import type { Database } from '../database/port.ts';
import { SonogateError } from '../errors/catalogue.ts';
import type { DeliveryRow } from '../outbox/deliveries.ts';
import type { AdminOperations } from './socket.ts';

interface OperationParts {
  database: Database;
  /** What happened to a study; null when it is unknown. */
  explainStudy: (key: string) => Promise<unknown>;
  deliveries: {
    list(filter: { limit?: number }): Promise<DeliveryRow[]>;
    replay(id: string): Promise<DeliveryRow>;
  };
  /** Further operations, of the doors: each checks its own parameters. */
  more?: AdminOperations;
}

const keySchema = z.strictObject({
  name: z.string().min(1).max(100),
  test: z.boolean().default(false),
  scopes: z.array(z.enum(SCOPES)).min(1).optional(),
});
const byId = z.strictObject({ id: z.string() });
const byStudy = z.strictObject({ study: z.string() });

const LISTED_DELIVERIES = 100;

/** What commands may ask of the gateway over its admin socket, by name. */
export function createOperations({
  database,
  explainStudy,
  deliveries,
  more = {},
}: OperationParts): AdminOperations {
  return {
    'keys.create': async (parameters) => createKey(database, keySchema.parse(parameters)),
    'keys.list': async () => listKeys(database),
    'keys.revoke': async (parameters) => revokeKey(database, byId.parse(parameters).id),
    'studies.explain': async (parameters) => {
      const { study } = byStudy.parse(parameters);
      const explanation = await explainStudy(study);
      if (!explanation) throw new SonogateError('not_found', `There is no study ${study}.`);
      return explanation;
    },
    'deliveries.list': async () => deliveries.list({ limit: LISTED_DELIVERIES }),
    'deliveries.replay': async (parameters) => deliveries.replay(byId.parse(parameters).id),
    ...more,
  };
}
