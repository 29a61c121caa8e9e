import type { Router } from '@koa/router';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { idempotent } from './idempotency.ts';
import { jsonBody } from './json-body.ts';
import { acceptSubmission } from './submission.ts';

/** `POST /v1/run/{ns}/{model}[/{endpoint}][@version]` */
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
