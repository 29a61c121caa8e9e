import { type Dispatcher, errors, request } from 'undici';
import { z } from 'zod';
import { clientAssertion } from './client-assertion.ts';
import { classifyStatus, FhirFailure, failureOf, retryAfterSeconds } from './outcome.ts';

/** A registered backend service (SMART App Launch 2.2, "Backend Services"). */
export interface BackendService {
  clientId: string;
  keyId: string;
  scope: string;
  /** Asked of the EHR where it is not given. */
  tokenUrl?: string;
  /** PEM, read for each token. */
  privateKey: () => Promise<string>;
}

/** Where tokens come from. */
export interface TokenEndpoint {
  /** FHIR base, without a trailing slash. */
  baseUrl: string;
  dispatcherNow: () => Promise<Dispatcher | undefined>;
}

/** Tokens are replaced after this part of their life, so that none runs out on its way. */
const USED_OF_LIFE = 0.8;

/** For an answer without `expires_in`. */
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
 * Access tokens of a backend service: one is kept for most of its life, and those who need one at
 * the same time wait for the same answer.
 */
export function backendToken(
  service: BackendService,
  { baseUrl, dispatcherNow }: TokenEndpoint,
  now: () => number = Date.now,
): { current(signal?: AbortSignal): Promise<string>; forget(): boolean } {
  let kept: { token: string; until: number } | null = null;
  let coming: Promise<string> | null = null;

  async function fresh(): Promise<string> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const url = service.tokenUrl ?? (await discovered(signal));
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      scope: service.scope,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await assertionFor(url),
    });
    const answer = await ask(url, signal, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    });
    const { access_token, expires_in } = parsed(tokenSchema, answer, 'token');
    kept = { token: access_token, until: now() + expires_in * USED_OF_LIFE * 1000 };
    return access_token;
  }

  async function discovered(signal: AbortSignal): Promise<string> {
    const url = `${baseUrl}/.well-known/smart-configuration`;
    const answer = await ask(url, signal, { method: 'GET' });
    const stated = parsed(discoverySchema, answer, 'SMART configuration');
    if (!stated.token_endpoint_auth_methods_supported.includes('private_key_jwt')) {
      throw refused('The EHR does not take signed assertions (private_key_jwt)');
    }
    return stated.token_endpoint;
  }

  async function assertionFor(audience: string): Promise<string> {
    const privateKey = await service.privateKey();
    try {
      return clientAssertion({ ...service, audience }, privateKey);
    } catch {
      throw refused('The private key is neither RSA nor on P-384 in PEM');
    }
  }

  async function ask(
    url: string,
    signal: AbortSignal,
    call: { method: 'GET' | 'POST'; headers?: Record<string, string>; body?: string },
  ): Promise<unknown> {
    try {
      const { statusCode, headers, body } = await request(url, {
        ...call,
        dispatcher: await dispatcherNow(),
        headers: { accept: 'application/json', ...call.headers },
        signal,
      });
      const text = await body.text();
      if (statusCode === 200) return json(text);
      throw new FhirFailure(refusal(statusCode, text, String(headers['retry-after'] ?? '')));
    } catch (error) {
      if (error instanceof FhirFailure) throw error;
      const code = error instanceof errors.UndiciError ? error.code : 'no answer';
      throw new FhirFailure(failureOf('ehr_unavailable', `The token endpoint: ${code}`));
    }
  }

  return {
    async current() {
      if (kept && now() < kept.until) return kept.token;
      coming ??= fresh().finally(() => {
        coming = null;
      });
      return coming;
    },
    forget() {
      kept = null;
      return true;
    },
  };
}

/** RFC 6749 5.2: 400 and 401 mean our registration, whatever else is the server's own trouble. */
function refusal(status: number, text: string, retryAfter: string) {
  const asked = retryAfterSeconds(retryAfter);
  if (status !== 400 && status !== 401 && status !== 403) {
    const failure = classifyStatus(status, undefined, asked);
    return { ...failure, detail: `The token endpoint: ${failure.detail}` };
  }
  const answer = z.looseObject({ error: z.string().regex(/^[a-z_]{1,40}$/) }).safeParse(json(text));
  const why = answer.success ? answer.data.error : `HTTP ${status}`;
  const { status: _, ...unauthorized } = classifyStatus(401, undefined, asked);
  return { ...unauthorized, status: null, detail: `The token endpoint: ${why}` };
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
  throw new FhirFailure(failureOf('ehr_misconfigured', `The answer is not a ${what}`));
}
