import { createPublicKey, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a token request must contain to be granted (SMART App Launch 2.2; RFC 7523). */
export interface RegisteredClient {
  clientId: string;
  keyId: string;
  /** In PEM format. */
  publicKey: string;
  algorithm: 'RS384' | 'ES384';
}

export interface TokenServer {
  tokenUrl: string;
  /** Number of token requests so far, granted or not. */
  asked: number;
  /** Scope of the last request. */
  scope: string;
  /** Returns true if an Authorization header contains a token that is still valid. */
  accepts(authorization: string | undefined): boolean;
  revoke(): void;
  /**
   * Lets requests wait.
   * @returns a function that answers them.
   */
  hold(): () => void;
  /** Sets the response to the next requests. */
  fail(
    status: number,
    body: object | string,
    times?: number,
    headers?: Record<string, string>,
  ): void;
  close(): Promise<void>;
}

/**
 * Starts an authorization server on loopback. It checks signed assertions using only the public
 * key, independently of the code that created them.
 */
export async function startTokenServer(
  client: RegisteredClient,
  lifetimeSeconds: number | undefined = 300,
): Promise<TokenServer> {
  const good = new Set<string>();
  const used = new Set<string>();
  const planned: {
    status: number;
    body: object | string;
    headers: Record<string, string>;
  }[] = [];

  let held = Promise.resolve();

  const server = createServer((request, response) => {
    const reply = (status: number, body: object | string, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    void text(request).then(async (body) => {
      tokens.asked += 1;
      await held;
      const fault = planned.shift();
      if (fault) return reply(fault.status, fault.body, fault.headers);
      const form = new URLSearchParams(body);
      tokens.scope = form.get('scope') ?? '';
      const why = complaint(form, client, tokens.tokenUrl, used);
      if (why !== null) return reply(400, { error: 'invalid_client', error_description: why });
      const token = `token-${tokens.asked}`;
      good.add(token);
      reply(200, {
        access_token: token,
        token_type: 'bearer',
        expires_in: lifetimeSeconds,
        scope: tokens.scope,
      });
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;

  const tokens: TokenServer = {
    tokenUrl: `http://127.0.0.1:${port}/token`,
    asked: 0,
    scope: '',
    accepts: (authorization) => good.has(authorization?.replace(/^Bearer /, '') ?? ''),
    revoke: () => good.clear(),
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    fail: (status, body, times = 1, headers = {}) => {
      for (let time = 0; time < times; time += 1) planned.push({ status, body, headers });
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return tokens;
}

/** Returns why a request is refused, or null if it is granted. */
function complaint(
  form: URLSearchParams,
  client: RegisteredClient,
  tokenUrl: string,
  used: Set<string>,
): string | null {
  if (form.get('grant_type') !== 'client_credentials') return 'grant_type';
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  if (form.get('client_assertion_type') !== type) return 'client_assertion_type';
  const [header = '', claims = '', signature = ''] = (form.get('client_assertion') ?? '').split(
    '.',
  );
  const { alg, kid, typ } = decoded(header);
  if (alg !== client.algorithm || kid !== client.keyId || typ !== 'JWT') return 'header';
  const isSigned = verify(
    'sha384',
    Buffer.from(`${header}.${claims}`),
    { key: createPublicKey(client.publicKey), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  if (!isSigned) return 'signature';
  const { iss, sub, aud, exp, jti } = decoded(claims);
  if (iss !== client.clientId || sub !== client.clientId || aud !== tokenUrl) return 'claims';
  const left = Number(exp) - Date.now() / 1000;
  if (left <= 0 || left > 300) return 'exp';
  if (used.has(String(jti))) return 'jti';
  used.add(String(jti));
  return null;
}

function decoded(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
}
