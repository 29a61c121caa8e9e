import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../../pipelines/artifacts/implementation.ts';
import { SonogateError } from '../../src/errors/catalogue.ts';
import {
  type AssociateAccept,
  DICOM_APPLICATION_CONTEXT,
  decodeAssociateAccept,
  decodeReject,
  encodeAssociateRequest,
  type ProposedContext,
  type RoleSelection,
} from './association-pdu.ts';
import type { CalledNode } from './dial.ts';
import { PDU } from './pdu.ts';
import type { PduEvent } from './pdu-reader.ts';

/** What we announce; a peer that sends longer ones is not speaking DICOM. */
export const MAX_RECEIVED_PDU_BYTES = 131_072;

/** The A-ASSOCIATE-RQ for a node. */
export function requestTo(
  { aeTitle, callingAeTitle }: Pick<CalledNode, 'aeTitle' | 'callingAeTitle'>,
  contexts: readonly ProposedContext[],
  roles: RoleSelection[],
): Buffer {
  return encodeAssociateRequest({
    calledAeTitle: aeTitle,
    callingAeTitle,
    applicationContext: DICOM_APPLICATION_CONTEXT,
    contexts: [...contexts],
    maxPduBytes: MAX_RECEIVED_PDU_BYTES,
    implementationClassUid: IMPLEMENTATION_CLASS_UID,
    implementationVersion: IMPLEMENTATION_VERSION,
    roles,
  });
}

/** @throws SonogateError `peer_rejected_association`, `unexpected_pdu`. */
export function acceptanceIn(answer: PduEvent & { kind: 'pdu' }): AssociateAccept {
  if (answer.type === PDU.associateReject) {
    const { result, source, reason } = decodeReject(answer.body);
    throw new SonogateError(
      'peer_rejected_association',
      `A-ASSOCIATE-RJ result ${result}, source ${source}, reason ${reason}.`,
    );
  }
  if (answer.type !== PDU.associateAccept) {
    throw new SonogateError('peer_rejected_association', 'The peer aborted the association.');
  }
  return decodeAssociateAccept(answer.body);
}
