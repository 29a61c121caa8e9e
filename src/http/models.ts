import type { Router } from '@koa/router';
import type { Endpoint } from '../requests/endpoint.ts';
import { resolveEndpoint } from '../requests/resolve.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { describeEndpoint } from './openapi.ts';

/** `GET /v1/models` and the OpenAPI description of each endpoint. */
export function addModelRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config } = deps;
  const read = requireScope(deps, 'read');

  router.get('/v1/models', read, (context) => {
    const address = baseUrl(context, config);
    context.body = { data: core.endpoints().map((endpoint) => summary(endpoint, address)) };
  });

  router.get('/v1/models/:ns/:model/:endpoint/openapi.json', read, (context) => {
    const { ns, model, endpoint: name } = context.params;
    const endpoint = resolveEndpoint(core.endpoints(), `${ns}/${model}/${name}`, null);
    context.body = describeEndpoint(endpoint, baseUrl(context, config));
  });
}

function summary({ id, model, version, title }: Endpoint, address: string) {
  return {
    id,
    model,
    version,
    title,
    urls: { run: `${address}/v1/run/${id}`, openapi: `${address}/v1/models/${id}/openapi.json` },
  };
}
