import { MOCK_SCENARIOS, mockScenario } from '../../pipelines/contract/job.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { InvalidInputError, type PointedError, pointedErrors } from '../errors/problem.ts';
import type { EndpointInput } from '../requests/endpoint.ts';
import { resolveEndpoint } from '../requests/resolve.ts';
import type { RequestRow } from '../requests/row.ts';
import type { HttpDeps, HttpState } from './deps.ts';
import { inputFiles } from './input-files.ts';
import { submitBody } from './submit-body.ts';
import { acceptedWebhook } from './webhook-target.ts';

/** A misspelt scenario would be taken for a success. */
const UNKNOWN_SCENARIO: PointedError = {
  pointer: '/metadata/mock',
  detail: `the mock backend knows: ${MOCK_SCENARIOS.join(', ')}`,
};

/** Where a submit was sent, and which of the two HTTP doors it came through. */
export interface Submission {
  /** `us/obstetric`, `us/obstetric/interpret@1.0` */
  target: string;
  /** The submit body of service.md 2.2. */
  body: unknown;
  door: 'api' | 'queue';
  /** Under which the caller reached us. */
  address: string;
  /** HTTP status that the door answers an accepted submit with. */
  status: number;
}

/**
 * Checks a submit, makes the request of it and writes the call down.
 * @throws SonogateError `unknown_endpoint`, `invalid_json`; InvalidInputError
 */
export async function acceptSubmission(
  deps: Pick<HttpDeps, 'core' | 'database' | 'uploads' | 'outbound' | 'logger' | 'now'>,
  state: HttpState,
  { target, body, door, address, status }: Submission,
): Promise<RequestRow> {
  const { core, now = () => new Date() } = deps;
  const { principal, idempotencyKey } = state;
  const [path, version] = split(target);
  const endpoint = resolveEndpoint(core.endpoints(), path, version);
  if (body === undefined) throw new SonogateError('invalid_json', 'The call has no body.');
  const parsed = submitBody(endpoint).safeParse(body);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  const { webhook, priority, metadata } = parsed.data;
  if (principal.test && mockScenario(metadata.mock) === null) {
    throw new InvalidInputError([UNKNOWN_SCENARIO]);
  }
  // As submitted, without the defaults of the schema: this is what the request shows as `input`.
  const { input } = body as { input: EndpointInput };
  const { accountId, keyId } = principal;
  const announced = webhook ? await acceptedWebhook(deps, accountId, webhook) : null;
  const files = await inputFiles(deps, accountId, input);

  const row = await core.submit({
    endpoint: endpoint.id,
    version: endpoint.version,
    input,
    ...files,
    priority,
    metadata,
    webhook: announced && { ...announced, address, shape: door === 'queue' ? 'queue' : 'request' },
    source: { kind: door, ...(state.traceparent && { traceparent: state.traceparent }) },
    uniqueKey: idempotencyKey,
    accountId,
    keyId,
    test: principal.test,
    deliverTo: [],
    audit: {
      at: now(),
      accountId,
      keyId,
      action: 'request.submit',
      status,
      callId: state.requestId,
    },
  });
  state.audited = true;
  return row;
}

/** `us/obstetric@1.0` → path and version. */
function split(target: string): [path: string, version: string | null] {
  const at = target.indexOf('@');
  return at < 0 ? [target, null] : [target.slice(0, at), target.slice(at + 1)];
}
