import type { Router, RouterContext } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { withdrawalText } from '../../../../pipelines/contract/withdrawal.ts';
import { text } from '../../../../pipelines/result/envelope.ts';
import { DEFAULT_WEBHOOK_EVENTS } from '../../../core/requests/announce.ts';
import { queuePosition, type RequestCore } from '../../../core/requests/core.ts';
import type { RequestRow } from '../../../core/requests/request.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { audited } from '../audited.ts';
import { requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { sendEventStream } from '../event-stream.ts';
import { idempotent } from '../idempotency.ts';
import { INPUT_ERRORS, ONCE_ERRORS, operationsOf } from '../openapi/operation.ts';
import { jsonBody } from '../parse.ts';
import { ownRequest } from '../requests.ts';
import { servingOn } from '../route.ts';
import { acceptSubmission } from '../submission.ts';
import {
  ALREADY_COMPLETED_STATUS,
  alreadyCompleted,
  asciiJson,
  COMPATIBLE_QUEUE,
  queueLogs,
  queueStatus,
  queueStatuses,
} from './answers.ts';
import { ownFileIds } from './storage.ts';

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
  logs: text('`1` for the logs of the request', '1').optional(),
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

/** The calls about requests, other than submissions. */
export const QUEUE_OPERATIONS = operationsOf('Compatible queue', {
  queueStatus: {
    ...requestPaths('/status'),
    method: 'get',
    summary: 'Get the status of a request',
    scope: 'read',
    audit: 'request.read',
    uncheckedQuery: logsQuery,
    answer: 'queueStatus',
    errors: ['not_found'],
  },
  queueStatusStream: {
    ...requestPaths('/status/stream'),
    method: 'get',
    summary: 'Follow the status by server-sent events; COMPLETED is the last',
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
    summary: 'Get the result, or the error with which the request ended',
    scope: 'read',
    audit: 'request.read',
    answer: 'queueResult',
    errors: [
      'not_found',
      'not_finished',
      'request_canceled',
      'expired',
      'result_withdrawn',
      ...RUN_ERRORS,
    ],
  },
  queueCancel: { ...QUEUE_CANCEL, method: 'put', errors: ['not_found', 'already_finished'] },
  queueCancelByPost: {
    ...QUEUE_CANCEL,
    method: 'post',
    once: true,
    errors: ['not_found', 'already_finished', ...INPUT_ERRORS, ...ONCE_ERRORS],
  },
});

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
      // This protocol has no place beside the result to say that it must not be used.
      if (row.withdrawal) {
        throw new SonogateError('result_withdrawn', `${withdrawalText(row.withdrawal)}.`);
      }
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
