import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { type ArtifactEntry, described, text } from '../../../pipelines/result/envelope.ts';
import type { RequestCore } from '../../core/requests/core.ts';
import type { StoredEvent } from '../../core/requests/events.ts';
import { FINAL_STATUS, REQUEST_STATUS, type RequestRow } from '../../core/requests/request.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { secondsAfter } from '../../platform/time.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState, linkNextPage } from './context.ts';
import { eventFrame, RECONNECT, sendEventStream } from './event-stream.ts';
import { FILE_HEADERS, sendFile } from './file-answer.ts';
import { idempotent } from './idempotency.ts';
import { EXAMPLE } from './openapi/examples.ts';
import {
  type HeaderParameter,
  INPUT_ERRORS,
  ONCE_ERRORS,
  operationsOf,
} from './openapi/operation.ts';
import { instant, jsonBody, pageQuery } from './parse.ts';
import { servingOn } from './route.ts';
import { acceptSubmission } from './submission.ts';

const LONGEST_WAIT_SECONDS = 60;

const waitQuery = z.strictObject({
  wait: described(
    z.coerce.number().int().min(0).max(LONGEST_WAIT_SECONDS).default(0),
    'Maximum number of seconds to wait for a change of status before responding',
    30,
  ),
});

/** Not validated: an event stream must never refuse a reconnect because of its parameters. */
const eventsQuery = z.object({
  last_event_id: text('`Last-Event-ID` for clients that cannot set a header', '2').optional(),
});

const historyQuery = z.strictObject({
  model: text('Only requests to this model or endpoint', 'us/obstetric').optional(),
  status: described(
    z
      .union(
        [
          z
            .enum(REQUEST_STATUS)
            .meta({ examples: ['succeeded'] })
            .transform((one) => [one]),
          z.array(z.enum(REQUEST_STATUS)),
        ],
        // Zod's message for a union does not list the accepted values.
        { error: `Invalid option: expected one of ${REQUEST_STATUS.join(', ')}` },
      )
      .optional(),
    'Only requests with this status; may be repeated',
    'succeeded',
  ),
  key: text('Only requests made with this key', EXAMPLE.key).optional(),
  since: described(
    instant.optional(),
    'Only requests submitted since this time',
    '2026-11-22T00:00:00Z',
  ),
  ...pageQuery('req', EXAMPLE.request),
});

const LAST_EVENT_ID: HeaderParameter = {
  name: 'Last-Event-ID',
  required: false,
  description: 'Id of the last event received; only later events are sent.',
  schema: { type: 'string', examples: ['2'] },
};

export const REQUEST_OPERATIONS = operationsOf('Requests', {
  listRequests: {
    method: 'get',
    path: '/v1/requests',
    summary: "The account's requests, newest first",
    scope: 'read',
    audit: 'request.list',
    query: historyQuery,
    answer: 'requestPage',
    errors: ['invalid_input'],
  },
  getRequest: {
    method: 'get',
    path: '/v1/requests/{id}',
    summary: 'Get a request, optionally waiting for its status to change',
    scope: 'read',
    audit: 'request.read',
    query: waitQuery,
    answer: 'request',
    errors: ['not_found', 'invalid_input'],
  },
  followRequest: {
    method: 'get',
    path: '/v1/requests/{id}/events',
    summary: 'Follow a request by server-sent events',
    scope: 'read',
    audit: 'request.follow',
    uncheckedQuery: eventsQuery,
    headers: [LAST_EVENT_ID],
    answer: 'serverSentEvent',
    mediaType: 'text/event-stream',
    errors: ['not_found'],
  },
  cancelRequest: {
    method: 'post',
    path: '/v1/requests/{id}/cancel',
    summary: 'Cancel a request',
    scope: 'run',
    audit: 'request.cancel',
    once: true,
    status: 202,
    answer: 'request',
    errors: ['not_found', 'already_finished', ...INPUT_ERRORS, ...ONCE_ERRORS],
  },
  listArtifacts: {
    method: 'get',
    path: '/v1/requests/{id}/artifacts',
    summary: 'List the artifacts of a request',
    scope: 'read',
    audit: 'artifact.list',
    answer: 'artifactList',
    errors: ['not_found', 'expired'],
  },
  getArtifact: {
    method: 'get',
    path: '/v1/requests/{id}/artifacts/{name}',
    summary: 'Fetch an artifact (redirects to a signed URL)',
    scope: 'read',
    audit: 'artifact.read',
    status: 302,
    answer: 'empty',
    errors: ['not_found', 'expired'],
  },
  downloadArtifact: {
    method: 'get',
    path: '/v1/downloads/{id}/{name}',
    summary: 'Fetch the bytes of an artifact from a signed URL',
    scope: null,
    headers: FILE_HEADERS,
    answer: 'bytes',
    otherStatuses: {
      206: { description: 'The range that was asked for', example: null },
    },
    errors: ['not_found', 'expired', 'range_not_satisfiable'],
  },
});

