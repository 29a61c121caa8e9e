import { auditValues, insertAuditOfMade, writeAudit } from '../audit/audit.ts';
import type { Database } from '../database/port.ts';
import { costOf } from './cost.ts';
import type { Endpoint } from './endpoint.ts';
import type { EventRecord } from './events.ts';
import { newId } from './ids.ts';
import type { SubmitCommand } from './port.ts';
import type { RequestRow } from './row.ts';
import { STAGES } from './stage.ts';

/** Of a `RequestRow`. */
const COLUMNS = `id, account_id, key_id, model, endpoint, version, status, stage, priority, test,
  input, metadata, webhook, source, cost, fault, attempts, crashes, created_at, started_at, ended_at,
  expires_at`;

/**
 * Request, first events and audit entry as one statement, which is one commit: the submit is as fast
 * as the disk. Nobody is notified, because nobody can be watching an id that has not been told.
 * `enqueued_at` is ahead of the queue; should the process end in between, the reconciler finds the
 * request when it rechecks.
 */
const STORE = `
  WITH made AS (
    INSERT INTO requests (id, account_id, key_id, model, endpoint, version, status, stage, priority,
      test, input, files, prior_files, metadata, webhook, source, cost, deliver_to, unique_key,
      created_at, last_seq, enqueued_at)
    VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7::jsonb, $8, $9, $10::jsonb, $11::jsonb, $12::jsonb,
      $13::jsonb, $14::jsonb, $15::jsonb, $16::jsonb, $17::jsonb, $18, $19,
      jsonb_array_length($20::jsonb), now())
    ON CONFLICT (unique_key) DO NOTHING
    RETURNING ${COLUMNS}
  ), logged AS (
    INSERT INTO request_events (request_id, seq, name, data, at)
    SELECT made.id, seq, event ->> 'name', event -> 'data', $19
    FROM made, jsonb_array_elements($20::jsonb) WITH ORDINALITY AS log (event, seq)
  ), audited AS (
    ${insertAuditOfMade(21)}
  )
  SELECT * FROM made`;

/** Stores a request, unless its unique key has one: then that is the row, and `isNew` is false. */
export async function storeRequest(
  database: Database,
  endpoint: Endpoint,
  command: SubmitCommand,
  at: Date,
): Promise<{ row: RequestRow; isNew: boolean }> {
  const events: EventRecord[] = [
    { name: 'status', data: { status: 'queued', previous: null, at: at.toISOString() } },
    { name: 'stage', data: STAGES.received },
    { name: 'stage', data: STAGES.queued_gpu },
  ];
  const { rows } = await database.query<RequestRow>(
    STORE,
    [
      newId('req', at),
      command.accountId,
      command.keyId,
      endpoint.model,
      endpoint.id,
      endpoint.version,
      JSON.stringify(STAGES.queued_gpu),
      command.priority,
      command.test,
      JSON.stringify(command.input),
      JSON.stringify(command.files),
      JSON.stringify(command.priorFiles),
      JSON.stringify(command.metadata),
      command.webhook && JSON.stringify(command.webhook),
      JSON.stringify(command.source),
      JSON.stringify(costOf(endpoint.price(command.input), command.test)),
      JSON.stringify(command.deliverTo),
      command.uniqueKey,
      at,
      JSON.stringify(events),
      ...auditValues(command.audit),
    ],
    'store-request',
  );
  const [made] = rows;
  if (made) return { row: made, isNew: true };
  const row = await findByUniqueKey(database, command);
  if (command.audit) await writeAudit(database, { ...command.audit, requestId: row.id });
  return { row, isNew: false };
}

async function findByUniqueKey(
  database: Database,
  { uniqueKey }: SubmitCommand,
): Promise<RequestRow> {
  const { rows } = await database.query<RequestRow>(
    `SELECT ${COLUMNS} FROM requests WHERE unique_key = $1`,
    [uniqueKey],
  );
  const [first] = rows;
  if (!first) throw new Error('the request with this unique key has gone');
  return first;
}

/** The queue was not reached: the reconciler is to put the request there at its next pass. */
export async function markNotEnqueued(database: Database, id: string): Promise<void> {
  await database.query('UPDATE requests SET enqueued_at = NULL WHERE id = $1', [id]);
}
