import { join } from 'node:path';
import Koa from 'koa';
import { loadConfig } from '../../../../config/load.ts';
import { echoEndpoint } from '../../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../../pipelines/obstetric/endpoint.ts';
import { operationsOn } from '../../../../src/app/wiring/operations.ts';
import { reviewsOf, withReviews } from '../../../../src/app/wiring/reviews.ts';
import { createAuthenticate, createKey } from '../../../../src/core/accounts/keys.ts';
import { createAuditWriter } from '../../../../src/core/audit/audit.ts';
import { createRefusalAudit } from '../../../../src/core/audit/refusals.ts';
import { openBlobFolder } from '../../../../src/core/files/blob-folder.ts';
import { createReceivedObjects } from '../../../../src/core/files/received-objects.ts';
import { createRequestCore } from '../../../../src/core/requests/core.ts';
import { fixedRules } from '../../../../src/core/studies/rules/rules-source.ts';
import { startConsole } from '../../../../src/doors/console/console.ts';
import type { ConsoleRole, Session } from '../../../../src/doors/console/contract.ts';
import { createCallLimits } from '../../../../src/doors/http/call-limits.ts';
import type { HttpState } from '../../../../src/doors/http/context.ts';
import { responseHeaders } from '../../../../src/doors/http/middleware.ts';
import { problems } from '../../../../src/doors/http/problems.ts';
import { startHttp } from '../../../../src/doors/http/server.ts';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { openDatabase, type PooledDatabase } from '../../../../src/platform/database/open.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../../src/platform/tls/client-files.ts';
import { freshDatabase } from '../../../peers/database.ts';

export interface ConsoleSite {
  url: string;
  dataDir: string;
  database: PooledDatabase;
  /** The ids of the events logged so far. */
  logged: readonly string[];
  signIn(role: ConsoleRole): Promise<Client>;
  key(role: ConsoleRole | null): Promise<{ key: string; id: string }>;
  close(): Promise<void>;
}

/** A signed-in browser. */
export interface Client {
  session: Session;
  keyId: string;
  cookie: string;
  /**
   * Sends a request to the console's API. Requests that change something include the session's
   * token.
   */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  get<Answer>(path: string): Promise<Answer>;
}

export const PACS = { type: 'dicom', name: 'pacs', host: '127.0.0.1', port: 1, aeTitle: 'PACS' };
const OTHER_PACS = { ...PACS, name: 'archive', aeTitle: 'ARCHIVE' };
const EHR = {
  type: 'fhir',
  name: 'ehr',
  baseUrl: 'http://127.0.0.1:1/fhir',
  resultSystem: 'https://sonogate.example/fhir/result',
  patientIdentifierSystems: { '*': 'urn:oid:2.25.1' },
};

/**
 * A single rule that matches every ultrasound study, so that the tests do not depend on the default
 * rules.
 */
const ROUTING = {
  rules: [
    { name: 'obstetric', when: { modality: 'US' }, run: { endpoint: 'us/obstetric/interpret' } },
  ],
};

/**
 * Opens the console on the real core, rules and hold queue, on a free loopback port. There are no
 * listeners or workers, so only the test changes anything.
 */
export async function openConsole(
  settings: Record<string, unknown> = {},
  port = 0,
): Promise<ConsoleSite> {
  const fresh = await freshDatabase();
  const { dataDir } = fresh.settings;
  const logged: string[] = [];
  const logger = {
    ...silentLogger,
    event: (id: string) => {
      logged.push(id);
    },
  };
  const config = loadConfig(
    {},
    { ...fresh.settings, destinations: [PACS, OTHER_PACS, EHR], routing: ROUTING, ...settings },
  );
  const database = await openDatabase({ ...config, logger });
  await migrate(database);
  const blobs = openBlobFolder(join(dataDir, 'files'));
  const endpoints = withReviews([obstetricEndpoint, echoEndpoint], config);
  const core = await createRequestCore({
    database,
    queue: { add: async () => {}, remove: async () => {} },
    endpoints,
    blobs,
    config,
    logger,
  });
  const stopping = new AbortController();
  const refusals = createRefusalAudit({ writeAudit: createAuditWriter(database), logger });
  const web = await startConsole({
    config,
    database,
    core,
    reviews: reviewsOf(config, { database, core, blobs, endpoints }),
    operations: operationsOn({
      database,
      objects: createReceivedObjects(dataDir, blobs),
      certificates: new ClientCertificates(),
      config,
      rules: fixedRules(config.routing),
      logger,
      now: () => new Date(),
    }),
    // Reports every upload as fully stored, since the store has separate tests.
    storeInstances: async ({ keyName, body }) => {
      body.resume();
      return {
        stored: [{ sopClassUid: '1', sopInstanceUid: keyName ?? 'console', within: null }],
        failed: [],
        unreadable: [],
      };
    },
    authenticate: createAuthenticate(database),
    writeAudit: createAuditWriter(database),
    refusals,
    limits: createCallLimits({ database, config: config.http }),
    logger,
    stopping: stopping.signal,
  });
  const app = new Koa<HttpState>();
  app.use(responseHeaders({ config: config.http }));
  app.use(problems({ config: config.http, logger }));
  app.use(web.router.routes());
  const server = await startHttp(app, { host: '127.0.0.1', port, logger });
  const { url } = server;

  const key = async (consoleRole: ConsoleRole | null) => {
    const made = await createKey(database, { name: `Dr ${consoleRole}`, consoleRole });
    return { key: made.key, id: made.record.id };
  };
  return {
    url,
    dataDir,
    database,
    logged,
    key,
    async signIn(role) {
      const made = await key(role);
      const answer = await signInWith(url, made.key);
      const cookie = cookieOf(answer);
      const session = (await answer.json()) as Session;
      return { keyId: made.id, ...clientOf(url, cookie, session) };
    },
    async close() {
      stopping.abort();
      await server.stop();
      await web.close();
      await refusals.stop();
      await core.close();
      await database.close();
      await fresh.remove();
    },
  };
}

export function signInWith(
  url: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/console/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ key }),
  });
}

/** Returns `name=value` of the only cookie that a response sets. */
export function cookieOf(answer: Response): string {
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

export function clientOf(url: string, cookie: string, session: Session) {
  const call: Client['call'] = (method, path, body, headers = {}) =>
    fetch(`${url}/console/api${path}`, {
      method,
      redirect: 'manual',
      headers: {
        cookie,
        ...(method === 'GET' ? {} : { 'X-CSRF-Token': session.csrf }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    session,
    cookie,
    call,
    async get<Answer>(path: string) {
      const answer = await call('GET', path);
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Answer;
    },
  };
}
