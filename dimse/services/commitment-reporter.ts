import type { Source } from '../../config/schema.ts';
import type { Database } from '../../src/database/port.ts';
import { SonogateError } from '../../src/errors/catalogue.ts';
import type { Logger } from '../../src/logging/logger.ts';
import { encodeDataSet } from '../data-set.ts';
import { COMMAND } from '../network/command-set.ts';
import { type CalledNode, Requestor } from '../network/requestor.ts';
import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from '../sop-classes.ts';
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
const TIMEOUT_SECONDS = 30;

/**
 * Tells the reports of Storage Commitment that their machine has not confirmed over its own
 * association: over a new one, of which we are the SCP (PS3.4 J.3.3, PS3.7 D.3.3.4).
 */
export async function tellReports(parts: ReporterParts): Promise<void> {
  const { database, now } = parts;
  const { rows } = await database.query<ReportRow>(
    `SELECT transaction_uid, calling_ae_title, source, committed, failed, attempt
     FROM commitment_reports WHERE told_at IS NULL AND next_at <= $1 ORDER BY next_at LIMIT 10`,
    [now()],
  );
  for (const row of rows) await tell(row, parts);
}

async function tell(row: ReportRow, parts: ReporterParts): Promise<void> {
  const { database, sources, logger, now } = parts;
  const node = sources.find(({ name }) => name === row.source)?.node;
  const log = { transaction: row.transaction_uid, callingAeTitle: row.calling_ae_title };
  if (!node) {
    await putOff(database, row, 'invalid_config', null);
    logger.warn(log, 'a report of storage commitment waits: the source has no `node`');
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
    await putOff(database, row, code, new Date(now().getTime() + wait * 1000));
    logger.warn({ ...log, code, wait }, 'storage commitment not reported, will retry');
  }
}

async function sendReport(node: CalledNode, report: CommitmentReport): Promise<void> {
  const syntaxes = [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN];
  const contexts = syntaxes.map((transferSyntax, index) => ({
    id: 2 * index + 1,
    abstractSyntax: STORAGE_COMMITMENT,
    transferSyntaxes: [transferSyntax],
  }));
  const roles = [{ sopClassUid: STORAGE_COMMITMENT, scu: false, scp: true }];
  const requestor = await Requestor.open(node, contexts, undefined, roles);
  try {
    const taken = syntaxes
      .map((transferSyntax) => ({ sopClassUid: STORAGE_COMMITMENT, transferSyntax }))
      .find((context) => requestor.takes(context));
    if (!taken) throw new SonogateError('presentation_context_refused');
    const { status } = await requestor.request(
      {
        commandField: COMMAND.nEventReport,
        affectedSopClassUid: STORAGE_COMMITMENT,
        affectedSopInstanceUid: STORAGE_COMMITMENT_INSTANCE,
        eventTypeId: COMMITMENT_EVENT[report.failed.length === 0 ? 'complete' : 'failuresExist'],
      },
      taken,
      encodeDataSet(reportDataSet(report), taken.transferSyntax),
    );
    if (status !== 0)
      throw new SonogateError('peer_refused_object', `status ${status.toString(16)}`);
  } finally {
    await requestor.release();
  }
}

/** @param until null: a person must do something first. */
async function putOff(
  database: Database,
  { transaction_uid, calling_ae_title }: ReportRow,
  code: string,
  until: Date | null,
): Promise<void> {
  await database.query(
    `UPDATE commitment_reports SET attempt = attempt + 1, code = $3,
       next_at = COALESCE($4, 'infinity') WHERE transaction_uid = $1 AND calling_ae_title = $2`,
    [transaction_uid, calling_ae_title, code, until],
  );
}
