import type { Source } from '../../config/schema.ts';
import type { Queryable } from '../../src/database/port.ts';
import type { KeptObject, ReceivedObjects } from '../../src/files/port.ts';
import { decodeDataSet, encodeDataSet } from '../data-set.ts';
import type { NormalizedService } from '../network/normalized-service.ts';
import {
  COMMITMENT_EVENT,
  type CommitmentReport,
  REQUEST_COMMITMENT,
  reportDataSet,
} from './commitment-report.ts';
import { type SopReference, sopReferences, uidOf } from './referenced-objects.ts';
import { SERVICE_STATUS } from './service-status.ts';

export interface CommitmentScpParts {
  database: Queryable;
  objects: ReceivedObjects;
  sources: readonly Source[];
  now: () => Date;
}

/** The report goes over the same association at once; if it is not confirmed by then, over a new one. */
const PATIENCE_MILLISECONDS = 10_000;

/** Objects looked for at a time. */
const LOOKS_AT_A_TIME = 16;

/**
 * Storage Commitment as SCP: a machine asks whether it may delete what it sent. We commit to objects
 * that lie synced on the disk and have their row, to no other.
 */
export function storageCommitmentService(parts: CommitmentScpParts): NormalizedService {
  return async ({ operation, typeId, dataSet, transferSyntax }, peer) => {
    if (operation !== 'N-ACTION' || typeId !== REQUEST_COMMITMENT) {
      return { status: SERVICE_STATUS.noSuchAction };
    }
    const request = decodeDataSet(dataSet, transferSyntax);
    const transactionUid = uidOf(request.TransactionUID);
    const references = sopReferences(request.ReferencedSOPSequence);
    if (!transactionUid || references.length === 0) {
      return { status: SERVICE_STATUS.missingAttributeValue };
    }
    const report = await judge(parts, transactionUid, references);
    const { database, now } = parts;
    await keepReport(database, report, {
      callingAeTitle: peer.callingAeTitle,
      source: peer.source ?? '',
      at: now(),
    });
    return {
      status: SERVICE_STATUS.success,
      report: {
        eventTypeId: COMMITMENT_EVENT[report.failed.length === 0 ? 'complete' : 'failuresExist'],
        dataSet: encodeDataSet(reportDataSet(report), transferSyntax),
        acknowledged: () => reportTold(database, transactionUid, peer.callingAeTitle, now()),
      },
    };
  };
}

async function judge(
  { database, objects }: CommitmentScpParts,
  transactionUid: string,
  references: readonly SopReference[],
): Promise<CommitmentReport> {
  const { rows } = await database.query<KeptObject & { uid: string; sop_class: string }>(
    `SELECT sop_instance_uid AS uid, header ->> 'sopClassUid' AS sop_class, path,
       file_sha256 AS "fileSha256" FROM instances WHERE sop_instance_uid = ANY ($1::text[])`,
    [references.map(({ sopInstanceUid }) => sopInstanceUid)],
  );
  const classes = new Map(rows.map((row) => [row.uid, row.sop_class]));
  // Of copies in conflict none may be gone: the machine may mean either.
  const gone = new Set<string>();
  // A bucket is asked over the network, and the machine waits for the answer.
  for (let start = 0; start < rows.length; start += LOOKS_AT_A_TIME) {
    const batch = rows.slice(start, start + LOOKS_AT_A_TIME);
    const kept = await Promise.all(batch.map((row) => objects.has(row)));
    for (const [index, { uid }] of batch.entries()) if (!kept[index]) gone.add(uid);
  }
  const report: CommitmentReport = { transactionUid, committed: [], failed: [] };
  for (const reference of references) {
    const sopClass = classes.get(reference.sopInstanceUid);
    if (sopClass === undefined || gone.has(reference.sopInstanceUid)) {
      report.failed.push({ ...reference, reason: SERVICE_STATUS.noSuchSopInstance });
    } else if (sopClass !== reference.sopClassUid) {
      report.failed.push({ ...reference, reason: SERVICE_STATUS.classInstanceConflict });
    } else {
      report.committed.push(reference);
    }
  }
  return report;
}

async function keepReport(
  database: Queryable,
  { transactionUid, committed, failed }: CommitmentReport,
  { callingAeTitle, source, at }: { callingAeTitle: string; source: string; at: Date },
): Promise<void> {
  await database.query(
    `INSERT INTO commitment_reports
       (transaction_uid, calling_ae_title, source, committed, failed, requested_at, next_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (transaction_uid, calling_ae_title) DO UPDATE SET committed = EXCLUDED.committed,
       failed = EXCLUDED.failed, requested_at = EXCLUDED.requested_at, next_at = EXCLUDED.next_at,
       attempt = 0, told_at = NULL, given_up_at = NULL`,
    [
      transactionUid,
      callingAeTitle,
      source,
      JSON.stringify(committed),
      JSON.stringify(failed),
      at,
      new Date(at.getTime() + PATIENCE_MILLISECONDS),
    ],
  );
}

export async function reportTold(
  database: Queryable,
  transactionUid: string,
  callingAeTitle: string,
  at: Date,
): Promise<void> {
  await database.query(
    `UPDATE commitment_reports SET told_at = $3, given_up_at = NULL, code = NULL
     WHERE transaction_uid = $1 AND calling_ae_title = $2`,
    [transactionUid, callingAeTitle, at],
  );
}
