import { batched } from '../../platform/database/batched.ts';
import type { Database } from '../../platform/database/port.ts';
import {
  InvalidInputError,
  type PointedError,
  pointedErrors,
} from '../../platform/errors/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { AUDIT_INSERT, createAuditWriter, type SubmitAudit } from '../audit/audit.ts';
import { type Endpoint, type EndpointInput, resolveEndpoint } from './endpoint.ts';
import type { EventRecord } from './events.ts';
import { requireNoIdentifiers } from './identifiers.ts';
import {
  costOf,
  type JobQueue,
  type RequestFile,
  type RequestRow,
  type SubmitCommand,
} from './request.ts';
import { STAGES } from './transitions.ts';

interface NewRequest {
  row: RequestRow;
  files: RequestFile[];
  prior_files: RequestFile[];
  deliver_to: SubmitCommand['deliverTo'];
  unique_key: string | null;
  workitem_uid: string | null;
  events: EventRecord[];
  audit: SubmitAudit | null;
}

/**
 * Stores requests, their first events and their audit entries in one statement. This is a single
 * commit, so submitting takes the time of one disk write. No watcher is notified, because no client
 * has the id yet. `enqueued_at` stays null until the reconciler has seen the request: if the
 * process ends before adding the job, the next pass of any worker adds it.
 */
const STORE = `
  WITH new AS MATERIALIZED (
    SELECT request.*, files, prior_files, deliver_to, unique_key, workitem_uid, events, audit
    FROM jsonb_to_recordset($1::jsonb) AS asked (row jsonb, files jsonb, prior_files jsonb,
        deliver_to jsonb, unique_key text, workitem_uid text, events jsonb, audit jsonb),
      jsonb_to_record(asked.row) AS request (id text, account_id text, key_id text, model text,
        endpoint text, version text, status text, stage jsonb, priority text, test boolean,
        input jsonb, metadata jsonb, webhook jsonb, source jsonb, cost jsonb,
        created_at timestamptz)
  ), made AS (
    INSERT INTO requests (id, account_id, key_id, model, endpoint, version, status, stage, priority,
      test, input, files, prior_files, metadata, webhook, source, cost, deliver_to, unique_key,
      workitem_uid, created_at, last_seq)
    SELECT id, account_id, key_id, model, endpoint, version, status, stage, priority,
      test, input, files, prior_files, COALESCE(metadata, 'null'), webhook, source, cost, deliver_to, unique_key,
      workitem_uid, created_at, jsonb_array_length(events)
    FROM new ORDER BY unique_key
    ON CONFLICT (unique_key) DO NOTHING
    RETURNING id
  ), logged AS (
    INSERT INTO request_events (request_id, seq, name, data, at)
    SELECT id, seq, event ->> 'name', event -> 'data', created_at
    FROM made JOIN new USING (id), jsonb_array_elements(events) WITH ORDINALITY AS log (event, seq)
  ), audited AS (
    ${AUDIT_INSERT}
  )
  SELECT id FROM made`;

/**
 * Stores a request. If a request with the same unique key already exists, its row is returned and
 * `isNew` is false.
 */
type StoreRequest = (
  endpoint: Endpoint,
  command: SubmitCommand,
  at: Date,
) => Promise<{ row: RequestRow; isNew: boolean }>;

/** Creates a function that stores concurrent requests in one statement. */
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
    lost_runs: 0,
    last_seq: events.length,
    created_at: at,
    started_at: null,
    ended_at: null,
    expires_at: null,
    withdrawal: null,
  };
  return {
    row,
    files: command.files,
    prior_files: command.priorFiles,
    deliver_to: command.deliverTo,
    unique_key: command.uniqueKey,
    workitem_uid: command.workitemUid ?? null,
    events,
    audit: command.audit ?? null,
  };
}

async function findByUniqueKey(
  database: Database,
  { uniqueKey }: SubmitCommand,
): Promise<RequestRow> {
  const { rows } = await database.query<RequestRow>(
    'SELECT * FROM requests WHERE unique_key = $1',
    [uniqueKey],
  );
  const [first] = rows;
  if (!first) throw new Error('the request with this unique key has gone');
  return first;
}

interface SubmitParts {
  database: Database;
  queue: Pick<JobQueue, 'add'>;
  endpoints: readonly Endpoint[];
  logger: Logger;
  now: () => Date;
}

/** Like `Submit`, but returns the stored row. */
export type SubmitRow = (command: SubmitCommand) => Promise<RequestRow>;

/** Creates the `submit` function used by HTTP, DICOM and the compatible queue. */
export function createSubmit({ database, queue, endpoints, logger, now }: SubmitParts): SubmitRow {
  const store = createRequestStore(database);
  return async (command) => {
    const endpoint = resolveEndpoint(endpoints, command.endpoint, command.version);
    checkInput(endpoint, command.input);
    checkFileNames(command);

    const { row, isNew } = await store(endpoint, command, now());
    if (isNew) {
      // The row is committed, so the response need not wait for the job. If adding the job fails,
      // the reconciler adds it later.
      const { id, priority, test } = row;
      queue.add({ id, priority, test, source: command.source.kind }).catch((error: unknown) => {
        logger.event('queue_unreachable', { request: id, error: String(error) });
      });
    }
    return row;
  };
}

function checkInput(endpoint: Endpoint, input: EndpointInput): void {
  const parsed = endpoint.input.safeParse(input);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error, '/input'));
  const indication = input.clinical_context?.indication;
  if (typeof indication !== 'string') return;
  requireNoIdentifiers(indication, '/input/clinical_context/indication', {
    mayNameStaff: false,
    code: 'identifiers_in_context',
  });
}

/**
 * Maximum length of a name in bytes of UTF-8. File systems allow 255 bytes (ext4, XFS), and the
 * name of a prior file may get a prefix in the work folder (work-folder.ts).
 */
const LONGEST_NAME_BYTES = 220;

/**
 * Checks that the names are plain and unique, because each becomes a file name in the work folder.
 */
function checkFileNames({ files, priorFiles }: SubmitCommand): void {
  const errors = [
    ...nameErrors(files, '/input/files'),
    ...nameErrors(priorFiles, '/input/prior_files'),
  ];
  if (errors.length > 0) throw new InvalidInputError(errors);
}

function nameErrors(files: readonly RequestFile[], pointer: string): PointedError[] {
  const seen = new Set<string>();
  return files.flatMap(({ name }, i) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: refuses names with such characters
    const plain = /^(?!\.{1,2}$)[^/\\\u0000-\u001f]+$/.test(name);
    if (!plain || Buffer.byteLength(name) > LONGEST_NAME_BYTES) {
      return [{ pointer: `${pointer}/${i}`, detail: 'not a plain file name' }];
    }
    const second = seen.has(name);
    seen.add(name);
    return second
      ? [{ pointer: `${pointer}/${i}`, detail: 'a second file with the same name' }]
      : [];
  });
}
