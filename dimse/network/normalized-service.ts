import type { AssociationPeer } from './storage-service.ts';

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
