import type { Router, RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { DEFAULT_WEBHOOK_EVENTS } from '../../core/requests/announce.ts';
import { queuePosition, type RequestCore } from '../../core/requests/core.ts';
import type { StoredEvent } from '../../core/requests/events.ts';
import {
  FINAL_STATUS,
  type RequestRow,
  type RequestStatus,
  type Stage,
} from '../../core/requests/request.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { Problem } from '../../platform/errors/problem.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './context.ts';
import { sendEventStream } from './event-stream.ts';
import { idempotent } from './idempotency.ts';
import { EXAMPLE } from './openapi/examples.ts';
import { BODY_ERRORS, INPUT_ERRORS, ONCE_ERRORS, operationsOf } from './openapi/operation.ts';
import { jsonBody } from './parse.ts';
import { ownRequest } from './requests.ts';
import { servingOn } from './route.ts';
import { acceptSubmission } from './submission.ts';
import { LINK_LIFE_MS, sentBytes, uploadBody } from './uploads.ts';

/** Maps each field of a submit body to its place in a call of the compatible queue. */
const PLACES: ReadonlyMap<string, readonly string[]> = new Map([
  ['input', ['body']],
  ['webhook', ['query', 'fal_webhook']],
  ['priority', ['header', 'x-fal-queue-priority']],
]);

interface CompatibleError {
  message: string;
  /**
   * The error as text, or a list of faults in the form that the client's `fieldErrors` expects
   * (exchange 5.1).
   */
  detail: string | { loc: (string | number)[]; msg: string; type: 'value_error' }[];
  code: string;
  request_id?: string;
}

/**
 * Converts problem details to the form that the client of the compatible queue reads: plain JSON
 * (exchange 5.6).
 */
export function compatibleError(problem: Problem): CompatibleError {
  const { title, detail, code, errors, request_id } = problem;
  return {
    message: errors ? title : detail,
    detail:
      errors?.map((error) => ({
        loc: place(error.pointer),
        msg: error.detail,
        type: 'value_error' as const,
      })) ?? detail,
    code,
    ...(request_id && { request_id }),
  };
}

/** Converts a JSON Pointer to a location: `/input/files/0` → `body`, `files`, 0. */
function place(pointer: string): (string | number)[] {
  const [field = '', ...rest] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = rest.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return [...(PLACES.get(field) ?? ['body', field]), ...path];
}

/**
 * Status and body of the response if the request to be canceled has already ended (exchange 5.1).
 */
export const ALREADY_COMPLETED_STATUS = 400;
export function alreadyCompleted(detail: string): CompatibleError & { status: string } {
  return { status: 'ALREADY_COMPLETED', message: detail, detail, code: 'already_finished' };
}

export const COMPATIBLE_QUEUE = '/queue';

/**
 * The three statuses of the compatible queue (exchange 5.3); only the result shows whether the
 * request succeeded.
 */
const QUEUE_STATUS = {
  queued: 'IN_QUEUE',
  preparing: 'IN_PROGRESS',
  running: 'IN_PROGRESS',
  succeeded: 'COMPLETED',
  failed: 'COMPLETED',
  canceled: 'COMPLETED',
  rejected: 'COMPLETED',
  expired: 'COMPLETED',
} as const satisfies Record<RequestStatus, string>;

interface QueueLog {
  message: string;
  level: 'INFO' | 'WARN' | 'ERROR';
  source: 'USER';
  timestamp: string;
}

interface QueueStatus {
  status: (typeof QUEUE_STATUS)[RequestStatus];
  request_id: string;
  response_url: string;
  status_url: string;
  cancel_url: string;
  /** The number of requests ahead of this one while it waits. */
  queue_position?: number;
  logs?: QueueLog[];
  /** Run time in seconds once the request has ended; null if it never ran. */
  metrics?: { inference_time: number | null };
}

/**
 * Returns the status object of a request. `address` is this server's address without a trailing
 * slash.
 */
function queueStatus(
  row: Pick<RequestRow, 'id' | 'model' | 'status' | 'started_at' | 'ended_at'>,
  address: string,
  { position = 0, logs }: { position?: number; logs?: QueueLog[] } = {},
): QueueStatus {
  const { id, model, status, started_at: started, ended_at: ended } = row;
  const url = `${address}${COMPATIBLE_QUEUE}/${model}/requests/${id}`;
  const seconds = started && ended ? (ended.getTime() - started.getTime()) / 1000 : null;
  return {
    status: QUEUE_STATUS[status],
    request_id: id,
    response_url: url,
    status_url: `${url}/status`,
    cancel_url: `${url}/cancel`,
    ...(status === 'queued' && { queue_position: position }),
    ...(logs && { logs }),
    ...(FINAL_STATUS.has(status) && { metrics: { inference_time: seconds } }),
  };
}

/**
 * Returns the log entries for an event: one for a stage, a critical flag or an error, none for
 * other events.
 */
function queueLogs({ name, data, at }: StoredEvent): QueueLog[] {
  const log = (level: QueueLog['level'], message: string): QueueLog[] => [
    { message, level, source: 'USER', timestamp: at.toISOString() },
  ];
  switch (name) {
    case 'stage':
      return log('INFO', (data as Stage).label);
    case 'triage':
      return log('WARN', (data as { display: string }).display);
    case 'error':
      return log('ERROR', (data as { detail: string }).detail);
    default:
      return [];
  }
}

/**
 * Yields a status whenever the request's status changes or it has new logs. Each contains only the
 * logs since the previous one, because the client appends them. COMPLETED is sent once, at the end
 * (exchange 5.1).
 * @param ended reads the request again after it has ended.
 */
async function* queueStatuses(
  events: AsyncIterable<StoredEvent>,
  row: RequestRow,
  address: string,
  position: number,
  ended: () => Promise<RequestRow | null>,
): AsyncGenerator<QueueStatus> {
  let status: RequestStatus = 'queued';
  let logs: QueueLog[] = [];
  for await (const event of events) {
    logs.push(...queueLogs(event));
    if (event.name === 'status') ({ status } = event.data as { status: RequestStatus });
    if (event.name === 'done') {
      yield queueStatus((await ended()) ?? { ...row, status }, address, { logs });
    } else if (!FINAL_STATUS.has(status) && (event.name === 'status' || logs.length > 0)) {
      yield queueStatus({ ...row, status }, address, { position, logs });
      logs = [];
    }
  }
}

const FILES = `${COMPATIBLE_QUEUE}/storage/files`;
const INITIATE = `${COMPATIBLE_QUEUE}/storage/upload/initiate`;

const storageUploadBody = z.strictObject({
  file_name: uploadBody.shape.filename,
  content_type: uploadBody.shape.media_type,
});

const TARGET = `${COMPATIBLE_QUEUE}/{ns}/{model}`;

/**
 * Returns the paths of a call about a request, below both forms of a target: `ns/model/endpoint`,
 * and `ns/model`, because the client drops the endpoint after submitting (exchange 5.1).
 */
const requestPaths = (path: string) => ({
  path: `${TARGET}/requests/{id}${path}`,
  alsoAt: [`${TARGET}/{endpoint}/requests/{id}${path}`],
});

/** Not validated: the client of the compatible queue sends `1` or `0`. */
const logsQuery = z.object({
  logs: z
    .string()
    .optional()
    .meta({ description: '`1` for the logs of the request', examples: ['1'] }),
});

const QUEUE_CANCEL = {
  ...requestPaths('/cancel'),
  summary: 'Cancel a request; 400 if it has already ended',
  scope: 'run',
  audit: 'request.cancel',
  status: 202,
  answer: 'queueCancellation',
} as const;

/** Errors with which a request can end. */
const RUN_ERRORS = [
  'no_readable_image',
  'no_obstetric_image',
  'hosted_file_unreachable',
  'pipeline_failed',
  'pipeline_crashed',
  'pipeline_timeout',
  'invalid_result',
  'out_of_space',
] as const;

/** The calls of the compatible queue other than submissions. */
export const QUEUE_OPERATIONS = operationsOf('Compatible queue', {
  queueStatus: {
    ...requestPaths('/status'),
    method: 'get',
    summary: 'Status of a request',
    scope: 'read',
    audit: 'request.read',
    uncheckedQuery: logsQuery,
    answer: 'queueStatus',
    errors: ['not_found'],
  },
  queueStatusStream: {
    ...requestPaths('/status/stream'),
    method: 'get',
    summary: 'Each status as server-sent events, COMPLETED last',
    scope: 'read',
    audit: 'request.follow',
    uncheckedQuery: logsQuery,
    answer: 'queueStatus',
    mediaType: 'text/event-stream',
    errors: ['not_found'],
  },
  queueResult: {
    ...requestPaths(''),
    method: 'get',
    summary: 'The result, or the error with which the request ended',
    scope: 'read',
    audit: 'request.read',
    answer: 'queueResult',
    errors: ['not_found', 'not_finished', 'request_canceled', 'expired', ...RUN_ERRORS],
  },
  queueCancel: { ...QUEUE_CANCEL, method: 'put', errors: ['not_found', 'already_finished'] },
  queueCancelByPost: {
    ...QUEUE_CANCEL,
    method: 'post',
    once: true,
    errors: ['not_found', 'already_finished', ...INPUT_ERRORS, ...ONCE_ERRORS],
  },
  queueInitiateUpload: {
    method: 'post',
    path: INITIATE,
    summary: 'Start an upload',
    scope: 'uploads',
    once: true,
    body: storageUploadBody,
    answer: 'queueUpload',
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  queuePutUpload: {
    method: 'put',
    path: `${FILES}/{id}`,
    summary: 'The bytes of a file, at a signed URL; completes the upload',
    pathExamples: { id: EXAMPLE.file },
    scope: null,
    answer: 'queueFile',
    errors: ['not_found', 'expired', 'upload_incomplete', 'payload_too_large', 'overloaded'],
  },
  queueGetFile: {
    method: 'get',
    path: `${FILES}/{id}`,
    summary: 'The bytes of a file',
    pathExamples: { id: EXAMPLE.file },
    scope: 'uploads',
    answer: 'bytes',
    errors: ['not_found'],
  },
});

/**
 * Adds file storage as the client of the compatible queue uses it (exchange 5.1): initiate, PUT,
 * then pass the `file_url` in `input.files`. The PUT determines the size and completes the upload.
 */
export function addCompatibleStorageRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { uploads, config, signer, now = () => new Date() } = deps;
  const serve = servingOn(router, deps);

  serve(QUEUE_OPERATIONS.queueInitiateUpload, async (context, { body }) => {
    const { id } = await uploads.create(context.state.principal, {
      filename: body.file_name,
      bytes: null,
      mediaType: body.content_type,
    });
    const address = baseUrl(context, config);
    const expires = new Date(now().getTime() + LINK_LIFE_MS);
    context.body = {
      upload_url: `${address}${signer.sign('PUT', `${FILES}/${id}`, expires)}`,
      file_url: `${address}${FILES}/${id}`,
    };
  });

  serve(QUEUE_OPERATIONS.queuePutUpload, async (context) => {
    signer.verify('PUT', context.path, context.query, now());
    const { id = '' } = context.params;
    const { account_id: accountId, test } = await uploads.receive(id, ...sentBytes(context));
    await uploads.complete({ accountId, test }, id, null);
    context.body = {};
  });

  serve(QUEUE_OPERATIONS.queueGetFile, async (context) => {
    const { id = '' } = context.params;
    const file = (await uploads.ready(context.state.principal, [id])).get(id);
    if (!file) throw new SonogateError('not_found', 'There is no such file.');
    context.type = 'application/octet-stream';
    context.length = file.bytes;
    context.attachment(file.name);
    context.body = await uploads.read(file);
  });
}

const FILE_METHODS = 'HEAD, GET, PUT';

/**
 * Refuses unsupported methods on a stored file. Its path also matches the submit path
 * (`/queue/{ns}/{model}/{endpoint}`), which would otherwise accept a POST and appear in `Allow`.
 */
export function storedFileMethods(): Middleware<HttpState> {
  return async (context, next) => {
    if (!context.path.startsWith(`${FILES}/`)) return next();
    if (context.method === 'POST') {
      context.set('Allow', FILE_METHODS);
      context.status = 405;
      return;
    }
    await next();
    if (context.response.get('Allow')) context.set('Allow', FILE_METHODS);
  };
}

/** Returns the input with each `file_url` on this server replaced by the file's id. */
function ownFileIds(input: unknown, address: string): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const ours = `${address}${FILES}/`;
  const id = (file: unknown) =>
    typeof file === 'string' && file.startsWith(ours) ? file.slice(ours.length) : file;
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) =>
      (field === 'files' || field === 'prior_files') && Array.isArray(value)
        ? [field, value.map(id)]
        : [field, value],
    ),
  );
}

