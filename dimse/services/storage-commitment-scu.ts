import type { DicomDestination } from '../../config/schema.ts';
import type { Database } from '../../src/database/port.ts';
import { SonogateError } from '../../src/errors/catalogue.ts';
import type { Logger } from '../../src/logging/logger.ts';
import { decodeDataSet, encodeDataSet } from '../data-set.ts';
import { COMMAND } from '../network/command-set.ts';
import type { NormalizedService } from '../network/normalized-service.ts';
import { type CalledNode, Requestor } from '../network/requestor.ts';
import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from '../sop-classes.ts';
import { nodeOf } from '../store-transport.ts';
import { type CommitmentReport, readReport } from './commitment-report.ts';
import { newUid, referenceItems, type SopReference } from './referenced-objects.ts';
import { SERVICE_STATUS } from './service-status.ts';

/** Action Type ID of "Request Storage Commitment" (PS3.4 J.3.2.1.1). */
const REQUEST_COMMITMENT = 1;

/** Objects of one transaction at the most. */
const BATCH = 500;

/** A PACS that has said nothing for this long is asked again. */
const ASK_AGAIN_SECONDS = 3600;

export interface CommitmentScuParts {
  database: Database;
  destinations: readonly DicomDestination[];
  aeTitle: string;
  logger: Logger;
  now: () => Date;
}

/**
 * Asks every PACS that is set so to commit to what it took of us since the last time: "delivered"
 * means that it has the object, "committed" that it will keep it.
 */
export async function askForCommitment(parts: CommitmentScuParts): Promise<void> {
  for (const destination of parts.destinations) {
    if (destination.storageCommitment) await ask(destination, parts);
  }
}

async function ask(destination: DicomDestination, parts: CommitmentScuParts): Promise<void> {
  const { database, aeTitle, logger, now } = parts;
  const transactionUid = newUid();
  const { rows } = await database.query<{ sop_class_uid: string; sop_instance_uid: string }>(
    `UPDATE delivered_objects SET transaction_uid = $2, asked_at = $3
     WHERE (delivery_id, sop_instance_uid) IN (
       SELECT delivery_id, sop_instance_uid FROM delivered_objects
       WHERE destination = $1 AND committed_at IS NULL AND failure_reason IS NULL
         AND (asked_at IS NULL OR asked_at < $4) LIMIT $5 FOR UPDATE SKIP LOCKED)
     RETURNING sop_class_uid, sop_instance_uid`,
    [
      destination.name,
      transactionUid,
      now(),
      new Date(now().getTime() - ASK_AGAIN_SECONDS * 1000),
      BATCH,
    ],
  );
  if (rows.length === 0) return;
  const references = rows.map((row) => ({
    sopClassUid: row.sop_class_uid,
    sopInstanceUid: row.sop_instance_uid,
  }));
  const log = { destination: destination.name, transaction: transactionUid, objects: rows.length };
  try {
    await sendRequest(nodeOf(destination, aeTitle), transactionUid, references);
    logger.info(log, 'storage commitment asked for');
  } catch (error) {
    const code = error instanceof SonogateError ? error.code : 'internal';
    logger.warn({ ...log, code }, 'storage commitment could not be asked for, will retry');
  }
}

async function sendRequest(
  node: CalledNode,
  transactionUid: string,
  references: readonly SopReference[],
): Promise<void> {
  const contexts = [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN].map((syntax, index) => ({
    id: 2 * index + 1,
    abstractSyntax: STORAGE_COMMITMENT,
    transferSyntaxes: [syntax],
  }));
  const requestor = await Requestor.open(node, contexts);
  try {
    const transferSyntax =
      [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN].find((syntax) =>
        requestor.takes({ sopClassUid: STORAGE_COMMITMENT, transferSyntax: syntax }),
      ) ?? IMPLICIT_LITTLE_ENDIAN;
    const { status } = await requestor.request(
      {
        commandField: COMMAND.nAction,
        requestedSopClassUid: STORAGE_COMMITMENT,
        requestedSopInstanceUid: STORAGE_COMMITMENT_INSTANCE,
        actionTypeId: REQUEST_COMMITMENT,
      },
      { sopClassUid: STORAGE_COMMITMENT, transferSyntax },
      encodeDataSet(
        { TransactionUID: transactionUid, ReferencedSOPSequence: referenceItems(references) },
        transferSyntax,
      ),
    );
    if (status !== SERVICE_STATUS.success) {
      throw new SonogateError('peer_refused_object', `N-ACTION status ${status.toString(16)}`);
    }
  } finally {
    await requestor.release();
  }
}

/** Takes the reports of the PACS, which come over an association of its own (PS3.4 J.3.3). */
export function commitmentReportService({
  database,
  logger,
  now,
}: Pick<CommitmentScuParts, 'database' | 'logger' | 'now'>): NormalizedService {
  return async ({ operation, dataSet, transferSyntax }) => {
    if (operation !== 'N-EVENT-REPORT') return { status: SERVICE_STATUS.noSuchAction };
    const report = readReport(decodeDataSet(dataSet, transferSyntax));
    if (!report) return { status: SERVICE_STATUS.missingAttributeValue };
    const known = await settle(database, report, now());
    logger.info(
      {
        transaction: report.transactionUid,
        committed: report.committed.length,
        failed: report.failed.length,
        known,
      },
      'storage commitment report',
    );
    return { status: known ? SERVICE_STATUS.success : SERVICE_STATUS.noSuchSopInstance };
  };
}

/**
 * Writes a report down. A delivery is committed when all its objects are; one of which the PACS does
 * not commit to an object is dead: a person looks, and replays it.
 * @returns whether the transaction is one of ours.
 */
function settle(database: Database, report: CommitmentReport, at: Date): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { transactionUid, committed, failed } = report;
    const { rows } = await tx.query<{ delivery_id: string }>(
      'SELECT DISTINCT delivery_id FROM delivered_objects WHERE transaction_uid = $1',
      [transactionUid],
    );
    if (rows.length === 0) return false;
    await tx.query(
      `UPDATE delivered_objects SET committed_at = $3
       WHERE transaction_uid = $1 AND sop_instance_uid = ANY ($2::text[])`,
      [transactionUid, committed.map(({ sopInstanceUid }) => sopInstanceUid), at],
    );
    for (const { sopInstanceUid, reason } of failed) {
      await tx.query(
        `UPDATE delivered_objects SET failure_reason = $3
         WHERE transaction_uid = $1 AND sop_instance_uid = $2`,
        [transactionUid, sopInstanceUid, reason],
      );
    }
    const deliveries = rows.map((row) => row.delivery_id);
    await tx.query(
      `UPDATE deliveries d SET committed_at = $2 WHERE id = ANY ($1::text[])
         AND NOT EXISTS (SELECT 1 FROM delivered_objects o
           WHERE o.delivery_id = d.id AND o.committed_at IS NULL)`,
      [deliveries, at],
    );
    await tx.query(
      `UPDATE deliveries d SET state = 'dead', code = 'commitment_refused', detail = $2
       WHERE id = ANY ($1::text[]) AND state = 'delivered'
         AND EXISTS (SELECT 1 FROM delivered_objects o
           WHERE o.delivery_id = d.id AND o.failure_reason IS NOT NULL)`,
      [deliveries, 'The PACS took the object and does not commit to keep it.'],
    );
    return true;
  });
}
