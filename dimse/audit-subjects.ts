import type { SubjectsOf } from '../src/audit/feed.ts';
import type { Queryable } from '../src/database/port.ts';

/** Finds the patient and study of audit rows, by row: identity joins them only here, last. */
export function auditSubjects(database: Queryable): SubjectsOf {
  return async (rows) => {
    const asked = rows.filter((row) => row.study_id !== null || row.request_id !== null);
    const { rows: found } = await database.query<{
      row: string;
      uid: string;
      patient: string | null;
      issuer: string | null;
    }>(
      `SELECT asked.row, s.study_instance_uid AS uid, s.identity ->> 'PatientID' AS patient,
         s.identity ->> 'IssuerOfPatientID' AS issuer
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
        { studyInstanceUid: uid, patientId: patient ?? '', issuerOfPatientId: issuer ?? '' },
      ]),
    );
  };
}

/** The study of a received object; null when it is no longer there. */
export async function studyOfInstance(database: Queryable, id: string): Promise<string | null> {
  const { rows } = await database.query<{ study: string }>(
    'SELECT study_id::text AS study FROM instances WHERE id = $1',
    [id],
  );
  return rows[0]?.study ?? null;
}
