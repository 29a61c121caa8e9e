import type { NaturalDataset } from 'dcmjs';
import { itemsOf } from '../data-set.ts';
import { referenceItems, type SopReference, sopReferences, uidOf } from './referenced-objects.ts';
import { PROCESSING_FAILURE } from './service-status.ts';

/** Action Type ID of "Request Storage Commitment" (PS3.4 J.3.2.1.1). */
export const REQUEST_COMMITMENT = 1;

/** Event Type IDs of Storage Commitment (PS3.4 J.3.3.1.1). */
export const COMMITMENT_EVENT = { complete: 1, failuresExist: 2 } as const;

/** What an SCP of Storage Commitment says of the objects of one transaction. */
export interface CommitmentReport {
  transactionUid: string;
  committed: SopReference[];
  /** `reason`: Failure Reason (0008,1197), PS3.3 C.14.1.1. */
  failed: (SopReference & { reason: number })[];
}

/** Event Information (PS3.4 table J.3-3); an empty sequence may not stand in it. */
export function reportDataSet({
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

/** @returns null when it names no transaction. */
export function readReport(dataSet: NaturalDataset): CommitmentReport | null {
  const transactionUid = uidOf(dataSet.TransactionUID);
  if (!transactionUid) return null;
  const failed = itemsOf(dataSet.FailedSOPSequence).flatMap((item) =>
    sopReferences([item]).map((reference) => ({ ...reference, reason: reasonOf(item) })),
  );
  return { transactionUid, committed: sopReferences(dataSet.ReferencedSOPSequence), failed };
}

function reasonOf({ FailureReason: reason }: NaturalDataset): number {
  const value = Number(Array.isArray(reason) ? reason[0] : reason);
  return Number.isInteger(value) ? value : PROCESSING_FAILURE;
}
