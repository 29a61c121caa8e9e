import type { DicomDestination } from '../../config/schema.ts';
import type { SendOutcome } from '../../src/core/outbox/delivery.ts';
import {
  catalogueEntry,
  type ErrorCode,
  SonogateError,
} from '../../src/platform/errors/catalogue.ts';
import type { CalledNode } from '../network/dial.ts';
import type { OutgoingObject } from '../network/requestor.ts';
import type { AssociationPool } from './association-pool.ts';
import { type StoreResult, sendObjects } from './store-scu.ts';
import { echo } from './verification.ts';

/** The way to one destination: C-STORE or STOW-RS. */
export interface StoreTransport {
  /**
   * Sends each object in one of its forms, the preferred one first; stops at the first failure.
   * Never throws for what the peer does.
   */
  send(
    objects: readonly (readonly OutgoingObject[])[],
    signal: AbortSignal,
  ): Promise<StoreResult[]>;
  /** Whether storage commitment is requested from the peer; STOW-RS has none. */
  commits: boolean;
  /** Checks, without an object, whether the peer works. @returns why not; null when it does. */
  probe?(signal: AbortSignal): Promise<ErrorCode | null>;
}

/** C-STORE over associations of the pool; C-ECHO checks whether the node works. */
export function cStoreTransport(
  destination: DicomDestination,
  aeTitle: string,
  associations: AssociationPool,
): StoreTransport {
  const node = calledNodeOf(destination, aeTitle);
  return {
    send: (objects, signal) => sendObjects(node, objects, { signal, associations }),
    commits: destination.storageCommitment,
    async probe() {
      try {
        await echo(node);
        return null;
      } catch (error) {
        const code = error instanceof SonogateError ? error.code : 'internal';
        // A node without the Verification class has answered all the same.
        return code === 'presentation_context_refused' ? null : code;
      }
    },
  };
}

/** @param aeTitle our AE title, unless the destination names another. */
export function calledNodeOf(destination: DicomDestination, aeTitle: string): CalledNode {
  const { host, port, callingAeTitle = aeTitle, timeoutSeconds, tls } = destination;
  return { host, port, aeTitle: destination.aeTitle, callingAeTitle, timeoutSeconds, tls };
}

/** A warning counts as delivered: the peer has the object (PS3.4 B.2.3). */
export function sendOutcomeOf(
  results: readonly StoreResult[],
  { commits }: Pick<StoreTransport, 'commits'>,
): SendOutcome {
  const failed = results.find(({ code }) => code !== null);
  if (!failed?.code) {
    const details = new Set(results.map(({ detail }) => detail));
    const objects = results.length > 1 ? `${results.length} objects, ` : '';
    const detail = `${objects}${[...details].join('; ')}`;
    return { outcome: 'delivered', detail, ...(commits && { objects: results }) };
  }
  const { code, detail, retryAfter } = failed;
  const wait = retryAfter === undefined ? {} : { retryAfter };
  return { outcome: 'failed', failure: catalogueEntry(code).retry, code, detail, ...wait };
}