/**
 * Returns the request in the path if it belongs to the caller.
 * @throws SonogateError `not_found` for unknown requests, for requests of other accounts and, if
 *   the key is a test key, for live requests.
 */
export async function ownRequest(
  core: RequestCore,
  id: string | undefined,
  { principal }: HttpState,
): Promise<RequestRow> {
  const row = id === undefined ? null : await core.get(id, principal.accountId);
  if (!row || (principal.test && !row.test)) {
    throw new SonogateError('not_found', 'There is no such request.');
  }
  return row;
}

/** Adds `GET /v1/requests`, `GET /v1/requests/{id}` and `POST /v1/requests/{id}/cancel`. */
export function addRequestRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config, stopping } = deps;
  const serve = servingOn(router, deps);

  serve(REQUEST_OPERATIONS.listRequests, async (context, { query }) => {
    const address = baseUrl(context, config);
    const { rows, nextCursor } = await core.history({
      ...query,
      accountId: context.state.principal.accountId,
      testOnly: context.state.principal.test,
    });
    context.body = {
      data: await Promise.all(rows.map((row) => core.view(row, address, { withBodies: false }))),
      has_more: nextCursor !== null,
      next_cursor: nextCursor,
    };
    linkNextPage(context, config, nextCursor);
  });

  serve(REQUEST_OPERATIONS.getRequest, async (context, { query: { wait } }) => {
    let row = await ownRequest(core, context.params.id, context.state);
    if (wait > 0 && !FINAL_STATUS.has(row.status)) {
      const gone = new AbortController();
      context.res.once('close', () => gone.abort());
      row = await core.waitForChange(row, wait, AbortSignal.any([gone.signal, stopping]));
    }
    context.body = await core.view(row, baseUrl(context, config));
  });

  serve(REQUEST_OPERATIONS.cancelRequest, async (context) => {
    const { id } = await ownRequest(core, context.params.id, context.state);
    const row = await core.cancel(id, context.state.principal.accountId);
    context.body = await core.view(row, baseUrl(context, config));
  });
}

/** Adds `POST /v1/run/{ns}/{model}[/{endpoint}][@version]`. */
export function addRunRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config } = deps;
  router.post(
    ['/v1/run/:ns/:model', '/v1/run/:ns/:model/:endpoint'],
    requireScope(deps, 'run'),
    audited(deps, 'request.submit'),
    jsonBody(config.maxBodyBytes),
    idempotent(deps),
    async (context) => {
      const { ns, model, endpoint } = context.params;
      const target = [ns, model, endpoint].filter(Boolean).join('/');
      const { body } = context.state;
      const address = baseUrl(context, config);
      const row = await acceptSubmission(deps, context.state, {
        target,
        body,
        door: 'api',
        address,
        status: 202,
      });
      context.status = 202;
      context.set('Location', `/v1/requests/${row.id}`);
      context.body = await core.view(row, address);
    },
  );
}

