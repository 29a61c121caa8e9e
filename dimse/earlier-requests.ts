import type { Queryable } from '../src/database/port.ts';

/**
 * Requests of earlier revisions of the same study for the same endpoint, newest first: what a later
 * result stands in place of. Empty for a first one, and for a request that came without a study.
 */
export async function earlierRequests(database: Queryable, requestId: string): Promise<string[]> {
  const { rows } = await database.query<{ request_id: string }>(
    `SELECT former.request_id
     FROM study_requests own
       JOIN study_requests former
         ON former.study_id = own.study_id AND former.revision < own.revision
       JOIN requests mine ON mine.id = own.request_id
       JOIN requests theirs ON theirs.id = former.request_id
         AND theirs.endpoint = mine.endpoint AND theirs.model = mine.model
     WHERE own.request_id = $1
     ORDER BY former.revision DESC, former.request_id DESC`,
    [requestId],
  );
  return rows.map(({ request_id }) => request_id);
}
