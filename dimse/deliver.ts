import type { Paper } from '../config/schema.ts';
import type { ObjectBuilder, ObjectSource } from '../pipelines/artifacts/dicom-objects.ts';
import type { Subject } from '../pipelines/artifacts/subject.ts';
import type { Result } from '../pipelines/result/envelope.ts';
import type { Deliverer, SendOutcome } from '../src/outbox/port.ts';
import type { ResultReader } from '../src/requests/port.ts';
import { outgoingBuffer } from './outgoing-object.ts';
import { outcomeOf, type StoreTransport } from './store-transport.ts';

export interface DicomDelivererOptions {
  destinations: readonly (ObjectSource['destination'] & { name: string })[];
  /** How to reach each destination, by its name. */
  transports: ReadonlyMap<string, StoreTransport>;
  results: ResultReader;
  /** Null when the study of the request is no longer there. */
  subject: (requestId: string) => Promise<Subject | null>;
  /** Of the PDF report. */
  paper?: Paper;
  /** Object role (`sr-tid1500`) → builder. */
  builders: Readonly<Record<string, ObjectBuilder>>;
}

/**
 * Sends results to PACS. Objects are built anew for each attempt, always with the same SOP Instance
 * UIDs, so an attempt whose answer was lost is safe to repeat.
 */
export function createDicomDeliverer(options: DicomDelivererOptions): Deliverer {
  const { transports, results } = options;
  return {
    kind: 'dicom',
    async send({ requestId, destination: name, object }, signal) {
      const destination = options.destinations.find((each) => each.name === name);
      const transport = transports.get(name);
      if (!destination || !transport) {
        return permanent('invalid_config', `No PACS is named "${name}".`);
      }
      const build = options.builders[object];
      if (!build) return permanent('invalid_config', `No object "${object}" can be made.`);
      const result = await results.result(requestId);
      const subject = await options.subject(requestId);
      if (result === null || subject === null) {
        return permanent('expired', 'The result or its study is no longer there.');
      }
      // The core has checked the result against the envelope's schema before it was stored.
      const objects = await build({
        result: result as Result,
        subject,
        destination,
        ...(options.paper && { paper: options.paper }),
        artifactPath: (artifact) => results.artifactPath(requestId, artifact),
      });
      if (objects.length === 0) {
        return { outcome: 'delivered', detail: 'The result has nothing to send of this kind.' };
      }
      const forms = objects.map((files) => files.map(outgoingBuffer));
      return outcomeOf(await transport.send(forms, signal), transport);
    },
    async probe(destination, signal) {
      return transports.get(destination)?.probe?.(signal);
    },
  };
}

export function permanent(code: 'invalid_config' | 'expired', detail: string): SendOutcome {
  return { outcome: 'failed', failure: 'permanent', code, detail };
}
