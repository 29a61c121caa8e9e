import { SonogateError } from '../../src/errors/catalogue.ts';
import type { CommandSet } from '../network/command-set.ts';
import { type CalledNode, Requestor } from '../network/requestor.ts';
import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  STORAGE_COMMITMENT,
} from '../sop-classes.ts';
import { SERVICE_STATUS } from './service-status.ts';

const SYNTAXES = [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN];

/**
 * Sends one message of Storage Commitment over an association of its own (PS3.4 J.3).
 * @param role `scu` asks (N-ACTION), `scp` reports (N-EVENT-REPORT, PS3.7 D.3.3.4).
 * @param dataSet in the transfer syntax that the node takes.
 * @throws SonogateError `presentation_context_refused`, `peer_refused_object` for a status that is no
 * success, and what an association throws.
 */
export async function sendCommitmentMessage(
  node: CalledNode,
  role: 'scu' | 'scp',
  command: Omit<CommandSet, 'messageId' | 'hasDataSet'>,
  dataSet: (transferSyntax: string) => Buffer,
): Promise<void> {
  const contexts = SYNTAXES.map((transferSyntax, index) => ({
    id: 2 * index + 1,
    abstractSyntax: STORAGE_COMMITMENT,
    transferSyntaxes: [transferSyntax],
  }));
  const roles =
    role === 'scp' ? [{ sopClassUid: STORAGE_COMMITMENT, scu: false, scp: true }] : undefined;
  const requestor = await Requestor.open(node, contexts, undefined, roles);
  try {
    const transferSyntax = SYNTAXES.find((syntax) =>
      requestor.takes({ sopClassUid: STORAGE_COMMITMENT, transferSyntax: syntax }),
    );
    if (transferSyntax === undefined) throw new SonogateError('presentation_context_refused');
    const { status } = await requestor.request(
      command,
      { sopClassUid: STORAGE_COMMITMENT, transferSyntax },
      dataSet(transferSyntax),
    );
    if (status !== SERVICE_STATUS.success) {
      throw new SonogateError('peer_refused_object', `status ${status.toString(16)}`);
    }
  } finally {
    await requestor.release();
  }
}
