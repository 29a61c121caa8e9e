import type { Router } from '@koa/router';
import { z } from 'zod';
import { SonogateError } from '../errors/catalogue.ts';
import type { RequestCore } from '../requests/core.ts';
import { idForm } from '../requests/ids.ts';
import { FINAL_STATUS, REQUEST_STATUS } from '../requests/port.ts';
import type { RequestRow } from '../requests/row.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { idempotent } from './idempotency.ts';
import { instant } from './instant.ts';
import { jsonBody } from './json-body.ts';
import { readQuery } from './query.ts';

const LONGEST_WAIT_SECONDS = 60;
const DEFAULT_LIMIT = 20;

export const waitQuery = z.strictObject({
  wait: z.coerce.number().int().min(0).max(LONGEST_WAIT_SECONDS).default(0),
});

export const historyQuery = z.strictObject({
  model: z.string().optional(),
  status: z
    .union([z.enum(REQUEST_STATUS).transform((one) => [one]), z.array(z.enum(REQUEST_STATUS))])
    .optional(),
  key: z.string().optional(),
  since: instant.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(DEFAULT_LIMIT),
  cursor: z.string().regex(idForm('req'), 'the `next_cursor` of a page before').optional(),
});

/**
 * The request of the path, when it is the caller's own.
 * @throws SonogateError `not_found`, the same for unknown ones and for those of other accounts.
 */
export async function ownRequest(
  core: RequestCore,
  id: string | undefined,
  { principal }: HttpState,
): Promise<RequestRow> {
  const row = id === undefined ? null : await core.get(id, principal.accountId);
  if (!row) throw new SonogateError('not_found', 'There is no such request.');
  return row;
}

/** `GET /v1/requests`, `GET /v1/requests/{id}`, `POST /v1/requests/{id}/cancel` */
export function addRequestRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config, stopping } = deps;
  const read = requireScope(deps, 'read');

  router.get('/v1/requests', read, audited(deps, 'request.list'), async (context) => {
    const query = readQuery(context, historyQuery);
    const address = baseUrl(context, config);
    const { rows, nextCursor } = await core.history({
      ...query,
      accountId: context.state.principal.accountId,
    });
    context.body = {
      data: await Promise.all(rows.map((row) => core.view(row, address, { withBodies: false }))),
      has_more: nextCursor !== null,
      next_cursor: nextCursor,
    };
    if (nextCursor !== null) {
      const next = new URL(context.originalUrl, `${address}/`);
      next.searchParams.set('cursor', nextCursor);
      context.set('Link', `<${address}${next.pathname}${next.search}>; rel="next"`);
    }
  });

  router.get('/v1/requests/:id', read, audited(deps, 'request.read'), async (context) => {
    const { wait } = readQuery(context, waitQuery);
    let row = await ownRequest(core, context.params.id, context.state);
    if (wait > 0 && !FINAL_STATUS.has(row.status)) {
      const gone = new AbortController();
      context.res.once('close', () => gone.abort());
      row = await core.waitForChange(row, wait, AbortSignal.any([gone.signal, stopping]));
    }
    context.body = await core.view(row, baseUrl(context, config));
  });

  router.post(
    '/v1/requests/:id/cancel',
    requireScope(deps, 'run'),
    audited(deps, 'request.cancel'),
    jsonBody(config.maxBodyBytes),
    idempotent(deps),
    async (context) => {
      const { id } = await ownRequest(core, context.params.id, context.state);
      const row = await core.cancel(id, context.state.principal.accountId);
      context.status = 202;
      context.body = await core.view(row, baseUrl(context, config));
    },
  );
}
