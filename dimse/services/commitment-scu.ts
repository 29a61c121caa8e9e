import type { DicomDestination } from '../../config/schema.ts';
import { attributesOfMessage } from '../../pipelines/dicom/bounded-header.ts';
import { encodeDataSet } from '../../pipelines/dicom/data-set.ts';
import {
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from '../../pipelines/dicom/sop-classes.ts';
import { confirmCommitment, refuseCommitment } from '../../src/core/outbox/deliveries.ts';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { inParallel } from '../../src/platform/in-parallel.ts';
import { EVENTS } from '../../src/platform/logging/events.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../src/platform/rounds.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import type { CalledNode } from '../network/dial.ts';
import { COMMAND } from '../network/message.ts';
import type { NormalizedService } from '../network/service-ports.ts';
import { STATUS } from '../network/status.ts';
import { calledNodeOf } from '../send/store-scu.ts';
import {
  type CommitmentReport,
  REPORT_ATTRIBUTES,
  REQUEST_COMMITMENT,
  type ReportHandler,
  readCommitmentReport,
  sendCommitmentMessage,
} from './commitment-message.ts';
import { type ReporterParts, sendDueReports } from './commitment-scp.ts';
import { newUid, referenceItems, type SopReference } from './referenced-objects.ts';

interface AskedObject {
  delivery_id: string;
  sop_instance_uid: string;
}

/**
 * Records a PACS's report on a transaction. Once the PACS has committed to all objects of a
 * delivery, the delivery is committed permanently. If the PACS refuses to commit to an object, the
 * delivery is dead and a person has to check and replay it, unless the PACS commits under another
 * transaction.
 * @returns true if the transaction is one of ours.
 */
export function settleReport(
  database: Database,
  report: CommitmentReport,
  at: Date,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const asked = await objectsOf(tx, report.transactionUid);
    if (asked.length === 0) return false;
    const keysOf = (uids: readonly string[]) => {
      const named = new Set(uids);
      const objects = asked.filter((object) => named.has(object.sop_instance_uid));
      return [
        objects.map((object) => object.delivery_id),
        objects.map((object) => object.sop_instance_uid),
      ];
    };
    await tx.query(
      `UPDATE delivered_objects SET committed_at = $3, answered_at = $3, failure_reason = NULL
       WHERE committed_at IS NULL
         AND (delivery_id, sop_instance_uid) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
      [...keysOf(report.committed.map(({ sopInstanceUid }) => sopInstanceUid)), at],
    );
    for (const { sopInstanceUid, reason } of report.failed) {
      await tx.query(
        `UPDATE delivered_objects SET failure_reason = $3, answered_at = $4
         WHERE committed_at IS NULL
           AND (delivery_id, sop_instance_uid) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
        [...keysOf([sopInstanceUid]), reason, at],
      );
    }
    const deliveries = asked.map((object) => object.delivery_id);
    await refuseCommitment(tx, deliveries);
    await confirmCommitment(tx, deliveries, at);
    return true;
  });
}

/**
 * Returns the objects of a transaction. An object that was delivered again has no transaction until
 * commitment is requested again, so a report on its former transaction does not affect it.
 */
async function objectsOf(tx: Queryable, transactionUid: string): Promise<AskedObject[]> {
  const { rows } = await tx.query<AskedObject>(
    `SELECT delivery_id, sop_instance_uid FROM delivered_objects WHERE transaction_uid = $1
     UNION
     SELECT delivery_id, sop_instance_uid
     FROM commitment_transactions t JOIN delivered_objects o USING (delivery_id, sop_instance_uid)
     WHERE t.transaction_uid = $1 AND o.transaction_uid IS NOT NULL`,
    [transactionUid],
  );
  return rows;
}

/** Maximum number of objects of one transaction. */
const BATCH = 500;

/**
 * Days until a PACS that accepted a request but has not reported is asked again. It may report only
 * after its nightly batch, or once the tape is written (PS3.4 J.3.3).
 */
