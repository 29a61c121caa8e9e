import { randomUUID } from 'node:crypto';
import type { NaturalDataset } from 'dcmjs';
import { wantedAttributes } from '../../pipelines/dicom/bounded-header.ts';
import { itemsOf } from '../../pipelines/dicom/data-set.ts';
import { STORAGE_COMMITMENT } from '../../pipelines/dicom/sop-classes.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { CalledNode } from '../network/dial.ts';
import type { DimseProviderOptions } from '../network/dimse-provider.ts';
import type { CommandSet } from '../network/message.ts';
import { Requestor } from '../network/requestor.ts';
import { STATUS } from '../network/status.ts';
import {
  REFERENCE_ATTRIBUTES,
  referenceItems,
  type SopReference,
  sopReferences,
  uidOf,
} from './referenced-objects.ts';

/** Action Type ID of "Request Storage Commitment" (PS3.4 J.3.2.1.1). */
export const REQUEST_COMMITMENT = 1;

/** Event Type IDs of Storage Commitment (PS3.4 J.3.3.1.1). */
export const COMMITMENT_EVENT = { complete: 1, failuresExist: 2 } as const;

export interface CommitmentReport {
  transactionUid: string;
  committed: SopReference[];
  /** `reason` is the Failure Reason (0008,1197), PS3.3 C.14.1.1. */
  failed: (SopReference & { reason: number })[];
}

/** Encodes the Event Information (PS3.4 table J.3-3); an empty sequence is omitted. */
export function commitmentReportDataSet({
  transactionUid,
  committed,
  failed,
}: CommitmentReport): NaturalDataset {
  return {
    TransactionUID: transactionUid,
    ...(committed.length > 0 && { ReferencedSOPSequence: referenceItems(committed) }),
    ...(failed.length > 0 && {
      FailedSOPSequence: failed.map(({ reason, ...reference }) => ({
        ...referenceItems([reference])[0],
        FailureReason: reason,
      })),
    }),
  };
}

export const REPORT_ATTRIBUTES = wantedAttributes([
  ...REFERENCE_ATTRIBUTES,
  'FailedSOPSequence',
  'FailureReason',
  'ReferencedSOPSequence',
  'TransactionUID',
]);

/**
 * Reads a report.
 * @returns null if the report contains no Transaction UID.
 */
export function readCommitmentReport(dataSet: NaturalDataset): CommitmentReport | null {
  const transactionUid = uidOf(dataSet.TransactionUID);
  if (!transactionUid) return null;
  const failed = itemsOf(dataSet.FailedSOPSequence).flatMap((item) =>
    sopReferences([item]).map((reference) => ({ ...reference, reason: reasonOf(item) })),
  );
  return { transactionUid, committed: sopReferences(dataSet.ReferencedSOPSequence), failed };
}

function reasonOf({ FailureReason: reason }: NaturalDataset): number {
  const value = Number(Array.isArray(reason) ? reason[0] : reason);
  return Number.isInteger(value) ? value : STATUS.processingFailure;
}

const SYNTAXES = [EXPLICIT_VR_LITTLE_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN];

/** Milliseconds to wait for a report over the association of its request (PS3.4 J.3.3). */
const REPORT_MILLISECONDS = 5000;

/** The service that answers a report, if it arrives over the association of its request. */
export type ReportHandler = Pick<DimseProviderOptions, 'normalized' | 'log'>;

/**
 * Sends one Storage Commitment message over a new association (PS3.4 J.3).
 * @param role `scu` requests (N-ACTION), `scp` reports (N-EVENT-REPORT, PS3.7 D.3.3.4).
 * @param dataSet encodes the data set in the transfer syntax that the node accepts.
 * @param reports handles a report that arrives within a few seconds; the node may also send it
 * later, over another association.
 * @throws SonogateError `presentation_context_refused`, `peer_refused_object` for a status other
 * than success, and any association error.
 */
export async function sendCommitmentMessage(
  node: CalledNode,
  role: 'scu' | 'scp',
  command: Omit<CommandSet, 'messageId' | 'hasDataSet'>,
  dataSet: (transferSyntax: string) => Buffer,
  { reports, signal }: { reports?: ReportHandler; signal?: AbortSignal | undefined } = {},
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
      requestor.accepts({ sopClassUid: STORAGE_COMMITMENT, transferSyntax: syntax }),
    );
    if (transferSyntax === undefined) throw new SonogateError('presentation_context_refused');
    const { status } = await requestor.request(
      command,
      { sopClassUid: STORAGE_COMMITMENT, transferSyntax },
      dataSet(transferSyntax),
    );
    if (status !== STATUS.success) {
      throw new SonogateError('peer_refused_object', `status ${status.toString(16)}`);
    }
    if (reports) await takeReport(requestor, node, reports);
  } finally {
    await requestor.release();
  }
}

/** Waits for the report. The request has been accepted even if no report arrives. */
async function takeReport(
  requestor: Requestor,
  { aeTitle, callingAeTitle, host }: CalledNode,
  { normalized, log }: ReportHandler,
): Promise<void> {
  const peer = {
    id: randomUUID(),
    callingAeTitle: aeTitle,
    calledAeTitle: callingAeTitle,
    address: host,
  };
  await requestor.serve({ peer, normalized, log }, REPORT_MILLISECONDS).catch(() => {});
}
