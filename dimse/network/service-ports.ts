import type { X509Certificate } from 'node:crypto';
import type { ErrorCode } from '../../src/platform/errors/catalogue.ts';
import type { EventId, FieldsOf } from '../../src/platform/logging/events.ts';

export interface AssociationPeer {
  /** Our id of the association or store transaction. */
  id: string;
  callingAeTitle: string;
  calledAeTitle: string;
  address: string;
  /**
   * The peer's certificate; null if it presented none. The TLS handshake has proved that the peer
   * has the private key.
   */
  certificate?: X509Certificate | null;
  /** Name of the source that admitted the peer; absent if the peer may not store objects. */
  source?: string;
  mayQuery?: boolean;
}

export interface IncomingObject {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  /** The Study Instance UID stated by the sender (STOW-RS). */
  statedStudy?: string | undefined;
}

/**
 * Receives one object. The caller makes one call at a time, and reads the next bytes only after
 * `write` has resolved.
 */
export interface ObjectSink {
  /** The bytes are valid only until the promise has resolved. */
  write(bytes: Buffer): Promise<void>;
  /** Resolves when the object is durable; status 0000H is sent only then. */
  commit(): Promise<void>;
  /**
   * Resolves when the committed object is recorded in the database, or when recording it has been
   * left to the next startup.
   */
  recorded?(): Promise<unknown>;
  /** Called when the object will not be completed: deletes the bytes that were written. */
  discard(): Promise<void>;
}

export type AssociationEnd = 'released' | 'aborted';

/**
 * Stores objects that arrive by C-STORE, STOW-RS or a retrieval. An error with a catalogue code
 * becomes the status of the response.
 */
export interface StorageService {
  open(object: IncomingObject, peer: AssociationPeer): Promise<ObjectSink>;
  /**
   * Resolves when the objects of an association are in the database, so that a query after its
   * release finds them. Resolves after a few seconds in any case.
   */
  settled?(peer: AssociationPeer): Promise<void>;
  ended(peer: AssociationPeer, end: AssociationEnd): Promise<void>;
}

export interface Admitted {
  idleTimeoutSeconds: number;
  source?: string;
  mayQuery?: boolean;
  /** Called once, after the association has ended. */
  ended?(): void;
}

/** Admits the peer of an association request, or returns why it is refused. */
export type Admission = (peer: AssociationPeer) => Admitted | { refused: ErrorCode };

/** A request for a normalized SOP instance, with its data set (PS3.7 10.1). */
export interface NormalizedRequest {
  operation: 'N-CREATE' | 'N-SET' | 'N-ACTION' | 'N-EVENT-REPORT';
  sopClassUid: string;
  /** '' in an N-CREATE that leaves the choice of the UID to us. */
  sopInstanceUid: string;
  /** Action Type ID of N-ACTION, Event Type ID of N-EVENT-REPORT, otherwise 0. */
  typeId: number;
  transferSyntax: string;
  dataSet: Buffer;
}

/** An N-EVENT-REPORT that follows the response on the same association (PS3.7 10.1.1). */
export interface NormalizedReport {
  eventTypeId: number;
  dataSet: Buffer;
  acknowledged(): Promise<void>;
}

export interface NormalizedAnswer {
  status: number;
  comment?: string;
  /** Error ID (0000,0903), which explains the status further. */
  errorId?: number;
  /** UID of the object, if we chose it. */
  sopInstanceUid?: string;
  report?: NormalizedReport;
}

/**
 * Answers the normalized requests of a listener. An error with a catalogue code becomes the status
 * of the response.
 */
export type NormalizedService = (
  request: NormalizedRequest,
  peer: AssociationPeer,
) => Promise<NormalizedAnswer>;

/** A request of the Query/Retrieve service class (PS3.4 C.4). */
export interface QueryRequest {
  operation: 'C-FIND' | 'C-MOVE' | 'C-GET';
  sopClassUid: string;
  transferSyntax: string;
  identifier: Buffer;
  /** AE title of the C-MOVE destination; '' for other operations. */
  moveDestination: string;
}

/** Counts of the C-STORE sub-operations of a C-MOVE or C-GET (PS3.7 9.1.3, 9.1.4). */
export interface SubOperations {
  remaining: number;
  completed: number;
  failed: number;
  warning: number;
}

/** One response; every response except the last is pending. */
export interface QueryAnswer {
  status: number;
  comment?: string;
  dataSet?: Buffer;
  subOperations?: SubOperations;
}

/** An object to send; its data set is sent byte for byte. */
export interface OutgoingObject {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  /** Length of the data set. */
  bytes: number;
  /** Returns the data set in pieces of at most `size` bytes. */
  read(size: number): AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** Logs an event together with the fields that identify an association. */
export type AssociationLog = <Id extends EventId>(id: Id, fields: FieldsOf<Id>) => void;

export interface QueryingAssociation {
  /** Aborted when the peer cancels the operation (C-CANCEL) or the association ends. */
  canceled: AbortSignal;
  /** The transfer syntaxes in which the peer accepts objects of a class, for a C-GET. */
  accepts(sopClassUid: string): readonly string[];
  /**
   * Sends a C-STORE over this association, for a C-GET.
   * @returns the peer's status; null if it does not accept objects of this kind.
   */
  store(object: OutgoingObject): Promise<number | null>;
  log: AssociationLog;
}

/**
 * Answers queries and retrievals with one or more responses. An error with a catalogue code becomes
 * the status of the last response.
 */
export type QueryService = (
  request: QueryRequest,
  peer: AssociationPeer,
  association: QueryingAssociation,
) => AsyncIterable<QueryAnswer>;

/**
 * Maximum size of the data set of a normalized request, which holds lists of references and a few
 * attributes.
 */
export const MAX_NORMALIZED_BYTES = 4 * 1024 * 1024;
