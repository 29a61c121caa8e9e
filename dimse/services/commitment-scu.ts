import type { DicomDestination } from '../../config/schema.ts';
import { attributesOfMessage } from '../../pipelines/dicom/bounded-header.ts';
import { encodeDataSet } from '../../pipelines/dicom/data-set.ts';
import {
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from '../../pipelines/dicom/sop-classes.ts';
import {
  beginCommitment,
  makeCommitmentDue,
  recordCommitmentAsked,
  rescheduleCommitment,
  settleReport,
} from '../../src/core/outbox/commitment.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { inParallel } from '../../src/platform/in-parallel.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../src/platform/rounds.ts';
import { secondsAfter } from '../../src/platform/time.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import type { CalledNode } from '../network/dial.ts';
import { COMMAND } from '../network/message.ts';
import type { NormalizedService } from '../network/service-ports.ts';
import { STATUS } from '../network/status.ts';
import { calledNodeOf } from '../send/store-scu.ts';
import {
  REPORT_ATTRIBUTES,
  REQUEST_COMMITMENT,
  type ReportHandler,
  readCommitmentReport,
  sendCommitmentMessage,
} from './commitment-message.ts';
import { type ReporterParts, sendDueReports } from './commitment-scp.ts';
import { newUid, referenceItems, type SopReference } from './referenced-objects.ts';

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
  // The objects become due again at the time by which this request must have ended. If this process
  // is killed before that, another process then repeats the request.
  const sent = secondsAfter(now(), WAITS_OF_A_REQUEST * destination.timeoutSeconds);
  const references = await beginCommitment(database, destination.name, {
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
    await recordCommitmentAsked(database, transactionUid, now());
    logger.event('commitment_asked', log);
  } catch (error) {
    // A request that was cut short because the gateway is stopping shows nothing about the PACS. It
    // is due at the next start.
    if (signal?.aborted) return await makeCommitmentDue(database, transactionUid, now());
    const code = error instanceof SonogateError ? error.code : 'internal';
    await rescheduleCommitment(database, transactionUid, now());
    logger.event('commitment_not_asked', { ...log, code });
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
    logger.event('commitment_received', {
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
      logger.event('commitment_failed', { err: error }),
    ),
  });
  return {
    stop() {
      stopping.abort();
      return rounds.stop();
    },
  };
}
