import type { ProposedContext } from './network/association-pdu.ts';
import { type CalledNode, type OutgoingObject, Requestor } from './network/requestor.ts';

/** What decides which presentation context an object needs. */
export type ObjectKind = Pick<OutgoingObject, 'sopClassUid' | 'transferSyntax'>;

export interface Lent {
  requestor: Requestor;
  /** Whether it was used and rested before: a peer may just have ended it. */
  rested: boolean;
}

/** Where associations for C-STORE come from. */
export interface Associations {
  /**
   * An association over which each object can be sent in one of its forms, if the peer takes any.
   * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
   */
  take(
    node: CalledNode,
    objects: readonly (readonly ObjectKind[])[],
    signal?: AbortSignal,
  ): Promise<Lent>;
  /** Gives it back when nothing more is sent for now. */
  give(node: CalledNode, lent: Lent): Promise<void>;
}

/** A new association each time, released when it is given back. */
export const FRESH_ASSOCIATIONS: Associations = {
  async take(node, objects, signal) {
    const requestor = await Requestor.open(node, contextsFor(objects.flat()), signal);
    return { requestor, rested: false };
  },
  give: (_, { requestor }) => requestor.release(),
};

/** PS3.8 9.3.2.2: context ids are odd numbers up to 255. */
export const MAX_CONTEXTS = 128;

/** One context per SOP class and transfer syntax, so that the peer cannot choose another encoding. */
export function contextsFor(objects: readonly ObjectKind[]): ProposedContext[] {
  const kinds = new Map(objects.map((object) => [kindOf(object), object]));
  return [...kinds.values()].slice(0, MAX_CONTEXTS).map((object, index) => ({
    id: 2 * index + 1,
    abstractSyntax: object.sopClassUid,
    transferSyntaxes: [object.transferSyntax],
  }));
}

export const kindOf = ({ sopClassUid, transferSyntax }: ObjectKind): string =>
  `${sopClassUid} ${transferSyntax}`;
