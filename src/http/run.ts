import type { Router } from '@koa/router';
import { SonogateError } from '../errors/catalogue.ts';
import { InvalidInputError, type PointedError, pointedErrors } from '../errors/problem.ts';
import type { Uploads } from '../files/uploads.ts';
import type { EndpointInput } from '../requests/endpoint.ts';
import type { RequestFile } from '../requests/port.ts';
import { resolveEndpoint } from '../requests/resolve.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { idempotent } from './idempotency.ts';
import { jsonBody } from './json-body.ts';
import { submitBody } from './submit-body.ts';

const FILE_ID = /^file_[0-9a-hjkmnp-tv-z]{26}$/;

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
      refuseWhatIsToCome(input, webhook);
      const files = await resolveFiles(uploads, principal.accountId, input);

      const { id } = await core.submit({
        endpoint: endpoint.id,
        version: endpoint.version,
        input,
        files: files.files,
        priorFiles: files.priorFiles,
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

/** Nothing is taken silently that this release does not do. */
function refuseWhatIsToCome(input: EndpointInput, webhook: object | undefined): void {
  const errors = elements(input).flatMap(({ pointer, file }): PointedError[] =>
    FILE_ID.test(file)
      ? []
      : [
          {
            pointer,
            detail: /^https:/i.test(file)
              ? 'hosted files come with the next release; upload the file and give its id'
              : 'not the id of an upload (file_…)',
          },
        ],
  );
  if (webhook) {
    errors.push({
      pointer: '/webhook',
      detail: 'webhooks come with the next release; follow the events or wait on the request',
    });
  }
  if (errors.length > 0) throw new InvalidInputError(errors);
}

/** @throws InvalidInputError `file_not_ready`, naming each file that cannot be used. */
async function resolveFiles(
  uploads: Uploads,
  accountId: string,
  input: EndpointInput,
): Promise<{ files: RequestFile[]; priorFiles: RequestFile[] }> {
  const asked = elements(input);
  const ready = await uploads.ready(accountId, [...new Set(asked.map(({ file }) => file))]);
  const missing = asked.filter(({ file }) => !ready.has(file));
  if (missing.length > 0) {
    throw new InvalidInputError(
      missing.map(({ pointer, file }) => ({ pointer, detail: `${file} is not a ready file` })),
      'file_not_ready',
    );
  }
  const taken = new Set<string>();
  const found = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const file = ready.get(id);
      return file ? [{ ...file, name: uniqueName(file.name, taken) }] : [];
    });
  return { files: found(input.files), priorFiles: found(input.prior_files ?? []) };
}

function elements(input: EndpointInput): { pointer: string; file: string }[] {
  const list = (field: string, files: readonly string[]) =>
    files.map((file, n) => ({ pointer: `/input/${field}/${n}`, file }));
  return [...list('files', input.files), ...list('prior_files', input.prior_files ?? [])];
}

/** Two files of one name stay apart: `a.png`, `a-2.png`. */
function uniqueName(name: string, taken: Set<string>): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let candidate = name;
  for (let n = 2; taken.has(candidate); n++) candidate = `${stem}-${n}${extension}`;
  taken.add(candidate);
  return candidate;
}