const SUBMIT_PATHS = [`${COMPATIBLE_QUEUE}/:ns/:model`, `${COMPATIBLE_QUEUE}/:ns/:model/:endpoint`];

/** Adds the compatible queue: the same requests, through the protocol of `@fal-ai/client`. */
export function addCompatibleQueueRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config, database } = deps;
  const serve = servingOn(router, deps);

  const submit = [
    requireScope(deps, 'run'),
    audited(deps, 'request.submit'),
    jsonBody(config.maxBodyBytes),
    idempotent(deps),
  ];
  router.post(SUBMIT_PATHS, ...submit, async (context) => {
    const row = await acceptSubmission(deps, context.state, {
      target: targetOf(context.params),
      body: submitBodyOf(context, baseUrl(context, config)),
      door: 'queue',
      address: baseUrl(context, config),
      status: 200,
    });
    const position = await queuePosition(database, row);
    context.set('X-Fal-Request-Id', row.id);
    context.status = 200;
    context.body = queueStatus(row, baseUrl(context, config), { position });
  });

  serve(QUEUE_OPERATIONS.queueStatus, async (context) => {
    const row = await requestIn(context, core);
    const address = baseUrl(context, config);
    const position = row.status === 'queued' ? await queuePosition(database, row) : 0;
    const logs = wantsLogs(context)
      ? (await core.events.list(row.id, 0, address)).flatMap(queueLogs)
      : undefined;
    context.body = queueStatus(row, address, { position, ...(logs && { logs }) });
  });

  serve(QUEUE_OPERATIONS.queueStatusStream, async (context) => {
    const row = await requestIn(context, core);
    const address = baseUrl(context, config);
    const position = row.status === 'queued' ? await queuePosition(database, row) : 0;
    const withLogs = wantsLogs(context);
    sendEventStream(context, deps, async function* (signal) {
      const events = core.events.follow(row.id, 0, address, signal);
      const ended = () => core.get(row.id, row.account_id);
      for await (const status of queueStatuses(events, row, address, position, ended)) {
        const { logs, ...plain } = status;
        yield `data: ${asciiJson(withLogs ? { ...plain, logs } : plain)}\n\n`;
      }
    });
  });

  serve(QUEUE_OPERATIONS.queueResult, async (context) => {
    const row = await requestIn(context, core);
    context.body = await outputOf(row, core);
  });

  const cancel = async (context: RouterContext<HttpState>) => {
    const row = await requestIn(context, core);
    try {
      await core.cancel(row.id, context.state.principal.accountId);
      context.body = { status: 'CANCELLATION_REQUESTED' };
    } catch (error) {
      if (!(error instanceof SonogateError) || error.code !== 'already_finished') throw error;
      context.status = ALREADY_COMPLETED_STATUS;
      context.body = alreadyCompleted(error.detail);
    }
  };
  serve(QUEUE_OPERATIONS.queueCancel, cancel);
  serve(QUEUE_OPERATIONS.queueCancelByPost, cancel);
}

