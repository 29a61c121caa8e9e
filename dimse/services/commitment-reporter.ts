import type { Source } from '../../config/schema.ts';
import type { Database } from '../../src/database/port.ts';
import { SonogateError } from '../../src/errors/catalogue.ts';
import type { Logger } from '../../src/logging/logger.ts';
import { encodeDataSet } from '../data-set.ts';
import { DAY_MS } from '../durations.ts';
import { COMMAND } from '../network/command-set.ts';
import type { CalledNode } from '../network/requestor.ts';
import { STORAGE_COMMITMENT, STORAGE_COMMITMENT_INSTANCE } from '../sop-classes.ts';
import { sendCommitmentMessage } from './commitment-association.ts';
import { COMMITMENT_EVENT, type CommitmentReport, reportDataSet } from './commitment-report.ts';
import type { SopReference } from './referenced-objects.ts';
import { reportTold } from './storage-commitment-scp.ts';

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
  /** Our AE title. */
  aeTitle: string;
  logger: Logger;
  now: () => Date;
}

const FIRST_WAIT_SECONDS = 10;
const LONGEST_WAIT_SECONDS = 3600;
/** A source gets a `node` only by a restart with other settings. */
const WITHOUT_NODE_WAIT_SECONDS = 86_400;
const TIMEOUT_SECONDS = 30;

/** A machine that could not be told for so long has given its request up, or asks anew. */
const GIVE_UP_DAYS = 7;

/**
 * Tells the reports of Storage Commitment that their machine has not confirmed over its own
 * association: over a new one, of which we are the SCP (PS3.4 J.3.3, PS3.7 D.3.3.4).
 */
export async function tellReports(parts: ReporterParts): Promise<void> {
  const { database, now } = parts;
  const { rows } = await database.query<ReportRow>(
    `SELECT transaction_uid, calling_ae_title, source, committed, failed, attempt,
       requested_at
     FROM commitment_reports WHERE told_at IS NULL AND given_up_at IS NULL AND next_at <= $1
     ORDER BY next_at LIMIT 10`,
    [now()],
  );
  for (const row of rows) await tell(row, parts);
}

async function tell(row: ReportRow, parts: ReporterParts): Promise<void> {
  const { database, sources, logger, now } = parts;
  const node = sources.find(({ name }) => name === row.source)?.node;
  const log = { transaction: row.transaction_uid, callingAeTitle: row.calling_ae_title };
  if (!node) {
    if (await putOff(database, row, 'invalid_config', WITHOUT_NODE_WAIT_SECONDS, now())) {
      logger.warn(log, 'a report of storage commitment waits: the source has no `node`');
    } else {
      logger.error(log, 'storage commitment not reported, given up');
    }
    return;
  }
  try {
    const { transaction_uid: transactionUid, committed, failed } = row;
    const called = { ...node, callingAeTitle: parts.aeTitle, timeoutSeconds: TIMEOUT_SECONDS };
    await sendReport(called, { transactionUid, committed, failed });
    await reportTold(database, transactionUid, row.calling_ae_title, now());
    logger.info(log, 'storage commitment reported');
  } catch (error) {
    const code = error instanceof SonogateError ? error.code : 'internal';
    const wait = Math.min(FIRST_WAIT_SECONDS * 2 ** row.attempt, LONGEST_WAIT_SECONDS);
    if (await putOff(database, row, code, wait, now())) {
      logger.warn({ ...log, code, wait }, 'storage commitment not reported, will retry');
    } else {
      logger.error({ ...log, code }, 'storage commitment not reported, given up');
    }
  }
}

/** Tells a machine of a transaction over an association of its own. @throws SonogateError */
export function sendReport(node: CalledNode, report: CommitmentReport): Promise<void> {
  const message = {
    commandField: COMMAND.nEventReport,
    affectedSopClassUid: STORAGE_COMMITMENT,
    affectedSopInstanceUid: STORAGE_COMMITMENT_INSTANCE,
    eventTypeId: COMMITMENT_EVENT[report.failed.length === 0 ? 'complete' : 'failuresExist'],
  };
  return sendCommitmentMessage(node, 'scp', message, (transferSyntax) =>
    encodeDataSet(reportDataSet(report), transferSyntax),
  );
}

/**
 * Repeats it after `wait` seconds; one that is given up keeps its row, with why.
 * @returns whether it is repeated.
 */
async function putOff(
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
    [
      transaction_uid,
      calling_ae_title,
      code,
      new Date(at.getTime() + wait * 1000),
      late ? at : null,
    ],
  );
  return !late;
}
