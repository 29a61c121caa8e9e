import type { X509Certificate } from 'node:crypto';
import type { ErrorCode } from '../../src/errors/catalogue.ts';

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
