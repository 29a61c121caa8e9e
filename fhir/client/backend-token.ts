import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { LONGEST_HOLD_SECONDS } from '../../src/core/outbox/delivery.ts';
import { isTemporaryStatus, retryAfterSeconds } from '../../src/platform/outbound/retry-after.ts';
import { type Failure, FhirFailure, failureOf } from './outcome.ts';

/**
 * Lifetime of an assertion in seconds. SMART App Launch 2.2, "Client Authentication: Asymmetric",
 * allows at most five minutes.
 */
const LIFETIME_SECONDS = 240;

interface AssertionClaims {
  clientId: string;
  /** `kid` of our public key, as registered with the EHR. */
  keyId: string;
  /** URL of the token endpoint, exactly as requested. */
  audience: string;
}

/**
 * Creates the signed JWT that authenticates a backend service (RFC 7523; SMART App Launch 2.2):
 * RS384 with an RSA key, ES384 with a P-384 key.
 * @param privateKey PEM.
 * @throws Error for any other kind of key, or for anything that is not a key.
 */
function clientAssertion(
  { clientId, keyId, audience }: AssertionClaims,
  privateKey: string,
  now = Date.now(),
): string {
  const key = createPrivateKey(privateKey);
  const issued = Math.floor(now / 1000);
  const header = { alg: algorithmOf(key), kid: keyId, typ: 'JWT' };
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    iat: issued,
    exp: issued + LIFETIME_SECONDS,
    jti: randomUUID(),
  };
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  // JWS concatenates the two numbers of an ECDSA signature, without DER (RFC 7518 3.4).
  const signature = sign('sha384', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): 'RS384' | 'ES384' {
  if (asymmetricKeyType === 'rsa') return 'RS384';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'secp384r1') {
    return 'ES384';
  }
  throw new Error('The key is neither RSA nor on P-384');
}

/** A registered backend service (SMART App Launch 2.2, "Backend Services"). */
interface BackendService {
  clientId: string;
  keyId: string;
  scope: string;
  /** URL of the token endpoint. By default it is read from the EHR's SMART configuration. */
  tokenUrl?: string;
  /** Reads the private key in PEM. Called for each token. */
  privateKey: () => Promise<string>;
}

export interface TokenEndpoint {
  /** FHIR base, without a trailing slash. */
  baseUrl: string;
  dispatcherNow: () => Promise<Dispatcher | undefined>;
}

/**
 * Share of a token's lifetime after which it is replaced, so that it does not expire during a
 * request.
 */
const USED_OF_LIFE = 0.8;

/** Assumed lifetime in seconds of a token whose response has no `expires_in`. */
const SHORT_LIFE_SECONDS = 60;

const TIMEOUT_MS = 15_000;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const discoverySchema = z.looseObject({
  token_endpoint: z.url(),
  token_endpoint_auth_methods_supported: z.array(z.string()).default(['private_key_jwt']),
});
const tokenSchema = z.looseObject({
  access_token: z.string().min(1),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive().default(SHORT_LIFE_SECONDS),
});

/**
 * Supplies a backend service's access tokens. A token is reused for most of its lifetime, and
 * concurrent callers wait for the same response, each until its own signal is aborted.
 */
export function backendToken(
  service: BackendService,
  endpoint: TokenEndpoint,
  now: () => number = Date.now,
): { current(signal?: AbortSignal): Promise<string>; forget(): boolean } {
  let kept: { token: string; until: number } | null = null;
  let coming: Promise<string> | null = null;

  async function fresh(): Promise<string> {
    const { token, lifeSeconds } = await requestToken(service, endpoint);
    kept = { token, until: now() + lifeSeconds * USED_OF_LIFE * 1000 };
    return token;
  }

  return {
    async current(signal) {
      if (kept && now() < kept.until) return kept.token;
      coming ??= fresh().finally(() => {
        coming = null;
      });
      return untilAborted(coming, signal);
    },
    forget() {
      kept = null;
      return true;
    },
  };
}

/**
 * Waits for a token.
 * @throws FhirFailure `ehr_unavailable` if the signal is aborted first.
 */
