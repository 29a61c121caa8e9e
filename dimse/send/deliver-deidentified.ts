import type { DeidentificationSettings } from '../../config/peers.ts';
import { patientKey } from '../../pipelines/deidentify/pseudonyms.ts';
import type { ReceivedObjects } from '../../src/core/files/received-objects.ts';
import { type Deliverer, failed } from '../../src/core/outbox/delivery.ts';
import { keptObject, receivedIdentityOfObject } from '../../src/core/studies/study-store.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { type StoreTransport, sendFile } from './store-scu.ts';

export type Deidentified =
  | { outcome: 'made'; path: string; discard(): Promise<void> }
  | { outcome: 'held'; reason: string }
  | { outcome: 'aborted' };

/**
 * Makes a de-identified copy of the object at `path`. `patient` identifies the patient of its
 * study.
 */
export type Deidentify = (
  object: { path: string; patient: string },
  settings: DeidentificationSettings,
  signal: AbortSignal,
) => Promise<Deidentified>;

/**
 * Sends de-identified copies of received objects. Each attempt makes the same copy again and
 * removes it afterwards. If an object cannot be de-identified with certainty, it is not sent: the
 * delivery ends, and a person has to decide.
 */
export function createDeidentifiedDeliverer(options: {
  destinations: readonly { name: string; deidentification: DeidentificationSettings }[];
  transports: ReadonlyMap<string, StoreTransport>;
  database: Database;
  objects: ReceivedObjects;
  deidentify: Deidentify;
}): Deliverer<'deidentified'> {
  const { transports, database, objects } = options;
  return {
    kind: 'deidentified',
    async send({ destination: name, object }, signal) {
      const destination = options.destinations.find((each) => each.name === name);
      const transport = transports.get(name);
      if (!destination || !transport) {
        return failed(
          'destination_not_configured',
          `There is no destination for de-identified objects named "${name}".`,
        );
      }
      const kept = await keptObject(database, object);
      const path = kept && (await objects.locate(kept));
      // The pseudonym is derived from the identity in the received images. The current identity
      // could change by a patient merge between two deliveries, and one study would get two
      // pseudonyms.
      const identity = await receivedIdentityOfObject(database, object);
      if (path === null || identity === null)
        return failed('expired', 'The received object has been removed.');
      const copy = await options.deidentify(
        { path, patient: patientKey(identity) },
        destination.deidentification,
        signal,
      );
      if (copy.outcome === 'held') return failed('deidentification_held', `Held: ${copy.reason}.`);
      if (copy.outcome === 'aborted') return failed('internal', 'Interrupted.');
      try {
        return await sendFile(copy.path, transport, signal);
      } finally {
        await copy.discard();
      }
    },
    async probe(destination, signal) {
      return transports.get(destination)?.probe?.(signal);
    },
  };
}
