import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface IdentityProvider {
  issuer: string;
  close(): Promise<void>;
}

export const CLIENT = { id: 'sonogate', secret: 'a secret of the test' } as const;

/**
 * Starts a real OpenID Connect provider on loopback, with accounts whose claims the test specifies.
 * It never prompts, because its development forms accept any name and password.
 * @param claims the claims of each subject.
 */
export async function startIdentityProvider(
  redirectUri: string,
  claims: Readonly<Record<string, Record<string, unknown>>>,
  {
    port = 0,
    secret = CLIENT.secret,
    authorization = '/auth',
    tls,
  }: {
    port?: number;
    secret?: string;
    authorization?: string;
    /** Certificate for 127.0.0.1 and its key, in PEM format. */
    tls?: { cert: Buffer; key: Buffer };
  } = {},
): Promise<IdentityProvider> {
  const server = tls ? createSecureServer(tls) : createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  const issuer = `${tls ? 'https' : 'http'}://127.0.0.1:${own}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: secret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    // The claims must be in the ID token, because the gateway reads nothing else.
    conformIdTokenClaims: false,
    routes: { authorization },
    pkce: { required: () => true },
    cookies: { keys: ['of the test'] },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ sub, ...claims[sub] }),
    }),
  });
  server.on('request', provider.callback());
  return {
    issuer,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns a browser that keeps cookies by host and port and follows redirects one at a time. */
export function openBrowser() {
  const jars = new Map<string, Map<string, string>>();

  async function go(address: string, form?: Record<string, string>): Promise<Response> {
    const { host } = new URL(address);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    const answer = await fetch(address, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /max-age=0/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }

  return {
    go,
    cookies: (host: string) => jars.get(host) ?? new Map<string, string>(),

    /**
     * Signs in as `login` at the provider, starting from the address to which the gateway
     * redirected.
     * @returns the address to which the provider redirects back.
     */
    async signInAt(authorization: string, login: string): Promise<string> {
      let address = authorization;
      for (let step = 0; step < 20; step += 1) {
        const answer = await go(address);
        const location = answer.headers.get('location');
        if (location) {
          address = new URL(location, address).href;
          if (address.includes('/console/')) return address;
          continue;
        }
        const page = await answer.text();
        const action = /action="([^"]+)"/.exec(page)?.[1] ?? '';
        const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? '';
        const next = await go(new URL(action, address).href, { prompt, login, password: 'x' });
        address = new URL(next.headers.get('location') ?? '', address).href;
      }
      throw new Error('the provider sends nobody back');
    },
  };
}
