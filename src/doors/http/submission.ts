import { z } from 'zod';
import { MOCK_SCENARIOS, mockScenario } from '../../../pipelines/contract/job.ts';
import { described, holdsFiniteNumbers } from '../../../pipelines/result/envelope.ts';
import type { Uploader } from '../../core/files/uploads.ts';
import { DEFAULT_WEBHOOK_EVENTS, WEBHOOK_EVENTS } from '../../core/requests/announce.ts';
import {
  type Endpoint,
  type EndpointInput,
  resolveEndpoint,
} from '../../core/requests/endpoint.ts';
import type { RequestFile, RequestRow } from '../../core/requests/request.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import {
  InvalidInputError,
  type PointedError,
  pointedErrors,
} from '../../platform/errors/problem.ts';
import { LONGEST_URL, UrlNotPermittedError } from '../../platform/outbound/url-guard.ts';
import { submissionAudit } from './audited.ts';
import type { HttpDeps, HttpState } from './context.ts';
import { EXAMPLE } from './openapi/examples.ts';
import { LONGEST_NAME_BYTES } from './uploads.ts';
import { enabledUrl } from './webhooks.ts';

export const FILE_ID = /^file_[0-9a-hjkmnp-tv-z]{26}$/;
const WEB_ADDRESS = /^https?:/i;

/**
 * Maximum number of elements in `files` and in `prior_files`. A larger study must be sent as an
 * archive.
 */
export const MOST_FILES = 1000;

type FileParts = Pick<HttpDeps, 'uploads' | 'outbound' | 'logger'>;

/**
 * Returns the input's files, under names that are unique in the request. Hosted files keep their
 * URL and are fetched when the request starts.
 * @throws InvalidInputError with each element that cannot be used (`file_not_ready` for uploads).
 */
async function inputFiles(
  parts: FileParts,
  uploader: Uploader,
  input: EndpointInput,
): Promise<{ files: RequestFile[]; priorFiles: RequestFile[] }> {
  const tooMany = listErrors(input);
  if (tooMany.length > 0) throw new InvalidInputError(tooMany);
  const asked = elements(input);
  const wrong = asked.flatMap((element) => complaint(element, parts));
  if (wrong.length > 0) throw new InvalidInputError(wrong);

  const ids = asked.map(({ file }) => file).filter((file) => FILE_ID.test(file));
  const ready = await parts.uploads.ready(uploader, [...new Set(ids)]);
  const missing = asked.filter(({ file }) => FILE_ID.test(file) && !ready.has(file));
  if (missing.length > 0) {
    throw new InvalidInputError(
      missing.map(({ pointer, file }) => ({ pointer, detail: `${file} is not a ready file` })),
      'file_not_ready',
    );
  }
  const taken = new Map<string, number>();
  const found = (files: readonly string[]) =>
    files.map((file) => {
      const known = ready.get(file) ?? hostedFile(file);
      return { ...known, name: uniqueName(known.name, taken) };
    });
  return { files: found(input.files), priorFiles: found(input.prior_files ?? []) };
}

interface Element {
  pointer: string;
  file: string;
}

function elements(input: EndpointInput): Element[] {
  const list = (field: string, files: readonly string[]) =>
    files.map((file, n) => ({ pointer: `/input/${field}/${n}`, file }));
  return [...list('files', input.files), ...list('prior_files', input.prior_files ?? [])];
}

function listErrors({ files, prior_files = [] }: EndpointInput): PointedError[] {
  const detail = `at most ${MOST_FILES} files; to send more, put them into an archive`;
  return Object.entries({ files, prior_files }).flatMap(([field, list]) =>
    list.length > MOST_FILES ? [{ pointer: `/input/${field}`, detail }] : [],
  );
}

/** Checks an element as far as possible without a database look-up. */
function complaint({ pointer, file }: Element, { outbound, logger }: FileParts): PointedError[] {
  if (FILE_ID.test(file)) return [];
  if (!WEB_ADDRESS.test(file)) {
    return [{ pointer, detail: 'neither an upload id (file_…) nor an https URL' }];
  }
  try {
    outbound.check(file, 'input-file');
    return [];
  } catch (error) {
    if (!(error instanceof UrlNotPermittedError)) throw error;
    // The response does not state which rule the URL breaks, so that clients cannot probe our
    // network.
    logger.event('input_url_refused', { pointer, reason: error.reason });
    const detail =
      'URL not permitted; its host must be listed in the setting outbound.hosts, or be public if outbound.inputFiles is public-hosts';
    return [{ pointer, detail }];
  }
}

/** Returns a file to be fetched, named after the last segment of the URL's path. */
function hostedFile(url: string): RequestFile {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  const name = endOf(decoded(last).replaceAll(/[/\\\p{Cc}]/gu, '_'), LONGEST_NAME_BYTES);
  const plain = /^\.*$/.test(name) ? 'file' : name;
  return { name: plain, url };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the end of a text, in whole characters and at most `limit` bytes of UTF-8. */
function endOf(text: string, limit: number): string {
  const characters = Array.from(text);
  let [from, bytes] = [characters.length, 0];
  while (from > 0) {
    bytes += Buffer.byteLength(characters[from - 1] as string);
    if (bytes > limit) break;
    from -= 1;
  }
  return characters.slice(from).join('');
}

/**
 * Makes the names of files unique: `a.png`, `a-2.png`. `taken` stores the next number for each
 * name, so that a thousand files with the same name do not cost a million comparisons.
 */
function uniqueName(name: string, taken: Map<string, number>): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let n = taken.get(name) ?? 1;
  let candidate = name;
  for (; taken.has(candidate); candidate = `${stem}-${n}${extension}`) n += 1;
  taken.set(name, n);
  if (candidate !== name) taken.set(candidate, 1);
  return candidate;
}

