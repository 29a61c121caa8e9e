import type { Database } from '../database/port.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { InvalidInputError, type PointedError, pointedErrors } from '../errors/problem.ts';
import type { Logger } from '../logging/logger.ts';
import type { RequestQueue } from '../queue/queue.ts';
import { costOf } from './cost.ts';
import type { Endpoint, EndpointInput } from './endpoint.ts';
import { appendEvents } from './events.ts';
import { findIdentifiers } from './identifiers.ts';
import { newId } from './ids.ts';
import type { RequestFile, Submit, SubmitCommand, SubmittedRequest } from './port.ts';
import { resolveEndpoint } from './resolve.ts';
import { STAGES } from './stage.ts';

interface SubmitParts {
  database: Database;
  queue: Pick<RequestQueue, 'add'>;
  endpoints: readonly Endpoint[];
  logger: Logger;
  now: () => Date;
}

/** Makes the one `submit` of all doors. */
export function createSubmit({ database, queue, endpoints, logger, now }: SubmitParts): Submit {
  return async (command) => {
    const endpoint = resolveEndpoint(endpoints, command.endpoint, command.version);
    if (endpoint.mockOnly && !command.test) {
      const detail = `${endpoint.id} runs with test keys only in this release.`;
      throw new SonogateError('endpoint_not_available', detail);
    }
    checkInput(endpoint, command.input);
    checkFileNames(command);

    const stored = await store(database, endpoint, command, now());
    // The row is safe; a queue that cannot be reached now is made good by the reconciler.
    if (stored.isNew) {
      await enqueue(database, queue, stored.id, command).catch((error: unknown) => {
        logger.warn({ request: stored.id, error: String(error) }, 'queue not reached, will retry');
      });
    }
    return { id: stored.id, status: stored.status };
  };
}

function checkInput(endpoint: Endpoint, input: EndpointInput): void {
  const parsed = endpoint.input.safeParse(input);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error, '/input'));
  const indication = input.clinical_context?.indication;
  const found = typeof indication === 'string' ? findIdentifiers(indication) : [];
  if (found.length === 0) return;
  throw new InvalidInputError(
    [
      {
        pointer: '/input/clinical_context/indication',
        detail: `The text holds ${found.join(' and ')}; leave out names, identifiers and dates.`,
      },
    ],
    'identifiers_in_context',
  );
}

/** A name becomes a file below the work folder, so it must be plain and unique. */
function checkFileNames({ files, priorFiles }: SubmitCommand): void {
  const errors = [
    ...nameErrors(files, '/input/files'),
    ...nameErrors(priorFiles, '/input/prior_files'),
  ];
  if (errors.length > 0) throw new InvalidInputError(errors);
}

function nameErrors(files: readonly RequestFile[], pointer: string): PointedError[] {
  return files.flatMap(({ name }, i) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with one is refused
    if (!/^(?!\.{1,2}$)[^/\\\u0000-\u001f]{1,200}$/.test(name)) {
      return [{ pointer: `${pointer}/${i}`, detail: 'not a plain file name' }];
    }
    return files.findIndex((other) => other.name === name) < i
      ? [{ pointer: `${pointer}/${i}`, detail: 'a second file with the same name' }]
      : [];
  });
}

async function store(
  database: Database,
  endpoint: Endpoint,
  command: SubmitCommand,
  at: Date,
): Promise<SubmittedRequest & { isNew: boolean }> {
  const id = newId('req', at);
  const cost = costOf(endpoint.price(command.input), command.test);
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `INSERT INTO requests (id, account_id, key_id, model, endpoint, version, status, stage,
         priority, test, input, files, prior_files, metadata, webhook, source, cost, deliver_to,
         unique_key, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7::jsonb, $8, $9, $10::jsonb, $11::jsonb,
         $12::jsonb, $13::jsonb, $14::jsonb, $15::jsonb, $16::jsonb, $17::jsonb, $18, $19)
       ON CONFLICT (unique_key) DO NOTHING`,
      [
        id,
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
        JSON.stringify(cost),
        JSON.stringify(command.deliverTo),
        command.uniqueKey,
        at,
      ],
    );
    if (rowCount === 0) {
      const { rows } = await tx.query<SubmittedRequest>(
        'SELECT id, status FROM requests WHERE unique_key = $1',
        [command.uniqueKey],
      );
      const [first] = rows;
      if (!first) throw new Error('the request with this unique key has gone');
      return { ...first, isNew: false };
    }
    await appendEvents(tx, id, at, [
      { name: 'status', data: { status: 'queued', previous: null, at: at.toISOString() } },
      { name: 'stage', data: STAGES.received },
      { name: 'stage', data: STAGES.queued_gpu },
    ]);
    return { id, status: 'queued', isNew: true };
  });
}

async function enqueue(
  database: Database,
  queue: Pick<RequestQueue, 'add'>,
  id: string,
  { priority }: SubmitCommand,
): Promise<void> {
  await queue.add(id, priority);
  await database.query('UPDATE requests SET enqueued_at = now() WHERE id = $1', [id]);
}