/**
 * Returns the request in the path.
 * @throws SonogateError `not_found`, also for a request that was made to another target.
 */
async function requestIn(
  context: RouterContext<HttpState>,
  core: RequestCore,
): Promise<RequestRow> {
  const row = await ownRequest(core, context.params.id, context.state);
  const [asked] = targetOf(context.params).split('@');
  if (asked !== row.model && asked !== row.endpoint) {
    throw new SonogateError('not_found', `The request was not made to ${asked}.`);
  }
  context.set('X-Fal-Request-Id', row.id);
  return row;
}

/**
 * Returns the result of a request.
 * @throws SonogateError with the reason if the request has no result.
 */
async function outputOf(row: RequestRow, core: RequestCore): Promise<unknown> {
  switch (row.status) {
    case 'succeeded':
      return core.result(row.id);
    case 'failed':
    case 'rejected':
      throw new SonogateError(row.fault?.code ?? 'internal', row.fault?.detail);
    case 'canceled':
      throw new SonogateError('request_canceled');
    case 'expired':
      throw new SonogateError('expired', 'The result has been purged.');
    default:
      throw new SonogateError('not_finished', `The request is still ${row.status}.`);
  }
}

/** Returns the target in a path: `us/obstetric[/interpret][@version]`. */
function targetOf({ ns, model, endpoint }: Record<string, string | undefined>): string {
  return [ns, model, endpoint].filter(Boolean).join('/');
}

/**
 * Returns the submit body (api 2.2). The client sends the input itself as the body, the priority in
 * a header and the webhook URL in the query; a body that has an `input` can contain the other
 * fields too.
 */
function submitBodyOf(context: Context & { state: HttpState }, address: string): unknown {
  const { body } = context.state;
  if (typeof body !== 'object' || body === null) return body;
  const given = 'input' in body ? body : { input: body };
  const priority = context.get('X-Fal-Queue-Priority');
  const { fal_webhook: url } = context.query;
  return {
    ...(priority && { priority }),
    ...(url !== undefined && { webhook: { url, events: [...DEFAULT_WEBHOOK_EVENTS] } }),
    ...given,
    input: ownFileIds(given.input, address),
  };
}

function wantsLogs({ query }: Context): boolean {
  return query.logs === '1' || query.logs === 'true';
}

/**
 * Writes JSON in ASCII: the client decodes each chunk separately, which would break a multi-byte
 * character split between two chunks.
 */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