const webhook = z.strictObject({
  url: described(
    z.url({ protocol: /^https?$/, message: 'an https URL' }).max(LONGEST_URL),
    'https URL to call; its host must be public or permitted by the site',
    EXAMPLE.receiver,
  ),
  events: described(
    z.array(z.enum(WEBHOOK_EVENTS)).default([...DEFAULT_WEBHOOK_EVENTS]),
    'Events to send. `request.triage` (each critical flag, immediately), `request.verified` (signed by a person) and `request.withdrawn` are sent only if listed',
    [...WEBHOOK_EVENTS],
  ),
});

/** Maximum size of `metadata`, in bytes of compact JSON in UTF-8. */
export const METADATA_BYTES = 32_768;

/**
 * Any JSON value. A number too large for a double is refused, because it would be returned as null.
 */
const metadata = z
  .unknown()
  .refine((value) => Buffer.byteLength(JSON.stringify(value) ?? '') <= METADATA_BYTES, {
    message: `at most ${METADATA_BYTES} bytes of JSON`,
  })
  // `JSON.parse` turns 1e999 into Infinity, which JSON cannot represent.
  .refine(holdsFiniteNumbers, { message: 'a number is too large' })
  .meta({
    description: `Any JSON value of up to ${METADATA_BYTES} bytes; it is returned with the request and in webhooks. With a test key, its member \`mock\` selects another outcome`,
    examples: [{ worklist: 'A', visit: { room: 3 } }],
  });

/** Returns the schema of a submission (api 2.2). Its `input` has the endpoint's own schema. */
export function submitBody(endpoint: Endpoint) {
  const made = BODIES.get(endpoint) ?? bodyOf(endpoint);
  BODIES.set(endpoint, made);
  return made;
}

/**
 * Compiled schemas. Compiling one takes as long as validating twenty bodies, so it is done only on
 * first use.
 */
const BODIES = new WeakMap<Endpoint, ReturnType<typeof bodyOf>>();

function bodyOf(endpoint: Endpoint) {
  return z.strictObject({
    input: described(endpoint.input, 'Input of the endpoint'),
    webhook: described(webhook.optional(), 'Webhook for events of the request'),
    priority: described(
      z.enum(['low', 'normal', 'high']).default('normal'),
      'Priority among waiting requests',
      'normal',
    ),
    metadata: metadata.default({}),
  });
}

/**
 * The error for an unknown test scenario. If it were accepted, a misspelt scenario would succeed
 * silently.
 */
const UNKNOWN_SCENARIO: PointedError = {
  pointer: '/metadata/mock',
  detail: `must be one of the mock pipeline's scenarios: ${MOCK_SCENARIOS.join(', ')}`,
};

interface Submission {
  /** The endpoint, such as `us/obstetric` or `us/obstetric/interpret@1.0`. */
  target: string;
  body: unknown;
  door: 'api' | 'queue';
  /** Address at which the caller reached us. */
  address: string;
  /** HTTP status of the response to an accepted submission. */
  status: number;
}

/**
 * Checks a submission, creates its request and records the call in the audit.
 * @throws SonogateError `unknown_endpoint`, `invalid_json`, `rate_limited`
 * @throws InvalidInputError
 */
export async function acceptSubmission(
  deps: Pick<HttpDeps, 'core' | 'database' | 'limits' | 'uploads' | 'outbound' | 'logger' | 'now'>,
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
  if (principal.test && mockScenario(metadata) === null) {
    throw new InvalidInputError([UNKNOWN_SCENARIO]);
  }
  // The input is stored without the schema's defaults, so that the request shows it as submitted.
  const { input } = body as { input: EndpointInput };
  const { accountId, keyId } = principal;
  await deps.limits.requireRoom(keyId);
  const announced = webhook && {
    ...webhook,
    url: await enabledUrl(deps, accountId, webhook.url, '/webhook/url'),
  };
  const files = await inputFiles(deps, principal, input);

  const row = await core.submit({
    endpoint: endpoint.id,
    version: endpoint.version,
    input,
    ...files,
    priority,
    metadata,
    webhook: announced
      ? { ...announced, address, shape: door === 'queue' ? 'queue' : 'request' }
      : null,
    source: { kind: door, ...(state.traceparent && { traceparent: state.traceparent }) },
    uniqueKey: idempotencyKey,
    accountId,
    keyId,
    test: principal.test,
    deliverTo: [],
    audit: submissionAudit(state, status, now()),
  });
  state.audited = true;
  return row;
}

/** Splits a target into path and version: `us/obstetric@1.0`. */
function split(target: string): [path: string, version: string | null] {
  const at = target.indexOf('@');
  return at < 0 ? [target, null] : [target.slice(0, at), target.slice(at + 1)];
}
