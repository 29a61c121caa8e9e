import type { Router } from '@koa/router';
import type { Endpoint } from '../../core/requests/endpoint.ts';
import { newestEndpoints, resolveEndpoint } from '../../core/requests/endpoint.ts';
import { baseUrl, type HttpDeps, type HttpState } from './context.ts';
import { describeApi, describeEndpoint } from './openapi/document.ts';
import { MODEL_OPERATIONS } from './openapi/operations.ts';
import { servingOn } from './route.ts';

/**
 * Adds `GET /v1/models`, `GET /v1/models/{ns}/{model}`, and the OpenAPI descriptions of the whole
 * API and of each endpoint.
 */
export function addModelRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config } = deps;
  const serve = servingOn(router, deps);

  serve(MODEL_OPERATIONS.listModels, (context) => {
    const address = baseUrl(context, config);
    context.body = { data: core.endpoints().map((endpoint) => summary(endpoint, address)) };
  });

  serve(MODEL_OPERATIONS.getModel, async (context) => {
    const { ns, model } = context.params;
    const endpoint = resolveEndpoint(core.endpoints(), `${ns}/${model}`, null);
    const { modelTasks = [] } = endpoint;
    const models = await deps.models();
    context.body = {
      ...summary(endpoint, baseUrl(context, config)),
      versions: core.endpoints().flatMap(({ id, version }) => (id === endpoint.id ? version : [])),
      prices: prices(endpoint),
      limits: { body_bytes: config.maxBodyBytes, file_bytes: config.maxFileBytes },
      sections: endpoint.sections ?? [],
      models: models.filter(({ task }) => modelTasks.includes(task)),
    };
  });

  serve(MODEL_OPERATIONS.describeEndpoint, (context) => {
    const { ns, model, endpoint: name } = context.params;
    const endpoint = resolveEndpoint(core.endpoints(), `${ns}/${model}/${name}`, null);
    context.body = describeEndpoint(endpoint, baseUrl(context, config));
  });

  serve(MODEL_OPERATIONS.describeApi, (context) => {
    const address = baseUrl(context, config);
    context.body = describeApi(newestEndpoints(core.endpoints()), address, config.maxFileBytes);
  });
}

/**
 * Returns the prices of a run and of the optional report, and the price tiers if the price depends
 * on the number of frames.
 */
function prices(endpoint: Endpoint) {
  const lines = endpoint.price({ files: [], options: { report: true } });
  return {
    currency: 'USD',
    lines: lines.map(({ item, unit_price }) => ({ item, unit_price })),
    by_frames: endpoint.priceTiers ?? null,
  };
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
