import type { Queryable } from '../database/port.ts';
import type { JudgedRule } from './port.ts';
import type { Traces } from './timeline.ts';

/** More than this of one kind is of no use to a reader. */
const MOST = 500;

/**
 * Everything that is stored of the way of a study, or of the one request that came without one.
 * @param requestIds of the study, all of them.
 */
export async function readTraces(
  database: Queryable,
  {
    studyId,
    requestIds,
    rules,
  }: { studyId: string | null; requestIds: readonly string[]; rules: readonly JudgedRule[] },
): Promise<Traces> {
  const rowsOf = async <Row extends object>(text: string, values: readonly unknown[]) =>
    (await database.query<Row>(text, values)).rows;
  const [study] = await rowsOf<NonNullable<Traces['study']>>(
    `SELECT calling_ae_title, called_ae_title, source, first_received_at FROM studies
     WHERE id = $1::uuid`,
    [studyId],
  );
  return {
    study: study ?? null,
    rules,
    history: await rowsOf(
      `SELECT at, state, revision, complete_because, reason FROM study_history
       WHERE study_id = $1::uuid ORDER BY id LIMIT ${MOST}`,
      [studyId],
    ),
    submitted: await rowsOf(
      `SELECT least(s.submitted_at, r.created_at) AS at, s.rule, s.request_id, s.revision, r.endpoint
       FROM study_requests s JOIN requests r ON r.id = s.request_id
       WHERE s.study_id = $1::uuid ORDER BY 1 LIMIT ${MOST}`,
      [studyId],
    ),
    events: await rowsOf(
      `SELECT request_id, name, data, at FROM request_events
       WHERE request_id = ANY ($1::text[]) AND name IN ('status', 'stage', 'triage', 'error')
       ORDER BY at, seq LIMIT ${MOST}`,
      [requestIds],
    ),
    deliveries: await rowsOf(
      `SELECT id, request_id, object, destination, state, code, detail, created_at, ended_at,
         committed_at
       FROM deliveries WHERE kind <> 'webhook' AND (request_id = ANY ($1::text[])
         OR (request_id IS NULL AND object IN
           (SELECT id::text FROM instances WHERE study_id = $2::uuid)))
       ORDER BY id LIMIT ${MOST}`,
      [requestIds, studyId],
    ),
    holds: await rowsOf(
      `SELECT at, action, person, delivery_id, request_id, reason FROM hold_actions
       WHERE request_id = ANY ($1::text[]) ORDER BY id LIMIT ${MOST}`,
      [requestIds],
    ),
    acknowledged: await rowsOf(
      'SELECT at, person, request_id FROM triage_acknowledgements WHERE request_id = ANY ($1::text[])',
      [requestIds],
    ),
    audit: await rowsOf(
      `SELECT a.at, a.action, a.request_id, a.detail ->> 'where' AS where,
         coalesce(substring(a.actor FROM '^person:(.*)$'), a.actor, k.name, a.key_id, '') AS actor
       FROM audit a LEFT JOIN api_keys k ON k.id = a.key_id
       WHERE (a.study_id = $1::uuid OR a.request_id = ANY ($2::text[]))
         AND (a.outcome IS NULL OR a.outcome = 'success') AND (a.status IS NULL OR a.status < 400)
       ORDER BY a.id LIMIT ${MOST}`,
      [studyId, requestIds],
    ),
  };
}