const ASK_AGAIN_DAYS = [1, 2, 4, 7];

/** Initial wait in seconds before a request that could not be sent is repeated. */
const FIRST_WAIT_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 3600;

/**
 * Maximum number of waits in one request: association, request, response and release may each take
 * the PACS's full time-out.
 */
const WAITS_OF_A_REQUEST = 4;

interface CommitmentScuParts {
  database: Database;
  destinations: readonly DicomDestination[];
  aeTitle: string;
  certificates: ClientCertificates;
  logger: Logger;
  now: () => Date;
  signal?: AbortSignal;
}

/**
 * Requests storage commitment from every PACS configured for it, for all objects delivered since
 * the last request. "Delivered" means that the PACS has the object, "committed" that it will keep
 * it.
 */
export async function requestCommitments(parts: CommitmentScuParts): Promise<void> {
  const asked = parts.destinations.filter(({ storageCommitment }) => storageCommitment);
  await Promise.all(asked.map((destination) => ask(destination, parts)));
}

async function ask(destination: DicomDestination, parts: CommitmentScuParts): Promise<void> {
  const { database, aeTitle, logger, now, signal } = parts;
  const transactionUid = newUid();
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);
  // The objects become due again at the time by which this request must have ended. If this process
  // is killed before that, another process then repeats the request.
  const sent = inSeconds(WAITS_OF_A_REQUEST * destination.timeoutSeconds);
  const references = await beginTransaction(database, destination.name, {
    transactionUid,
    at: now(),
    askAt: sent,
  });
  if (references.length === 0) return;
  const objects = references.length;
  const log = { destination: destination.name, transaction: transactionUid, objects };
  try {
    await sendRequest(
      calledNodeOf(destination, aeTitle, parts.certificates),
      transactionUid,
      references,
      parts,
    );
    await database.query(
      `UPDATE delivered_objects SET failed_asks = 0, asks = asks + 1,
         ask_at = $2::timestamptz + make_interval(days =>
           ($3::int[])[LEAST(asks + 1, cardinality($3::int[]))])
       WHERE transaction_uid = $1`,
      [transactionUid, now(), ASK_AGAIN_DAYS],
    );
    logger.event(EVENTS.commitmentAsked, log);
  } catch (error) {
    // A request that was cut short because the gateway is stopping shows nothing about the PACS. It
    // is due at the next start.
    if (signal?.aborted) return await makeRequestDue(database, transactionUid, now());
    const code = error instanceof SonogateError ? error.code : 'internal';
    await rescheduleRequest(database, transactionUid, now());
    logger.event(EVENTS.commitmentNotAsked, { ...log, code });
  }
}

/**
 * Starts a transaction for the objects whose commitment is due to be requested, and claims them. An
 * object that was delivered again is removed from its earlier transactions, because they concern
 * the earlier delivery.
 */
