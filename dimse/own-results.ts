import { resultSeriesUids } from '../pipelines/artifacts/dicom/modules.ts';
import type { Queryable } from '../src/database/port.ts';

/**
 * The series that results of ours are in, of all requests of a study: a PACS that forwards what it
 * has sends them back to us, and lists them as its own.
 */
export async function ownSeries(
  database: Queryable,
  studyInstanceUid: string,
): Promise<Set<string>> {
  const { rows } = await database.query<{ request_id: string }>(
    `SELECT r.request_id FROM study_requests r JOIN studies s ON s.id = r.study_id
     WHERE s.study_instance_uid = $1`,
    [studyInstanceUid],
  );
  return new Set(rows.flatMap(({ request_id }) => resultSeriesUids(request_id)));
}
