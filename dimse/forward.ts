import type { Database, Queryable } from '../src/database/port.ts';
import type { ReceivedObjects } from '../src/files/port.ts';
import type { Deliverer } from '../src/outbox/port.ts';
import { permanent } from './deliver.ts';
import { outgoingFile } from './outgoing-object.ts';
import { failure } from './store-scu.ts';
import { outcomeOf, type StoreTransport } from './store-transport.ts';
import { keptObject } from './study-queries.ts';

/**
 * Sends received objects on, each file as it came: same encoding, same UIDs, private attributes and
 * all. The delivery names the instance.
 */
export function createForwardDeliverer(options: {
  /** How to reach each destination, by its name. */
  transports: ReadonlyMap<string, StoreTransport>;
  database: Database;
  objects: ReceivedObjects;
}): Deliverer {
  const { transports, database, objects } = options;
  return {
    kind: 'forward',
    async send({ destination, object }, signal) {
      const transport = transports.get(destination);
      if (!transport) return permanent('invalid_config', `No PACS is named "${destination}".`);
      const kept = await keptObject(database, object);
      const path = kept && (await objects.locate(kept));
      if (path === null) return permanent('expired', 'The received object is no longer there.');
      try {
        const file = await outgoingFile(path);
        return outcomeOf(await transport.send([[file]], signal), transport);
      } catch (error) {
        return outcomeOf([failure('', error)], transport);
      }
    },
    async probe(destination, signal) {
      return transports.get(destination)?.probe?.(signal);
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
