import type { PacsDestination, Paper } from '../../config/schema.ts';
import type {
  ObjectBuilder,
  ObjectForms,
  ObjectSource,
} from '../../pipelines/artifacts/dicom-objects.ts';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import type { ReceivedObjects } from '../../src/core/files/received-objects.ts';
import { type Deliverer, failed, type RequestDelivery } from '../../src/core/outbox/delivery.ts';
import type { ResultReader } from '../../src/core/requests/request.ts';
import { readEnvelope } from '../../src/core/requests/results.ts';
import { keptObject } from '../../src/core/studies/study-store.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { outgoingBuffer, type StoreTransport, sendFile, sendOutcomeOf } from './store-scu.ts';

export interface DicomDelivererOptions {
  destinations: readonly (ObjectSource['destination'] &
    Pick<PacsDestination, 'name' | 'release' | 'rejectionNotes'>)[];
  transports: ReadonlyMap<string, StoreTransport>;
  results: ResultReader;
  /** Returns the subject of a request; null if its study has been removed. */
  subject: (requestId: string) => Promise<Subject | null>;
  paper?: Paper;
  /** The builder of each kind of object, by role (`sr-tid1500`). */
  builders: Readonly<Record<string, ObjectBuilder>>;
}

/**
 * Detail of a delivery for which the result has no object, such as a segmentation without segments.
 */
const NOTHING_SENT = 'Nothing was sent: the result has no object of this kind.';

/**
 * Delivers results to PACS. Objects are rebuilt for each attempt, always with the same SOP Instance
 * UIDs, so an attempt can be repeated safely if its response was lost.
 */
export function createDicomDeliverer(options: DicomDelivererOptions): Deliverer<'dicom'> {
  const { transports } = options;
  return {
    kind: 'dicom',
    async send(of, signal) {
      const destination = options.destinations.find(({ name }) => name === of.destination);
      const transport = transports.get(of.destination);
      if (!destination || !transport) {
        return failed('destination_not_configured', `There is no PACS named "${of.destination}".`);
      }
      if (!options.builders[of.object])
        return failed('invalid_config', `The object "${of.object}" cannot be created.`);
      const objects = await objectsOf(of, destination, options);
      if (objects === null) {
        return failed('expired', 'The result or its study has been removed.');
      }
      if (objects.length === 0) {
        return { outcome: 'delivered', notSent: true, detail: NOTHING_SENT };
      }
      const forms = objects.map((files) => files.map(outgoingBuffer));
      return sendOutcomeOf(await transport.send(forms, signal), transport);
    },
    async probe(destination, signal) {
      return transports.get(destination)?.probe?.(signal);
    },
  };
}

/**
 * Builds the objects of a result for a destination.
 * @returns null if the result or its study has been removed; an empty list if the result has no
 * object of this kind.
 */
export async function objectsOf(
  {
    requestId,
    object,
    resultRevision,
  }: Pick<RequestDelivery, 'requestId' | 'object' | 'resultRevision'>,
  destination: DicomDelivererOptions['destinations'][number],
  { results, subject: subjectOf, paper, builders }: DicomDelivererOptions,
): Promise<ObjectForms[] | null> {
  const result = await readEnvelope(results, requestId, resultRevision);
  const subject = await subjectOf(requestId);
  if (result === null || subject === null) return null;
  const build = builders[object];
  if (!build) return [];
  return build({
    result,
    subject: {
      ...subject,
      signedRevision: resultRevision,
      draftsWithheld: destination.release === 'after-signature',
    },
    destination,
    ...(paper && { paper }),
    artifactPath: (artifact) => results.artifactPath(requestId, artifact),
  });
}

/**
 * Forwards received objects unchanged, with the same transfer syntax and UIDs and with their
 * private attributes.
 */
export function createForwardDeliverer(options: {
  transports: ReadonlyMap<string, StoreTransport>;
  database: Database;
  objects: ReceivedObjects;
}): Deliverer<'forward'> {
  const { transports, database, objects } = options;
  return {
    kind: 'forward',
    async send({ destination, object }, signal) {
      const transport = transports.get(destination);
      if (!transport) {
        return failed('destination_not_configured', `There is no PACS named "${destination}".`);
      }
      const kept = await keptObject(database, object);
      const path = kept && (await objects.locate(kept));
      if (path === null) return failed('expired', 'The received object has been removed.');
      return sendFile(path, transport, signal);
    },
    async probe(destination, signal) {
      return transports.get(destination)?.probe?.(signal);
    },
  };
}
