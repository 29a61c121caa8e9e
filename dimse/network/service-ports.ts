import type { X509Certificate } from 'node:crypto';
import type { ErrorCode } from '../../src/platform/errors/catalogue.ts';

/** Who opened an association, as negotiated. */
export interface AssociationPeer {
  /** Our own id of the association, for the log. */
  id: string;
  callingAeTitle: string;
  calledAeTitle: string;
  address: string;
  /** What the peer proved to be in the TLS handshake; null in the clear and where it was not asked. */
  certificate?: X509Certificate | null;
  /** The entry of `sources` it was admitted as. */
  source?: string;
}

/** What the C-STORE request says of the object that follows. */
export interface IncomingObject {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  /** The study that the sender says it is of, where it says so (STOW-RS). */
  statedStudy?: string | undefined;
}

/** Takes one object. One call at a time; the next bytes are read only after `write` resolves. */
export interface ObjectSink {
  write(bytes: Buffer): Promise<void>;
  /** Resolves when the object is safe: only then is status 0000H sent. */
  commit(): Promise<void>;
  /** The object will not be completed; forgets what was written. */
  discard(): Promise<void>;
}

export type AssociationEnd = 'released' | 'aborted';

/** What a listener does with C-STORE. Errors carry a code of the catalogue, which is the status. */
export interface StorageService {
  open(object: IncomingObject, peer: AssociationPeer): Promise<ObjectSink>;
  ended(peer: AssociationPeer, end: AssociationEnd): Promise<void>;
}

export interface Admitted {
  /** How long the peer may be silent. */
  idleTimeoutSeconds: number;
  /** The entry of `sources` that let it in. */
  source?: string;
  /** Called once, when the association has ended. */
  ended?(): void;
}

/** Who may associate, or why not. */
export type Admission = (peer: AssociationPeer) => Admitted | { refused: ErrorCode };

/** A request on a normalized object, with its data set (PS3.7 10.1). */
export interface NormalizedRequest {
  operation: 'N-CREATE' | 'N-SET' | 'N-ACTION' | 'N-EVENT-REPORT';
  sopClassUid: string;
  /** Empty in an N-CREATE that leaves the choice to us. */
  sopInstanceUid: string;
  /** Action Type ID of N-ACTION, Event Type ID of N-EVENT-REPORT; else 0. */
  typeId: number;
  transferSyntax: string;
  dataSet: Buffer;
}

export interface NormalizedAnswer {
  status: number;
  comment?: string;
  /** Of an object that we named. */
  sopInstanceUid?: string;
  /** Sent to the peer behind the answer, on the same association (PS3.7 10.1.1). */
  report?: {
    eventTypeId: number;
    dataSet: Buffer;
    /** The peer has confirmed it. */
    acknowledged(): Promise<void>;
  };
}

/**
 * What a listener does with normalized requests. Errors carry a code of the catalogue, which is the
 * status.
 */
export type NormalizedService = (
  request: NormalizedRequest,
  peer: AssociationPeer,
) => Promise<NormalizedAnswer>;

/** Their data sets are small: lists of references and a few attributes. */
export const MAX_NORMALIZED_BYTES = 4 * 1024 * 1024;
