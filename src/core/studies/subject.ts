import type { SourceInstance, Subject } from '../../../pipelines/dicom/subject.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { SubjectsOf } from '../audit/feed.ts';
import { correctedIdentity, correctionsOf, issuerIn } from '../patients/corrections.ts';
import { supersededRequest } from './earlier-requests.ts';
import { foundOrder } from './order.ts';
import { studyContext } from './order-join.ts';
import { studyIdentity } from './patient.ts';
import { fileName, findStudy, instancesOf, ownSeries, studyOfRequest } from './study-store.ts';

/**
 * Returns the subject of a request made from a DICOM study: the identity of the study and the
 * objects of the submitted revision, under their file names in the request.
 * @param study our id of the study (`RequestSource.study`).
 * @returns null if the study has been removed.
 */
export async function subjectOfStudy(
  database: Queryable,
  { requestId, study, revision }: { requestId: string; study: string; revision: number },
): Promise<Subject | null> {
  const row = await findStudy(database, study);
  if (!row) return null;
  const instances = await instancesOf(database, { id: row.id, revision });
  const headers = instances.map((instance) => instance.header);
  const order = await foundOrder(database, { id: row.id, revision });
  const context = studyContext(headers, order);
  const { dating } = context;
  // Our own results are left out, because a PACS may return them with the patient data from before
  // the correction.
  const ours = await ownSeries(database, row.study_instance_uid);
  const received = headers.filter(({ seriesInstanceUid }) => !ours.has(seriesInstanceUid));
  const images = studyIdentity(received.map(({ identity }) => identity));
  const signedAt = await lastSignature(database, requestId);
  const corrections = await correctionsOf(database, row.id, signedAt);
  return {
    requestId,
    identity: correctedIdentity(images ?? row.received_identity ?? row.identity, corrections),
    instances: instances.map(
      (instance): SourceInstance => ({
        sopClassUid: instance.header.sopClassUid,
        sopInstanceUid: instance.header.sopInstanceUid,
        seriesInstanceUid: instance.header.seriesInstanceUid,
        modality: instance.header.modality,
        file: fileName(instance),
        numberOfFrames: instance.header.numberOfFrames,
        rows: instance.header.rows,
        columns: instance.header.columns,
        lossy: instance.header.lossy ?? null,
      }),
    ),
    supersedes: await supersededRequest(database, requestId),
    equipment:
      received
        .map(({ equipment }) => equipment)
        .find((one) => one !== undefined && (one.manufacturer || one.model || one.station)) ?? null,
    indication: context.indication,
    order: order && { ...order, joined: context.fromOrder },
    dating: dating && { gaDays: dating.ga_days, basis: dating.basis },
  };
}

/**
 * Returns when a result was last signed; null while it is a draft. Signed documents keep the
 * patient as known at that time.
 */
async function lastSignature(database: Queryable, requestId: string): Promise<Date | null> {
  const { rows } = await database.query<{ at: Date | null }>(
    `SELECT max(s.at) AS at FROM review_signatures s JOIN reviews r USING (request_id)
     WHERE request_id = $1 AND s.signed_revision <= r.signed_revision`,
    [requestId],
  );
  return rows[0]?.at ?? null;
}

/** Returns the subject of a request; null if the request was not made from a DICOM study. */
export async function subjectOfRequest(
  database: Queryable,
  requestId: string,
): Promise<Subject | null> {
  const submitted = await studyOfRequest(database, requestId);
  return submitted && subjectOfStudy(database, { requestId, ...submitted });
}

/**
 * Finds the patient and study of audit rows, by row id. The rows themselves contain no identity; it
 * is looked up only when rows are sent to the audit record repository or exported.
 */
export function auditSubjects(database: Queryable): SubjectsOf {
  return async (rows) => {
    const asked = rows.filter((row) => row.study_id !== null || row.request_id !== null);
    const { rows: found } = await database.query<{
      row: string;
      uid: string;
      patient: string | null;
      issuer: string;
    }>(
      `SELECT asked.row, s.study_instance_uid AS uid, s.identity ->> 'PatientID' AS patient,
         ${issuerIn('s.identity')} AS issuer
       FROM jsonb_to_recordset($1::jsonb) AS asked (row text, study uuid, request text)
       LEFT JOIN LATERAL (
         SELECT study_id FROM study_requests WHERE request_id = asked.request LIMIT 1) r ON true
       JOIN studies s ON s.id = coalesce(asked.study, r.study_id)`,
      [
        JSON.stringify(
          asked.map(({ id, study_id, request_id }) => {
            return { row: id, study: study_id, request: request_id };
          }),
        ),
      ],
    );
    return new Map(
      found.map(({ row, uid, patient, issuer }) => [
        row,
        { studyInstanceUid: uid, patientId: patient ?? '', issuerOfPatientId: issuer },
      ]),
    );
  };
}
