import type { DicomDestination } from '../config/schema.ts';
import type { Database, Queryable } from '../src/database/port.ts';
import type { ReceivedObjects } from '../src/files/port.ts';
import type { Deliverer } from '../src/outbox/port.ts';
import { nodeOf, outcomeOf, permanent } from './deliver.ts';
import { failure, sendFiles } from './store-scu.ts';
import { keptObject } from './study-queries.ts';

/**
 * Sends received objects on, each file as it came: same encoding, same UIDs, private attributes and
 * all. The delivery names the instance.
 */
export function createForwardDeliverer(options: {
  destinations: readonly DicomDestination[];
  aeTitle: string;
  database: Database;
  objects: ReceivedObjects;
}): Deliverer {
  const { destinations, aeTitle, database, objects } = options;
  return {
    kind: 'forward',
    async send({ destination, object }, signal) {
      const settings = destinations.find(({ name }) => name === destination);
      if (!settings) return permanent('invalid_config', `No PACS is named "${destination}".`);
      const kept = await keptObject(database, object);
      const path = kept && (await objects.locate(kept));
      if (path === null) return permanent('expired', 'The received object is no longer there.');
      const node = nodeOf(settings, aeTitle);
      try {
        return outcomeOf(await sendFiles(node, [path], { signal }), settings);
      } catch (error) {
        return outcomeOf([failure('', error)], settings);
      }
    },
  };
}

/** What the outbox is told of received objects that are sent on: their study gives them their order. */
export async function forwardedObjects(
  database: Queryable,
  instanceIds: readonly string[],
): Promise<{ instance: string; study: string; revision: number }[]> {
  const { rows } = await database.query<{ instance: string; study: string; revision: number }>(
    `SELECT id AS instance, study_id AS study, revision FROM instances
     WHERE id = ANY ($1::uuid[]) ORDER BY study_id, ordinal`,
    [instanceIds],
  );
  return rows;
}