/** Adds `GET /v1/requests/{id}/events`: server-sent events (WHATWG HTML 9.2). */
export function addEventRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config } = deps;
  const serve = servingOn(router, deps);

  serve(REQUEST_OPERATIONS.followRequest, async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    const asked = lastEventId(context.get('Last-Event-ID') || context.query.last_event_id);
    const after = asked > row.last_seq ? 0 : asked;
    const address = baseUrl(context, config);
    if (FINAL_STATUS.has(row.status)) {
      const left = await core.events.list(row.id, after, address);
      if (left.length === 0) {
        // The status 204 makes an EventSource stop reconnecting.
        context.status = 204;
        return;
      }
    }
    sendEventStream(context, deps, (signal) =>
      frames(core.events.follow(row.id, after, address, signal)),
    );
  });
}

/**
 * Returns the number of the last event that the client received. Returns 0 if the text is not a
 * number, so that all events are sent. The caller also sends all events if the number is beyond the
 * end of the log (exchange 5.7), because the client must not miss the final event.
 */
function lastEventId(text: string | string[] | undefined): number {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

async function* frames(events: AsyncIterable<StoredEvent>): AsyncGenerator<string> {
  yield RECONNECT;
  for await (const { seq, name, data } of events) yield eventFrame(name, data, seq);
}

/** Seconds for which the download URL of an artifact is valid (exchange 5.9). */
const LINK_LIFE_SECONDS = 300;

/**
 * Adds `GET /v1/requests/{id}/artifacts[/{name}]` and the signed URLs to which an artifact
 * redirects.
 */
export function addArtifactRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, blobs, config, signer, logger, now = () => new Date() } = deps;
  const serve = servingOn(router, deps);

  function ownUrl(context: Context, { id }: RequestRow, { name }: ArtifactEntry): string {
    const path = `/v1/downloads/${id}/${encodeURIComponent(name)}`;
    const expires = secondsAfter(now(), LINK_LIFE_SECONDS);
    return `${baseUrl(context, config)}${signer.sign('GET', path, expires)}`;
  }

  /**
   * Returns a URL for downloading the artifact directly from the storage; null if the storage
   * cannot provide one.
   */
  async function directUrl(row: RequestRow, artifact: ArtifactEntry): Promise<string | null> {
    if (!blobs.direct) return null;
    const { name, sha256, media_type: mediaType } = artifact;
    const as = { name, mediaType };
    return blobs.direct.downloadUrl(sha256, as, LINK_LIFE_SECONDS).catch((error: unknown) => {
      logger.event('storage_bypassed', { request: row.id, error: String(error) });
      return null;
    });
  }

  serve(REQUEST_OPERATIONS.listArtifacts, async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    refuseExpired(row);
    context.body = { data: await core.artifacts(row.id) };
  });

  serve(REQUEST_OPERATIONS.getArtifact, async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    refuseExpired(row);
    const artifact = await listed(core, row.id, context.params.name);
    context.redirect((await directUrl(row, artifact)) ?? ownUrl(context, row, artifact));
    context.body = null;
    context.status = 302;
  });

  serve(REQUEST_OPERATIONS.downloadArtifact, async (context) => {
    signer.verify('GET', context.path, context.query, now());
    const { id = '', name } = context.params;
    // The URL is signed and no API key is needed, so the account is not checked.
    const row = await core.get(id, null);
    if (row) refuseExpired(row);
    const artifact = await listed(core, id, name);
    const path = await core.artifactPath(id, artifact.name);
    if (path === null) throw new SonogateError('expired', 'The artifact has been purged.');
    const { media_type: mediaType, bytes, sha256 } = artifact;
    sendFile(context, { path, name: artifact.name, mediaType, bytes, sha256 });
  });
}

function refuseExpired({ status }: RequestRow): void {
  if (status === 'expired') throw new SonogateError('expired', 'The artifacts have been purged.');
}

/**
 * Finds an artifact in the result's list. The name is only compared with that list, so it can never
 * become part of a path.
 */
async function listed(
  core: RequestCore,
  id: string,
  name: string | undefined,
): Promise<ArtifactEntry> {
  const artifact = (await core.artifacts(id)).find((entry) => entry.name === name);
  if (!artifact) throw new SonogateError('not_found', 'There is no such artifact.');
  return artifact;
}