function beginTransaction(
  database: Database,
  destination: string,
  { transactionUid, at, askAt }: { transactionUid: string; at: Date; askAt: Date },
): Promise<SopReference[]> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{
      delivery_id: string;
      sop_class_uid: string;
      sop_instance_uid: string;
      anew: boolean;
    }>(
      `SELECT delivery_id, sop_class_uid, sop_instance_uid, transaction_uid IS NULL AS anew
       FROM delivered_objects
       WHERE destination = $1 AND committed_at IS NULL AND failure_reason IS NULL
         AND (ask_at IS NULL OR ask_at <= $2) LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [destination, at, BATCH],
    );
    const objects = JSON.stringify(rows);
    await tx.query(
      `DELETE FROM commitment_transactions
       WHERE (delivery_id, sop_instance_uid) IN (SELECT delivery_id, sop_instance_uid
         FROM jsonb_to_recordset($1::jsonb) AS o
           (delivery_id text, sop_instance_uid text, anew boolean) WHERE o.anew)`,
      [objects],
    );
    await tx.query(
      `UPDATE delivered_objects d SET transaction_uid = $2, asked_at = $3, ask_at = $4,
         asks = CASE WHEN o.anew THEN 0 ELSE asks END
       FROM jsonb_to_recordset($1::jsonb) AS o
         (delivery_id text, sop_instance_uid text, anew boolean)
       WHERE (d.delivery_id, d.sop_instance_uid) = (o.delivery_id, o.sop_instance_uid)`,
      [objects, transactionUid, at, askAt],
    );
    await tx.query(
      `INSERT INTO commitment_transactions (transaction_uid, delivery_id, sop_instance_uid)
       SELECT $2, delivery_id, sop_instance_uid FROM jsonb_to_recordset($1::jsonb) AS o
         (delivery_id text, sop_instance_uid text)`,
      [objects, transactionUid],
    );
    return rows.map((row) => ({
      sopClassUid: row.sop_class_uid,
      sopInstanceUid: row.sop_instance_uid,
    }));
  });
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
  const reports: ReportHandler = {
    normalized: commitmentReportService(parts),
    log: (event, fields) => logger.event(event, { pacs: node.aeTitle, ...fields }),
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
 * Returns the seconds to wait before a request is sent again after `failures` failed attempts: a
 * minute at first, doubled with each failure, at most an hour.
 */
export function askAgainSeconds(failures: number): number {
  return Math.min(FIRST_WAIT_SECONDS * 2 ** (failures - 1), LONGEST_WAIT_SECONDS);
}

async function makeRequestDue(
  database: Queryable,
  transactionUid: string,
  at: Date,
): Promise<void> {
  await database.query('UPDATE delivered_objects SET ask_at = $2 WHERE transaction_uid = $1', [
    transactionUid,
    at,
  ]);
}

async function rescheduleRequest(
  database: Database,
  transactionUid: string,
  at: Date,
): Promise<void> {
  const { rows } = await database.query<{ failures: number }>(
    `UPDATE delivered_objects SET failed_asks = failed_asks + 1 WHERE transaction_uid = $1
     RETURNING failed_asks AS failures`,
    [transactionUid],
  );
  const failures = Math.max(1, ...rows.map((row) => row.failures));
  const again = new Date(at.getTime() + askAgainSeconds(failures) * 1000);
  await makeRequestDue(database, transactionUid, again);
}

/**
 * Creates the service that receives reports from a PACS, over the association of the request or
 * over another one (PS3.4 J.3.3).
 */
export function commitmentReportService({
  database,
  logger,
  now,
}: Pick<CommitmentScuParts, 'database' | 'logger' | 'now'>): NormalizedService {
  return async ({ operation, dataSet, transferSyntax }) => {
    if (operation !== 'N-EVENT-REPORT') return { status: STATUS.noSuchAction };
    const report = readCommitmentReport(
      attributesOfMessage(dataSet, transferSyntax, REPORT_ATTRIBUTES),
    );
    if (!report) return { status: STATUS.missingAttributeValue };
    const known = await settleReport(database, report, now());
    logger.event(EVENTS.commitmentReceived, {
      transaction: report.transactionUid,
      committed: report.committed.length,
      failed: report.failed.length,
      known,
    });
    return { status: known ? STATUS.success : STATUS.noSuchSopInstance };
  };
}

const ROUND_MILLISECONDS = 2000;

/** Sends due Storage Commitment requests and reports until stopped. */
export function startCommitmentRounds(parts: ReporterParts & CommitmentScuParts): Rounds {
  const { logger } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const rounds = startRounds({
    work: () =>
      inParallel([sendDueReports, requestCommitments], 2, (each) => each({ ...parts, signal })),
    pauseMilliseconds: ROUND_MILLISECONDS,
    ...logRounds(logger, 'storage commitment', (error) =>
      logger.event(EVENTS.commitmentFailed, { err: error }),
    ),
  });
  return {
    stop() {
      stopping.abort();
      return rounds.stop();
    },
  };
}
