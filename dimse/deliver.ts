import type { DicomDestination, Paper } from '../config/schema.ts';
import type { ObjectBuilder } from '../pipelines/artifacts/dicom-objects.ts';
import type { Subject } from '../pipelines/artifacts/subject.ts';
import type { Result } from '../pipelines/result/envelope.ts';
import { catalogueEntry } from '../src/errors/catalogue.ts';
import type { Deliverer, SendOutcome } from '../src/outbox/port.ts';
import type { ResultReader } from '../src/requests/port.ts';
import type { CalledNode } from './network/requestor.ts';
import { type StoreResult, sendForms } from './store-scu.ts';

export interface DicomDelivererOptions {
  destinations: readonly DicomDestination[];
  /** Our AE title where a destination names no other. */
  aeTitle: string;
  results: ResultReader;
  /** Null when the study of the request is no longer there. */
  subject: (requestId: string) => Promise<Subject | null>;
  /** Of the PDF report. */
  paper?: Paper;
  /** Object role (`sr-tid1500`) → builder. */
  builders: Readonly<Record<string, ObjectBuilder>>;
}

/**
 * Sends results to PACS by C-STORE. Objects are built anew for each attempt, always with the same SOP
 * Instance UIDs, so an attempt whose answer was lost is safe to repeat.
 */
export function createDicomDeliverer(options: DicomDelivererOptions): Deliverer {
  return {
    kind: 'dicom',
    async send(delivery, signal) {
      const destination = options.destinations.find(({ name }) => name === delivery.destination);
      if (!destination) {
        return permanent('invalid_config', `No destination is named "${delivery.destination}".`);
      }
      const build = options.builders[delivery.object];
      if (!build) return permanent('invalid_config', `No object "${delivery.object}" can be made.`);
      const result = await options.results.result(delivery.requestId);
      const subject = await options.subject(delivery.requestId);
      if (result === null || subject === null) {
        return permanent('expired', 'The result or its study is no longer there.');
      }
      // The core has checked the result against the envelope's schema before it was stored.
      const objects = await build({
        result: result as Result,
        subject,
        destination,
        ...(options.paper && { paper: options.paper }),
        artifactPath: (name) => options.results.artifactPath(delivery.requestId, name),
      });
      if (objects.length === 0) {
        return { outcome: 'delivered', detail: 'The result has nothing to send of this kind.' };
      }
      const node = nodeOf(destination, options.aeTitle);
      return outcomeOf(await sendForms(node, objects, signal), destination);
    },
  };
}

/** @param aeTitle ours, where the destination names no other. */
export function nodeOf(destination: DicomDestination, aeTitle: string): CalledNode {
  const { host, port, callingAeTitle = aeTitle, timeoutSeconds, tls } = destination;
  return { host, port, aeTitle: destination.aeTitle, callingAeTitle, timeoutSeconds, tls };
}

/** A warning counts as delivered: the peer has the object (PS3.4 B.2.3). */
export function outcomeOf(
  results: readonly StoreResult[],
  { storageCommitment }: Pick<DicomDestination, 'storageCommitment'>,
): SendOutcome {
  const failed = results.find(({ code }) => code !== null);
  if (!failed?.code) {
    const details = new Set(results.map(({ detail }) => detail));
    const objects = results.length > 1 ? `${results.length} objects, ` : '';
    const detail = `${objects}${[...details].join('; ')}`;
    return { outcome: 'delivered', detail, ...(storageCommitment && { objects: results }) };
  }
  const { code, detail } = failed;
  return { outcome: 'failed', failure: catalogueEntry(code).retry, code, detail };
}

export function permanent(code: 'invalid_config' | 'expired', detail: string): SendOutcome {
  return { outcome: 'failed', failure: 'permanent', code, detail };
}
