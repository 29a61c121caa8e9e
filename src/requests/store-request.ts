import { createAuditWriter, MADE_AUDIT, type SubmitAudit } from '../audit/audit.ts';
import { batched } from '../database/batched.ts';
import type { Database } from '../database/port.ts';
import { costOf } from './cost.ts';
import type { Endpoint } from './endpoint.ts';
import type { EventRecord } from './events.ts';
import { newId } from './ids.ts';
import type { RequestFile, SubmitCommand } from './port.ts';
import type { RequestRow } from './row.ts';
import { STAGES } from './stage.ts';

/** A request as it is handed to the database, with what belongs to it. */
interface NewRequest {
  row: RequestRow;
  files: RequestFile[];
  prior_files: RequestFile[];
  deliver_to: SubmitCommand['deliverTo'];
  unique_key: string | null;
  events: EventRecord[];
  audit: SubmitAudit | null;
}

/**
 * Requests, first events and audit entries as one statement, which is one commit: the submit is as
 * fast as the disk. Nobody is notified, because nobody can be watching an id that has not been told.
 * `enqueued_at` stays null until the reconciler has seen to it: should the process end before it has
 * put the request on the queue, the next pass of any worker does.
 */
const STORE = `
  WITH new AS MATERIALIZED (
    SELECT request.*, files, prior_files, deliver_to, unique_key, events, audit
    FROM jsonb_to_recordset($1::jsonb) AS asked (row jsonb, files jsonb, prior_files jsonb,
        deliver_to jsonb, unique_key text, events jsonb, audit jsonb),
      jsonb_to_record(asked.row) AS request (id text, account_id text, key_id text, model text,
        endpoint text, version text, status text, stage jsonb, priority text, test boolean,
        input jsonb, metadata jsonb, webhook jsonb, source jsonb, cost jsonb,
        created_at timestamptz)
  ), made AS (
    INSERT INTO requests (id, account_id, key_id, model, endpoint, version, status, stage, priority,
      test, input, files, prior_files, metadata, webhook, source, cost, deliver_to, unique_key,
      created_at, last_seq)
    SELECT id, account_id, key_id, model, endpoint, version, status, stage, priority,
      test, input, files, prior_files, metadata, webhook, source, cost, deliver_to, unique_key,
      created_at, jsonb_array_length(events)
    FROM new ORDER BY unique_key
    ON CONFLICT (unique_key) DO NOTHING
    RETURNING id
  ), logged AS (
    INSERT INTO request_events (request_id, seq, name, data, at)
    SELECT id, seq, event ->> 'name', event -> 'data', created_at
    FROM made JOIN new USING (id), jsonb_array_elements(events) WITH ORDINALITY AS log (event, seq)
  ), audited AS (
    ${MADE_AUDIT}
  )
  SELECT id FROM made`;

/** Stores a request, unless its unique key has one: then that is the row, and `isNew` is false. */
export type StoreRequest = (
  endpoint: Endpoint,
  command: SubmitCommand,
  at: Date,
) => Promise<{ row: RequestRow; isNew: boolean }>;

/** Stores together the requests that come together. */
export function createRequestStore(database: Database): StoreRequest {
  const store = batched(async (asked: readonly NewRequest[]) => {
    const { rows } = await database.query<{ id: string }>(
      STORE,
      [JSON.stringify(asked)],
      'store-requests',
    );
    const made = new Set(rows.map(({ id }) => id));
    return asked.map(({ row }) => made.has(row.id));
  });

  const writeAudit = createAuditWriter(database);

  return async (endpoint, command, at) => {
    const asked = newRequest(endpoint, command, at);
    if (await store(asked)) return { row: asked.row, isNew: true };
    const row = await findByUniqueKey(database, command);
    if (command.audit) await writeAudit({ ...command.audit, requestId: row.id });
    return { row, isNew: false };
  };
}

function newRequest(endpoint: Endpoint, command: SubmitCommand, at: Date): NewRequest {
  const events: EventRecord[] = [
    { name: 'status', data: { status: 'queued', previous: null, at: at.toISOString() } },
    { name: 'stage', data: STAGES.received },
    { name: 'stage', data: STAGES.queued_gpu },
  ];
  const row: RequestRow = {
    id: newId('req', at),
    account_id: command.accountId,
    key_id: command.keyId,
    model: endpoint.model,
    endpoint: endpoint.id,
    version: endpoint.version,
    status: 'queued',
    stage: STAGES.queued_gpu,
    priority: command.priority,
    test: command.test,
    input: command.input,
    metadata: command.metadata,
    webhook: command.webhook,
    source: command.source,
    cost: costOf(endpoint.price(command.input), command.test),
    fault: null,
    attempts: 0,
    crashes: 0,
    last_seq: events.length,
    created_at: at,
    started_at: null,
    ended_at: null,
    expires_at: null,
  };
  return {
    row,
    files: command.files,
    prior_files: command.priorFiles,
    deliver_to: command.deliverTo,
    unique_key: command.uniqueKey,
    events,
    audit: command.audit ?? null,
  };
}

/** Of a `RequestRow`. */
const COLUMNS = `id, account_id, key_id, model, endpoint, version, status, stage, priority, test,
  input, metadata, webhook, source, cost, fault, attempts, crashes, last_seq, created_at, started_at,
  ended_at, expires_at`;

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
