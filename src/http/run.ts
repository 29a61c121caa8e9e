import type { Router } from '@koa/router';
import { SonogateError } from '../errors/catalogue.ts';
import { InvalidInputError, type PointedError, pointedErrors } from '../errors/problem.ts';
import type { EndpointInput } from '../requests/endpoint.ts';
import { resolveEndpoint } from '../requests/resolve.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { idempotent } from './idempotency.ts';
import { notUploads, uploadedFiles } from './input-files.ts';
import { jsonBody } from './json-body.ts';
import { submitBody } from './submit-body.ts';

/** Nothing is taken silently that this release does not do. */
const WEBHOOKS_TO_COME: PointedError = {
  pointer: '/webhook',
  detail: 'webhooks come with the next release; follow the events or wait on the request',
};

/** `POST /v1/run/{ns}/{model}[/{endpoint}][@version]` */
export function addRunRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, uploads, config } = deps;
  router.post(
    ['/v1/run/:ns/:model', '/v1/run/:ns/:model/:endpoint'],
    requireScope(deps, 'run'),
    jsonBody(config.maxBodyBytes),
    idempotent(deps),
    async (context) => {
      const { principal, body } = context.state;
      const { ns, model, endpoint: name } = context.params;
      const [path, version] = split([ns, model, name].filter(Boolean).join('/'));
      const endpoint = resolveEndpoint(core.endpoints(), path, version);
      if (principal.test) {
        throw new SonogateError(
          'forbidden',
          'Test keys run the mock backend, which comes with the next release; use a live key.',
        );
      }
      if (body === undefined) throw new SonogateError('invalid_json', 'The call has no body.');
      const parsed = submitBody(endpoint).safeParse(body);
      if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
      const { webhook, priority, metadata } = parsed.data;
      // As submitted, without the defaults of the schema: this is what the request shows as `input`.
      const { input } = body as { input: EndpointInput };
      const toCome = [...notUploads(input), ...(webhook ? [WEBHOOKS_TO_COME] : [])];
      if (toCome.length > 0) throw new InvalidInputError(toCome);
      const files = await uploadedFiles(uploads, principal.accountId, input);

      const { id } = await core.submit({
        endpoint: endpoint.id,
        version: endpoint.version,
        input,
        ...files,
        priority,
        metadata,
        webhook: null,
        source: { kind: 'api' },
        uniqueKey: context.state.idempotencyKey,
        accountId: principal.accountId,
        keyId: principal.keyId,
        test: false,
        deliverTo: [],
      });
      const row = await core.get(id, principal.accountId);
      if (!row) throw new Error(`request ${id} is gone right after its submission`);
      context.status = 202;
      context.set('Location', `/v1/requests/${id}`);
      context.body = await core.view(row, baseUrl(context, config));
    },
  );
}

/** `us/obstetric@1.0` → path and version. */
function split(target: string): [path: string, version: string | null] {
  const at = target.indexOf('@');
  return at < 0 ? [target, null] : [target.slice(0, at), target.slice(at + 1)];
}
