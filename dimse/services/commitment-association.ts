import { randomUUID } from 'node:crypto';
import { SonogateError } from '../../src/errors/catalogue.ts';
import type { CommandSet } from '../network/command-set.ts';
import type { DimseProviderOptions } from '../network/dimse-provider.ts';
import { type CalledNode, Requestor } from '../network/requestor.ts';
import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  STORAGE_COMMITMENT,
} from '../sop-classes.ts';
import { SERVICE_STATUS } from './service-status.ts';

const SYNTAXES = [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN];

/** A report over the association of its request is waited for so long (PS3.4 J.3.3). */
const REPORT_MILLISECONDS = 5000;

/** Who takes a report that comes over the association of its request. */
export type ReportTaker = Pick<DimseProviderOptions, 'normalized' | 'log'>;

/**
 * Sends one message of Storage Commitment over an association of its own (PS3.4 J.3).
 * @param role `scu` asks (N-ACTION), `scp` reports (N-EVENT-REPORT, PS3.7 D.3.3.4).
 * @param dataSet in the transfer syntax that the node takes.
 * @param reports of the node are waited for some seconds; it may send them later, over another
 * association.
 * @throws SonogateError `presentation_context_refused`, `peer_refused_object` for a status that is no
 * success, and what an association throws.
 */
export async function sendCommitmentMessage(
  node: CalledNode,
  role: 'scu' | 'scp',
  command: Omit<CommandSet, 'messageId' | 'hasDataSet'>,
  dataSet: (transferSyntax: string) => Buffer,
  { reports, signal }: { reports?: ReportTaker; signal?: AbortSignal } = {},
): Promise<void> {
  const contexts = SYNTAXES.map((transferSyntax, index) => ({
    id: 2 * index + 1,
    abstractSyntax: STORAGE_COMMITMENT,
    transferSyntaxes: [transferSyntax],
  }));
  const roles =
    role === 'scp' ? [{ sopClassUid: STORAGE_COMMITMENT, scu: false, scp: true }] : undefined;
  const requestor = await Requestor.open(node, contexts, signal, roles);
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
    if (reports) await takeReport(requestor, node, reports);
  } finally {
    await requestor.release();
  }
}

/** How the wait ends says nothing of the request, which the node has taken. */
async function takeReport(
  requestor: Requestor,
  { aeTitle, callingAeTitle, host }: CalledNode,
  { normalized, log }: ReportTaker,
): Promise<void> {
  const peer = {
    id: randomUUID(),
    callingAeTitle: aeTitle,
    calledAeTitle: callingAeTitle,
    address: host,
  };
  await requestor.serve({ peer, normalized, log }, REPORT_MILLISECONDS).catch(() => {});
}
