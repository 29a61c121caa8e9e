import type { NaturalDataset } from 'dcmjs';
import { attributesOfMessage, wantedAttributes } from '../../pipelines/dicom/bounded-header.ts';
import { itemsOf } from '../../pipelines/dicom/data-set.ts';
import { expectObjects } from '../../src/core/studies/expected-objects.ts';
import type { Database } from '../../src/platform/database/port.ts';
import type {
  NormalizedAnswer,
  NormalizedRequest,
  NormalizedService,
} from '../network/service-ports.ts';
import { STATUS } from '../network/status.ts';
import { newUid, REFERENCE_ATTRIBUTES, sopReferences, uidOf } from './referenced-objects.ts';

/**
 * Creates the Modality Performed Procedure Step service as SCP (PS3.4 F.7). A cart reports when an
 * examination begins and, when it ends, which objects were made. The final report is the most
 * certain signal that a study is complete.
 */
export function performedProcedureService(options: {
  database: Database;
  now: () => Date;
}): NormalizedService {
  return (request, peer) =>
    request.operation === 'N-CREATE'
      ? create(request, peer.callingAeTitle, options)
      : request.operation === 'N-SET'
        ? set(request, options)
        : Promise.resolve({ status: STATUS.noSuchAction });
}

const STEP_ATTRIBUTES = wantedAttributes([
  ...REFERENCE_ATTRIBUTES,
  'PerformedProcedureStepStatus',
  'PerformedSeriesSequence',
  'ReferencedImageSequence',
  'ReferencedNonImageCompositeSOPInstanceSequence',
  'ScheduledStepAttributesSequence',
  'StudyInstanceUID',
]);

const FINAL = ['COMPLETED', 'DISCONTINUED'];

/**
 * Answer to a change of a step that has ended (PS3.4 F.7.2.2.2). The Error ID distinguishes it from
 * other processing failures, after which a cart would try again.
 */
const NO_LONGER_UPDATED: NormalizedAnswer = {
  status: STATUS.processingFailure,
  errorId: 0xa710,
  comment: 'The procedure step may no longer be updated',
};

async function create(
  { sopInstanceUid, dataSet, transferSyntax }: NormalizedRequest,
  callingAeTitle: string,
  { database, now }: { database: Database; now: () => Date },
): Promise<NormalizedAnswer> {
  const step = attributesOfMessage(dataSet, transferSyntax, STEP_ATTRIBUTES);
  const uid = sopInstanceUid || newUid();
  const studies = itemsOf(step.ScheduledStepAttributesSequence)
    .map((item) => uidOf(item.StudyInstanceUID))
    .filter((study) => study !== '');
  const { PerformedProcedureStepStatus: status = '' } = step;
  if (studies.length === 0 || status === '') return { status: STATUS.missingAttributeValue };
  // A step begins in progress; its end is reported by N-SET (PS3.4 F.7.2.1.2).
  if (status !== 'IN PROGRESS') return { status: STATUS.invalidAttributeValue };
  const { rowCount } = await database.query(
    `INSERT INTO performed_procedure_steps
       (sop_instance_uid, study_instance_uids, status, calling_ae_title, created_at, updated_at,
         sop_instance_uids)
     VALUES ($1, $2, 'IN PROGRESS', $3, $4, $4, $5) ON CONFLICT DO NOTHING`,
    [uid, [...new Set(studies)], callingAeTitle, now(), objectsOf(step)],
  );
  if (rowCount !== 1) return { status: STATUS.duplicateSopInstance };
  return { status: STATUS.success, sopInstanceUid: uid };
}

async function set(
  { sopInstanceUid, dataSet, transferSyntax }: NormalizedRequest,
  { database, now }: { database: Database; now: () => Date },
): Promise<NormalizedAnswer> {
  const change = attributesOfMessage(dataSet, transferSyntax, STEP_ATTRIBUTES);
  const status = String(change.PerformedProcedureStepStatus ?? 'IN PROGRESS');
  if (!FINAL.includes(status) && status !== 'IN PROGRESS') {
    return { status: STATUS.invalidAttributeValue };
  }
  const named = objectsOf(change);
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{
      study_instance_uids: string[];
      status: string;
      sop_instance_uids: string[];
    }>(
      `SELECT study_instance_uids, status, sop_instance_uids FROM performed_procedure_steps
       WHERE sop_instance_uid = $1 FOR UPDATE`,
      [sopInstanceUid],
    );
    const [step] = rows;
    if (!step) return { status: STATUS.noSuchSopInstance };
    if (FINAL.includes(step.status)) return NO_LONGER_UPDATED;
    const at = now();
    // Objects listed in earlier messages of the step still count: not every cart repeats them at
    // the end.
    const made = [...new Set([...step.sop_instance_uids, ...named])];
    await tx.query(
      `UPDATE performed_procedure_steps SET status = $2, updated_at = $3, sop_instance_uids = $4
       WHERE sop_instance_uid = $1`,
      [sopInstanceUid, status, at, made],
    );
    // A discontinued examination has ended too, and the objects that it made are expected as well.
    if (FINAL.includes(status)) {
      for (const studyInstanceUid of step.study_instance_uids) {
        await expectObjects(tx, {
          studyInstanceUid,
          statedBy: sopInstanceUid,
          signal: 'performed-procedure',
          sopInstanceUids: made,
          statedAt: at,
        });
      }
    }
    return { status: STATUS.success };
  });
}

function objectsOf(step: NaturalDataset): string[] {
  return itemsOf(step.PerformedSeriesSequence)
    .flatMap((series) => [
      ...sopReferences(series.ReferencedImageSequence),
      ...sopReferences(series.ReferencedNonImageCompositeSOPInstanceSequence),
    ])
    .map(({ sopInstanceUid }) => sopInstanceUid);
}

const NOTIFICATION_ATTRIBUTES = wantedAttributes([
  ...REFERENCE_ATTRIBUTES,
  'ReferencedSeriesSequence',
  'ReferencedSOPSequence',
  'StudyInstanceUID',
]);

/**
 * Creates the Instance Availability Notification service as SCP (PS3.4 R). A PACS reports which
 * objects of a study it has. Once we have received all of them, the study is complete.
 */
export function instanceAvailabilityService({
  database,
  now,
}: {
  database: Database;
  now: () => Date;
}): NormalizedService {
  return async ({ operation, sopInstanceUid, dataSet, transferSyntax }) => {
    if (operation !== 'N-CREATE') return { status: STATUS.noSuchAction };
    const notification = attributesOfMessage(dataSet, transferSyntax, NOTIFICATION_ATTRIBUTES);
    const studyInstanceUid = uidOf(notification.StudyInstanceUID);
    if (!studyInstanceUid) return { status: STATUS.missingAttributeValue };
    const available = itemsOf(notification.ReferencedSeriesSequence).flatMap((series) =>
      sopReferences(series.ReferencedSOPSequence),
    );
    await expectObjects(database, {
      studyInstanceUid,
      statedBy: sopInstanceUid || studyInstanceUid,
      signal: 'instance-availability',
      sopInstanceUids: available.map((reference) => reference.sopInstanceUid),
      statedAt: now(),
    });
    return { status: STATUS.success };
  };
}
