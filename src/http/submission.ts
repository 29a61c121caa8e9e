import { SonogateError } from '../errors/catalogue.ts';
import { InvalidInputError, type PointedError, pointedErrors } from '../errors/problem.ts';
import type { EndpointInput } from '../requests/endpoint.ts';
import { resolveEndpoint } from '../requests/resolve.ts';
import type { RequestRow } from '../requests/row.ts';
import type { HttpDeps, HttpState } from './deps.ts';
import { notUploads, uploadedFiles } from './input-files.ts';
import { submitBody } from './submit-body.ts';

/** Nothing is taken silently that this release does not do. */
const WEBHOOKS_TO_COME: PointedError = {
  pointer: '/webhook',
  detail: 'webhooks come with the next release; follow the events or wait on the request',
};

/** Where a submit was sent, and which of the two HTTP doors it came through. */
export interface Submission {
  /** `us/obstetric`, `us/obstetric/interpret@1.0` */
  target: string;
  /** The submit body of service.md 2.2. */
  body: unknown;
  door: 'api' | 'queue';
}

/**
 * Checks a submit and makes the request of it.
 * @throws SonogateError `unknown_endpoint`, `invalid_json`, `forbidden`; InvalidInputError
 */
export async function acceptSubmission(
  { core, uploads }: Pick<HttpDeps, 'core' | 'uploads'>,
  { principal, idempotencyKey }: HttpState,
  { target, body, door }: Submission,
): Promise<RequestRow> {
  const [path, version] = split(target);
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
    source: { kind: door },
    uniqueKey: idempotencyKey,
    accountId: principal.accountId,
    keyId: principal.keyId,
    test: false,
    deliverTo: [],
  });
  const row = await core.get(id, principal.accountId);
  if (!row) throw new Error(`request ${id} is gone right after its submission`);
  return row;
}

/** `us/obstetric@1.0` → path and version. */
function split(target: string): [path: string, version: string | null] {
  const at = target.indexOf('@');
  return at < 0 ? [target, null] : [target.slice(0, at), target.slice(at + 1)];
}
