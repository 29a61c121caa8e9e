import type { Queryable } from '../../platform/database/port.ts';

/**
 * SQL: pairs of requests of the study to which request $1 belongs; the result of `latter` replaces
 * that of `former`. PostgreSQL evaluates `runs` as a whole, so it must be limited to that study.
 */
const REPLACEMENTS = `
  WITH runs AS (
    SELECT s.study_id, s.revision, s.rule, s.request_id, r.endpoint, r.model
    FROM study_requests s JOIN requests r ON r.id = s.request_id
    WHERE r.workitem_uid IS NULL
      AND s.study_id IN (SELECT study_id FROM study_requests WHERE request_id = $1)),
  replacements AS (
    SELECT former.request_id AS former, former.revision,
      own.request_id AS latter, own.revision AS latter_revision
    FROM runs own JOIN runs former ON former.study_id = own.study_id
      AND former.revision < own.revision
      AND former.endpoint = own.endpoint AND former.model = own.model
    WHERE former.rule = own.rule OR NOT EXISTS (SELECT 1 FROM runs other
      WHERE other.study_id = own.study_id AND other.revision = own.revision
        AND other.endpoint = own.endpoint AND other.model = own.model
        AND other.rule <> own.rule))`;

/**
 * Returns the requests that the result of this request replaces, newest first: those for earlier
 * revisions of the same study, made for the same endpoint. If several rules run one endpoint, only
 * requests of the same rule count. A workitem neither replaces a request nor is replaced, because
 * it may cover only some of the objects. Empty for the first request of a study, and for a request
 * without a study.
 */
export async function earlierRequests(database: Queryable, requestId: string): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `${REPLACEMENTS} SELECT former AS id FROM replacements WHERE latter = $1
     ORDER BY revision DESC, former DESC`,
    [requestId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the requests whose results replace the result of this request, as in `earlierRequests`,
 * newest first.
 */
export async function laterRequests(database: Queryable, requestId: string): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `${REPLACEMENTS} SELECT latter AS id FROM replacements WHERE former = $1
     ORDER BY latter_revision DESC, latter DESC`,
    [requestId],
  );
  return rows.map(({ id }) => id);
}

/** Returns those of the requests whose result was withdrawn. */
export async function withdrawnRequests(
  database: Queryable,
  requestIds: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    'SELECT id FROM requests WHERE id = ANY ($1::text[]) AND withdrawal IS NOT NULL',
    [requestIds],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the newest earlier request whose draft was sent to a PACS and is now superseded; null if
 * no such draft was sent. A withdrawn one is left out: the PACS hides it.
 */
export async function supersededRequest(
  database: Queryable,
  requestId: string,
): Promise<string | null> {
  const { rows } = await database.query<{ request_id: string }>(
    `SELECT request_id FROM deliveries
     WHERE request_id = ANY ($1::text[]) AND kind = 'dicom' AND state = 'delivered'
       AND NOT not_sent AND result_revision = 0
       AND NOT EXISTS (SELECT 1 FROM requests r
         WHERE r.id = deliveries.request_id AND r.withdrawal IS NOT NULL)
     ORDER BY array_position($1::text[], request_id) LIMIT 1`,
    [await earlierRequests(database, requestId)],
  );
  return rows[0]?.request_id ?? null;
}
