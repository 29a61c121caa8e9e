import type { Router } from '@koa/router';
import { z } from 'zod';
import { monthlyUsage } from '../requests/usage.ts';
import { requireScope } from './authentication.ts';
import type { HttpDeps, HttpState } from './deps.ts';
import { readQuery } from './query.ts';

export const usageQuery = z.strictObject({
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'a month such as 2026-11')
    .optional(),
  key: z.string().optional(),
});

/** `GET /v1/usage`: requests and their cost by month (UTC) and key. */
export function addUsageRoute(router: Router<HttpState>, deps: HttpDeps): void {
  router.get('/v1/usage', requireScope(deps, 'read'), async (context) => {
    const query = readQuery(context, usageQuery);
    const { accountId } = context.state.principal;
    const rows = await monthlyUsage(deps.database, { accountId, ...query });
    context.body = {
      data: rows.map(({ month, key_id, requests, succeeded, total }) => ({
        month,
        key: key_id,
        requests,
        succeeded,
        cost: { currency: 'USD', total },
      })),
    };
  });
}
