import type { Router, RouterContext } from '@koa/router';
import type { Context } from 'koa';
import { SonogateError } from '../errors/catalogue.ts';
import { queuePosition } from '../requests/queue-position.ts';
import type { RequestRow } from '../requests/row.ts';
import { WEBHOOK_EVENTS } from '../webhooks/announce.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import { COMPATIBLE_QUEUE, queueLogs, queueStatus, queueStatuses } from './compatible-status.ts';
import { ownFileIds } from './compatible-storage.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { sendEventStream } from './event-stream.ts';
import { idempotent } from './idempotency.ts';
import { jsonBody } from './json-body.ts';
import { ownRequest } from './requests.ts';
import { acceptSubmission } from './submission.ts';

const TARGETS = [`${COMPATIBLE_QUEUE}/:ns/:model`, `${COMPATIBLE_QUEUE}/:ns/:model/:endpoint`];

/** Both forms of an address: the client keeps only `ns/model` once it has submitted (interop 5.1). */
const below = (path: string) => TARGETS.map((target) => `${target}/requests/:id${path}`);

/** The compatible queue: the same requests, spoken to as `@fal-ai/client` does. */
export function addCompatibleQueueRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config, database } = deps;
  const read = requireScope(deps, 'read');
  const body = jsonBody(config.maxBodyBytes);

  const run = requireScope(deps, 'run');
  const submit = audited(deps, 'request.submit');
  router.post(TARGETS, run, submit, body, idempotent(deps), async (context) => {
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

  router.get(below('/status'), read, audited(deps, 'request.read'), async (context) => {
    const row = await requestOf(context);
    const address = baseUrl(context, config);
    const position = row.status === 'queued' ? await queuePosition(database, row) : 0;
    const logs = wantsLogs(context)
      ? (await core.events.list(row.id, 0, address)).flatMap(queueLogs)
      : undefined;
    context.body = queueStatus(row, address, { position, ...(logs && { logs }) });
  });

  router.get(below('/status/stream'), read, audited(deps, 'request.follow'), async (context) => {
    const row = await requestOf(context);
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

  router.get(below(''), read, audited(deps, 'request.read'), async (context) => {
    const row = await requestOf(context);
    context.body = await outputOf(row);
  });

  const cancel = async (context: RouterContext<HttpState>) => {
    const row = await requestOf(context);
    try {
      await core.cancel(row.id, context.state.principal.accountId);
      context.status = 202;
      context.body = { status: 'CANCELLATION_REQUESTED' };
    } catch (error) {
      if (!(error instanceof SonogateError) || error.code !== 'already_finished') throw error;
      const { detail } = error;
      context.status = 400;
      context.body = { status: 'ALREADY_COMPLETED', message: detail, detail, code: error.code };
    }
  };
  router.put(below('/cancel'), run, audited(deps, 'request.cancel'), cancel);
  const once = idempotent(deps);
  router.post(below('/cancel'), run, audited(deps, 'request.cancel'), body, once, cancel);

  async function requestOf(context: RouterContext<HttpState>): Promise<RequestRow> {
    const row = await ownRequest(core, context.params.id, context.state);
    const [asked] = targetOf(context.params).split('@');
    if (asked !== row.model && asked !== row.endpoint) {
      throw new SonogateError('not_found', `The request does not belong to ${asked}.`);
    }
    context.set('X-Fal-Request-Id', row.id);
    return row;
  }

  async function outputOf(row: RequestRow): Promise<unknown> {
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
}

/** `us/obstetric[/interpret][@version]` of a path. */
function targetOf({ ns, model, endpoint }: Record<string, string | undefined>): string {
  return [ns, model, endpoint].filter(Boolean).join('/');
}

/**
 * The submit body of service.md 2.2. The client sends the input as it is, the priority as a header
 * and the webhook in the query; a body with `input` may hold the other fields itself.
 */
function submitBodyOf(context: Context & { state: HttpState }, address: string): unknown {
  const { body } = context.state;
  if (typeof body !== 'object' || body === null) return body;
  const given = 'input' in body ? body : { input: body };
  const priority = context.get('X-Fal-Queue-Priority');
  const { fal_webhook: url } = context.query;
  return {
    ...(priority && { priority }),
    ...(url !== undefined && { webhook: { url, events: [...WEBHOOK_EVENTS] } }),
    ...given,
    input: ownFileIds(given.input, address),
  };
}

function wantsLogs({ query }: Context): boolean {
  return query.logs === '1' || query.logs === 'true';
}

/** The client decodes chunk by chunk, so that a character of several bytes might be cut. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