async function untilAborted(coming: Promise<string>, signal?: AbortSignal): Promise<string> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new FhirFailure(noToken('no answer in time')));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await Promise.race([coming, aborted]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Requests a token with a signed assertion (SMART App Launch 2.2, "Backend Services"). */
async function requestToken(
  service: BackendService,
  endpoint: TokenEndpoint,
): Promise<{ token: string; lifeSeconds: number }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const url = service.tokenUrl ?? (await discoverTokenUrl(endpoint, signal));
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: service.scope,
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await assertionFor(service, url),
  });
  const answer = await ask(url, endpoint, signal, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  });
  const { access_token, expires_in } = parsed(tokenSchema, answer, 'token');
  return { token: access_token, lifeSeconds: expires_in };
}

async function discoverTokenUrl(endpoint: TokenEndpoint, signal: AbortSignal): Promise<string> {
  const url = `${endpoint.baseUrl}/.well-known/smart-configuration`;
  const answer = await ask(url, endpoint, signal, { method: 'GET' });
  const stated = parsed(discoverySchema, answer, 'SMART configuration');
  if (!stated.token_endpoint_auth_methods_supported.includes('private_key_jwt')) {
    throw refused('The EHR does not accept signed assertions (private_key_jwt)');
  }
  return stated.token_endpoint;
}

async function assertionFor(service: BackendService, audience: string): Promise<string> {
  const privateKey = await service.privateKey();
  try {
    return clientAssertion({ ...service, audience }, privateKey);
  } catch {
    throw refused('The private key is neither RSA nor on P-384 in PEM');
  }
}

/**
 * Sends a request to the token endpoint.
 * @returns the JSON of a 200 response.
 * @throws FhirFailure for any other response.
 */
async function ask(
  url: string,
  { dispatcherNow }: TokenEndpoint,
  signal: AbortSignal,
  call: { method: 'GET' | 'POST'; headers?: Record<string, string>; body?: string },
): Promise<unknown> {
  const { errors, request } = await import('undici');
  try {
    const { statusCode, headers, body } = await request(url, {
      ...call,
      dispatcher: await dispatcherNow(),
      headers: { accept: 'application/json', ...call.headers },
      signal,
    });
    const text = await body.text();
    if (statusCode === 200) return json(text);
    throw new FhirFailure(tokenFailure(statusCode, text, String(headers['retry-after'] ?? '')));
  } catch (error) {
    if (error instanceof FhirFailure) throw error;
    const code = error instanceof errors.UndiciError ? error.code : 'no answer';
    throw new FhirFailure(noToken(code));
  }
}

/**
 * Seconds that a destination waits if its authorization server refuses us, or returns a status that
 * retrying soon will not change, such as 404.
 */
const SLOW_SECONDS = 300;

/**
 * Returns the failure of a token request. The statuses 400, 401 and 403 mean that our registration
 * is wrong (RFC 6749 5.2). Any other status is treated as an outage of the authorization server.
 * The failure contains no status, because callers would read it as the EHR's answer: a 404 would
 * mean that a patient does not exist.
 */
function tokenFailure(status: number, text: string, retryAfter: string): Failure {
  const asked = retryAfterSeconds(retryAfter, LONGEST_HOLD_SECONDS);
  if (status !== 400 && status !== 401 && status !== 403) {
    const wait = isTemporaryStatus(status) ? asked : (asked ?? SLOW_SECONDS);
    return noToken(`HTTP ${status}`, wait);
  }
  const answer = z.looseObject({ error: z.string().regex(/^[a-z_]{1,40}$/) }).safeParse(json(text));
  const why = answer.success ? answer.data.error : `HTTP ${status}`;
  const refusal = failureOf('ehr_unauthorized', `The token endpoint: ${why}`);
  return { ...refusal, retryAfter: asked ?? SLOW_SECONDS };
}

function noToken(why: string, retryAfter?: number): Failure {
  return { ...failureOf('ehr_unavailable', `The token endpoint: ${why}`), retryAfter };
}

function refused(detail: string): FhirFailure {
  return new FhirFailure(failureOf('ehr_unauthorized', detail));
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  what: string,
): z.output<Schema> {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new FhirFailure(noToken(`the response is not a ${what}`, SLOW_SECONDS));
}
