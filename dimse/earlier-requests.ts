import type { Queryable } from '../src/database/port.ts';

/**
 * Requests of earlier revisions of the same study for the same endpoint, newest first: what a later
 * result stands in place of. Where several rules run one endpoint, each has a line of its own. Empty
 * for a first one, and for a request that came without a study.
 */
export async function earlierRequests(database: Queryable, requestId: string): Promise<string[]> {
  const { rows } = await database.query<{ request_id: string }>(
    `WITH runs AS (
       SELECT s.study_id, s.revision, s.rule, s.request_id, r.endpoint, r.model
       FROM study_requests s JOIN requests r ON r.id = s.request_id)
     SELECT former.request_id
     FROM runs own JOIN runs former ON former.study_id = own.study_id
       AND former.revision < own.revision
       AND former.endpoint = own.endpoint AND former.model = own.model
     WHERE own.request_id = $1
       AND (former.rule = own.rule OR NOT EXISTS (SELECT 1 FROM runs other
         WHERE other.study_id = own.study_id AND other.revision = own.revision
           AND other.endpoint = own.endpoint AND other.model = own.model
           AND other.rule <> own.rule))
     ORDER BY former.revision DESC, former.request_id DESC`,
    [requestId],
  );
  return rows.map(({ request_id }) => request_id);
}
