import { z } from 'zod';
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../src/database/port.ts';
import { SonogateError } from '../../src/errors/catalogue.ts';
import { askForRetrieval, findRetrieval } from './retrievals.ts';

/** PS3.5 9.1: what becomes part of queries and paths. */
const uid = z.string().regex(/^[0-9.]{1,64}$/, 'a UID');
const fetchSchema = z.strictObject({ study: uid, from: z.string() });
const byId = z.strictObject({ id: z.uuid() });

/** What commands may ask of archives: a running gateway fetches into its intake and routes it. */
export function createArchiveOperations(
  { archives }: Pick<Config, 'archives'>,
  database: Database,
): Record<string, (parameters: unknown) => Promise<unknown>> {
  const names = archives.map(({ name }) => name);
  return {
    'archives.fetch': async (parameters) => {
      const { study, from } = fetchSchema.parse(parameters);
      if (!names.includes(from)) {
        const known = names.join(', ') || 'none is configured';
        throw new SonogateError('not_found', `There is no archive "${from}"; there are: ${known}.`);
      }
      const wanted = { archive: from, studyInstanceUid: study, purpose: 'study' } as const;
      return { id: await askForRetrieval(database, wanted, new Date()) };
    },
    'archives.retrieval': async (parameters) => {
      const found = await findRetrieval(database, byId.parse(parameters).id);
      if (!found) throw new SonogateError('not_found', 'There is no retrieval of this id.');
      return found;
    },
  };
}
