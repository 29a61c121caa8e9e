import type { Source } from '../../config/schema.ts';
import { attributesOfMessage, wantedAttributes } from '../../pipelines/dicom/bounded-header.ts';
import { encodeDataSet } from '../../pipelines/dicom/data-set.ts';
import {
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from '../../pipelines/dicom/sop-classes.ts';
import type { ReceivedObjects } from '../../src/core/files/received-objects.ts';
import { objectsUnder } from '../../src/core/studies/study-store.ts';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { inParallel } from '../../src/platform/in-parallel.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { DAY_MS, secondsAfter } from '../../src/platform/time.ts';
import type { CalledNode } from '../network/dial.ts';
import { COMMAND } from '../network/message.ts';
import type { NormalizedService } from '../network/service-ports.ts';
import { STATUS } from '../network/status.ts';
import {
  COMMITMENT_EVENT,
  type CommitmentReport,
  commitmentReportDataSet,
  REQUEST_COMMITMENT,
  sendCommitmentMessage,
} from './commitment-message.ts';
import {
  REFERENCE_ATTRIBUTES,
  type SopReference,
  statedReferences,
  uidOf,
} from './referenced-objects.ts';

interface CommitmentScpParts {
  database: Queryable;
  objects: ReceivedObjects;
  sources: readonly Source[];
  now: () => Date;
}

/**
 * Milliseconds to wait for a report to be confirmed on the association of its request. After that,
 * the report is sent over a new association.
 */
const PATIENCE_MILLISECONDS = 10_000;

const REQUEST_ATTRIBUTES = wantedAttributes([
  ...REFERENCE_ATTRIBUTES,
  'ReferencedSOPSequence',
  'TransactionUID',
]);
const LOOKS_AT_A_TIME = 16;

/**
 * Creates the Storage Commitment service as SCP. A cart uses it to ask whether it may delete the
 * objects that it sent. We commit only to objects that are synced to the disk and have a row in the
 * database.
 */
export function storageCommitmentService(parts: CommitmentScpParts): NormalizedService {
  return async ({ operation, typeId, dataSet, transferSyntax }, peer) => {
    if (operation !== 'N-ACTION' || typeId !== REQUEST_COMMITMENT) {
      return { status: STATUS.noSuchAction };
    }
    const request = attributesOfMessage(dataSet, transferSyntax, REQUEST_ATTRIBUTES);
    const transactionUid = uidOf(request.TransactionUID);
    // The report must cover every object of the request (PS3.4 J.3.3). If a reference with a
    // malformed UID were left out, the report would say that the request succeeded, and the cart
    // could delete an object that we do not have.
    const references = statedReferences(request.ReferencedSOPSequence);
    const isComplete = references.every(
      ({ sopClassUid, sopInstanceUid }) => sopClassUid !== '' && sopInstanceUid !== '',
    );
    if (!transactionUid || references.length === 0 || !isComplete) {
      return { status: STATUS.missingAttributeValue };
    }
    const report = await judge(parts, transactionUid, references);
    const { database, now } = parts;
    await keepReport(database, report, {
      callingAeTitle: peer.callingAeTitle,
      source: peer.source ?? '',
      at: now(),
    });
    return {
      status: STATUS.success,
      report: {
        eventTypeId: COMMITMENT_EVENT[report.failed.length === 0 ? 'complete' : 'failuresExist'],
        dataSet: encodeDataSet(commitmentReportDataSet(report), transferSyntax),
        acknowledged: () =>
          recordReportConfirmed(database, transactionUid, peer.callingAeTitle, now()),
      },
    };
  };
}

async function judge(
  { database, objects }: CommitmentScpParts,
  transactionUid: string,
  references: readonly SopReference[],
): Promise<CommitmentReport> {
  const uids = references.map(({ sopInstanceUid }) => sopInstanceUid);
  const received = await objectsUnder(database, uids);
  const classes = new Map(received.map((object) => [object.sopInstanceUid, object.sopClassUid]));
  // All objects under a UID must still exist, because the sender may mean any of them.
  const gone = new Set<string>();
  // Several objects are looked up at the same time, because each lookup in a bucket is a call over
  // the network, and the sender is waiting for the response.
  for (let start = 0; start < received.length; start += LOOKS_AT_A_TIME) {
    const batch = received.slice(start, start + LOOKS_AT_A_TIME);
    const kept = await Promise.all(batch.map((object) => objects.has(object)));
    for (const [index, { sopInstanceUid }] of batch.entries()) {
      if (!kept[index]) gone.add(sopInstanceUid);
    }
  }
  const report: CommitmentReport = { transactionUid, committed: [], failed: [] };
  for (const reference of references) {
    const sopClass = classes.get(reference.sopInstanceUid);
    if (sopClass === undefined || gone.has(reference.sopInstanceUid)) {
      report.failed.push({ ...reference, reason: STATUS.noSuchSopInstance });
    } else if (sopClass !== reference.sopClassUid) {
      report.failed.push({ ...reference, reason: STATUS.classInstanceConflict });
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

async function recordReportConfirmed(
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

interface ReportRow {
  transaction_uid: string;
  calling_ae_title: string;
  source: string;
  committed: SopReference[];
  failed: (SopReference & { reason: number })[];
  attempt: number;
  requested_at: Date;
}

export interface ReporterParts {
  database: Database;
  sources: readonly Source[];
  aeTitle: string;
  logger: Logger;
  now: () => Date;
  /** Ends the work when the gateway stops. */
  signal?: AbortSignal;
}

/**
 * Maximum number of reports sent to one source in one call of `sendDueReports`. A call ends only
 * when all sources are done, so a long list for one source would delay the next reports to the
 * others.
 */
const REPORTS_AT_A_TIME = 10;

const FIRST_WAIT_SECONDS = 10;
const LONGEST_WAIT_SECONDS = 3600;
/**
 * Seconds before the next attempt if the source has no `node` to which a report could be sent. Only
 * a restart with other settings can add the node.
 */
const WITHOUT_NODE_WAIT_SECONDS = 86_400;
const TIMEOUT_SECONDS = 30;

/**
 * Days after which a report is given up. A sender that could not be reached for so long has either
 * stopped waiting for the report or sent its request again.
 */
const GIVE_UP_DAYS = 7;

/**
 * Sends the commitment reports that were not confirmed on the association of their request. A new
 * association is used, on which we are the SCP (PS3.4 J.3.3, PS3.7 D.3.3.4). Sources are served in
 * parallel, and a source that cannot be reached is left until the next call, so that it does not
 * delay the others.
 */
export async function sendDueReports(parts: ReporterParts): Promise<void> {
  const { database, now, signal } = parts;
  const { rows } = await database.query<ReportRow>(
    `SELECT transaction_uid, calling_ae_title, source, committed, failed, attempt, requested_at
     FROM (SELECT *, row_number() OVER (PARTITION BY source ORDER BY next_at) AS place
       FROM commitment_reports WHERE told_at IS NULL AND given_up_at IS NULL AND next_at <= $1) due
     WHERE place <= $2 ORDER BY place`,
    [now(), REPORTS_AT_A_TIME],
  );
  const bySource = [...Map.groupBy(rows, ({ source }) => source).values()];
  await inParallel(bySource, bySource.length, async (reports) => {
    for (const row of reports) {
      if (signal?.aborted || !(await sendReportOf(row, parts))) return;
    }
  });
}

/**
 * Sends one report and records the outcome.
 * @returns false if the source could not be reached.
 */
async function sendReportOf(row: ReportRow, parts: ReporterParts): Promise<boolean> {
  const { database, sources, logger, now, signal } = parts;
  const node = sources.find(({ name }) => name === row.source)?.node;
  const log = { transaction: row.transaction_uid, callingAeTitle: row.calling_ae_title };
  if (!node) {
    if (await rescheduleReport(database, row, 'invalid_config', WITHOUT_NODE_WAIT_SECONDS, now())) {
      logger.event('commitment_without_node', log);
    } else {
      logger.event('commitment_given_up', log);
    }
    return true;
  }
  try {
    const { transaction_uid: transactionUid, committed, failed } = row;
    const called = { ...node, callingAeTitle: parts.aeTitle, timeoutSeconds: TIMEOUT_SECONDS };
    await sendCommitmentReport(called, { transactionUid, committed, failed }, signal);
    await recordReportConfirmed(database, transactionUid, row.calling_ae_title, now());
    logger.event('commitment_reported', log);
    return true;
  } catch (error) {
    // The report stays due, and is sent after the next start.
    if (signal?.aborted) return false;
    const code = error instanceof SonogateError ? error.code : 'internal';
    const wait = Math.min(FIRST_WAIT_SECONDS * 2 ** row.attempt, LONGEST_WAIT_SECONDS);
    if (await rescheduleReport(database, row, code, wait, now())) {
      logger.event('commitment_unreported', { ...log, code, wait });
    } else {
      logger.event('commitment_given_up', { ...log, code });
    }
    return false;
  }
}

/**
 * Sends the report of a transaction over a new association.
 * @throws SonogateError
 */
export function sendCommitmentReport(
  node: CalledNode,
  report: CommitmentReport,
  signal?: AbortSignal,
): Promise<void> {
  const message = {
    commandField: COMMAND.nEventReport,
    affectedSopClassUid: STORAGE_COMMITMENT,
    affectedSopInstanceUid: STORAGE_COMMITMENT_INSTANCE,
    eventTypeId: COMMITMENT_EVENT[report.failed.length === 0 ? 'complete' : 'failuresExist'],
  };
  return sendCommitmentMessage(
    node,
    'scp',
    message,
    (transferSyntax) => encodeDataSet(commitmentReportDataSet(report), transferSyntax),
    { signal },
  );
}

/**
 * Reschedules a report after `wait` seconds, or gives it up and stores the reason in its row.
 * @returns true if the report was rescheduled.
 */
async function rescheduleReport(
  database: Database,
  { transaction_uid, calling_ae_title, requested_at }: ReportRow,
  code: string,
  wait: number,
  at: Date,
): Promise<boolean> {
  const late = at.getTime() >= requested_at.getTime() + GIVE_UP_DAYS * DAY_MS;
  await database.query(
    `UPDATE commitment_reports SET attempt = attempt + 1, code = $3, next_at = $4, given_up_at = $5
     WHERE transaction_uid = $1 AND calling_ae_title = $2`,
    [transaction_uid, calling_ae_title, code, secondsAfter(at, wait), late ? at : null],
  );
  return !late;
}
