import type { DicomDestination } from '../../config/schema.ts';
import type { Database } from '../../src/database/port.ts';
import { SonogateError } from '../../src/errors/catalogue.ts';
import type { Logger } from '../../src/logging/logger.ts';
import { decodeDataSet, encodeDataSet } from '../data-set.ts';
import { COMMAND } from '../network/command-set.ts';
import type { NormalizedService } from '../network/normalized-service.ts';
import type { CalledNode } from '../network/requestor.ts';
import { STORAGE_COMMITMENT, STORAGE_COMMITMENT_INSTANCE } from '../sop-classes.ts';
import { nodeOf } from '../store-transport.ts';
import { type ReportTaker, sendCommitmentMessage } from './commitment-association.ts';
import { type CommitmentReport, REQUEST_COMMITMENT, readReport } from './commitment-report.ts';
import { newUid, referenceItems, type SopReference } from './referenced-objects.ts';
import { SERVICE_STATUS } from './service-status.ts';

/** Objects of one transaction at the most. */
const BATCH = 500;

/** A PACS that has said nothing for this long is asked again. */
const ASK_AGAIN_SECONDS = 3600;

/** A request that could not be sent is repeated after this. */
const FIRST_WAIT_SECONDS = 60;

/** Association, request, answer and release: each may take the whole patience with a PACS. */
const WAITS_OF_A_REQUEST = 4;

export interface CommitmentScuParts {
  database: Database;
  destinations: readonly DicomDestination[];
  aeTitle: string;
  logger: Logger;
  now: () => Date;
  /** Breaks off what is under way. */
  signal?: AbortSignal;
}

/**
 * Asks every PACS that is set so to commit to what it took of us since the last time: "delivered"
 * means that it has the object, "committed" that it will keep it.
 */
export async function askForCommitment(parts: CommitmentScuParts): Promise<void> {
  const asked = parts.destinations.filter(({ storageCommitment }) => storageCommitment);
  await Promise.all(asked.map((destination) => ask(destination, parts)));
}

async function ask(destination: DicomDestination, parts: CommitmentScuParts): Promise<void> {
  const { database, aeTitle, logger, now } = parts;
  const transactionUid = newUid();
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);
  // A process that is killed meanwhile leaves its objects to the next soon.
  const sent = inSeconds(WAITS_OF_A_REQUEST * destination.timeoutSeconds);
  const { rows } = await database.query<{ sop_class_uid: string; sop_instance_uid: string }>(
    `UPDATE delivered_objects SET transaction_uid = $2, asked_at = $3, ask_at = $4
     WHERE (delivery_id, sop_instance_uid) IN (
       SELECT delivery_id, sop_instance_uid FROM delivered_objects
       WHERE destination = $1 AND committed_at IS NULL AND failure_reason IS NULL
         AND (ask_at IS NULL OR ask_at <= $3) LIMIT $5 FOR UPDATE SKIP LOCKED)
     RETURNING sop_class_uid, sop_instance_uid`,
    [destination.name, transactionUid, now(), sent, BATCH],
  );
  if (rows.length === 0) return;
  const references = rows.map((row) => ({
    sopClassUid: row.sop_class_uid,
    sopInstanceUid: row.sop_instance_uid,
  }));
  const log = { destination: destination.name, transaction: transactionUid, objects: rows.length };
  try {
    await sendRequest(nodeOf(destination, aeTitle), transactionUid, references, parts);
    await database.query(
      'UPDATE delivered_objects SET failed_asks = 0, ask_at = $2 WHERE transaction_uid = $1',
      [transactionUid, inSeconds(ASK_AGAIN_SECONDS)],
    );
    logger.info(log, 'storage commitment asked for');
  } catch (error) {
    const code = error instanceof SonogateError ? error.code : 'internal';
    await putOff(database, transactionUid, now());
    logger.warn({ ...log, code }, 'storage commitment could not be asked for, will retry');
  }
}

function sendRequest(
  node: CalledNode,
  transactionUid: string,
  references: readonly SopReference[],
  parts: CommitmentScuParts,
): Promise<void> {
  const { logger, signal } = parts;
  const message = {
    commandField: COMMAND.nAction,
    requestedSopClassUid: STORAGE_COMMITMENT,
    requestedSopInstanceUid: STORAGE_COMMITMENT_INSTANCE,
    actionTypeId: REQUEST_COMMITMENT,
  };
  const request = {
    TransactionUID: transactionUid,
    ReferencedSOPSequence: referenceItems(references),
  };
  const reports: ReportTaker = {
    normalized: commitmentReportService(parts),
    log: (level, text, fields) => logger[level]({ pacs: node.aeTitle, ...fields }, text),
  };
  return sendCommitmentMessage(
    node,
    'scu',
    message,
    (transferSyntax) => encodeDataSet(request, transferSyntax),
    { reports, signal },
  );
}

/**
 * Seconds until a request that could not be sent is repeated, after `failures` of them: a minute,
 * then twice as long each time.
 */
export function askAgainSeconds(failures: number): number {
  return Math.min(FIRST_WAIT_SECONDS * 2 ** (failures - 1), ASK_AGAIN_SECONDS);
}

/** The objects were not asked for: soon again. */
async function putOff(database: Database, transactionUid: string, at: Date): Promise<void> {
  const { rows } = await database.query<{ failures: number }>(
    `UPDATE delivered_objects SET failed_asks = failed_asks + 1 WHERE transaction_uid = $1
     RETURNING failed_asks AS failures`,
    [transactionUid],
  );
  const failures = Math.max(1, ...rows.map((row) => row.failures));
  await database.query('UPDATE delivered_objects SET ask_at = $2 WHERE transaction_uid = $1', [
    transactionUid,
    new Date(at.getTime() + askAgainSeconds(failures) * 1000),
  ]);
}

/**
 * Takes the reports of a PACS, which come over the association of the request or over another
 * (PS3.4 J.3.3).
 */
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
      `UPDATE delivered_objects SET committed_at = $3, answered_at = $3
       WHERE transaction_uid = $1 AND sop_instance_uid = ANY ($2::text[])`,
      [transactionUid, committed.map(({ sopInstanceUid }) => sopInstanceUid), at],
    );
    for (const { sopInstanceUid, reason } of failed) {
      await tx.query(
        `UPDATE delivered_objects SET failure_reason = $3, answered_at = $4
         WHERE transaction_uid = $1 AND sop_instance_uid = $2`,
        [transactionUid, sopInstanceUid, reason, at],
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
