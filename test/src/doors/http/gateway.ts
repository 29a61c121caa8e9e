import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { loadConfig } from '../../../../config/load.ts';
import type { Config } from '../../../../config/schema.ts';
import { reviewsOf, withReviews } from '../../../../src/app/wiring/reviews.ts';
import { createAuthenticate, createKey, type NewKey } from '../../../../src/core/accounts/keys.ts';
import { createAuditWriter } from '../../../../src/core/audit/audit.ts';
import { openBlobFolder } from '../../../../src/core/files/blob-folder.ts';
import { objectsOnDisk } from '../../../../src/core/files/received-objects.ts';
import { Uploads } from '../../../../src/core/files/uploads.ts';
import { createRequestCore } from '../../../../src/core/requests/core.ts';
import type { Endpoint } from '../../../../src/core/requests/endpoint.ts';
import { createHttpApp } from '../../../../src/doors/http/app.ts';
import { type CallLimits, createCallLimits } from '../../../../src/doors/http/call-limits.ts';
import type { HttpDeps } from '../../../../src/doors/http/context.ts';
import { startHttp } from '../../../../src/doors/http/server.ts';
import { createUrlSigner, loadSigningSecret } from '../../../../src/doors/http/signed-url.ts';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { openDatabase } from '../../../../src/platform/database/open.ts';
import { SonogateError } from '../../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { createUrlGuard } from '../../../../src/platform/outbound/url-guard.ts';
import { type FreshDatabase, freshDatabase } from '../../../peers/database.ts';
import { type TestWorker, testWorker } from './test-worker.ts';

export const MAX_BODY_BYTES = 10_000;
export const MAX_UPLOAD_BYTES = 1_000_000;
export const MAX_FILE_BYTES = 3_000_000;
export const PART_BYTES = 600_000;

/** An endpoint with the shape of a real one (api 2.3), but small enough to be read at a glance. */
const endpoint: Endpoint = {
  id: 'us/obstetric/interpret',
  model: 'us/obstetric',
  version: '1.2.0',
  title: 'Obstetric ultrasound',
  operation: 'InterpretObstetric',
  input: z.strictObject({
    files: z.array(z.string()).min(1),
    prior_files: z.array(z.string()).optional(),
    options: z
      .strictObject({
        previews: z.boolean().default(true),
        dating: z.strictObject({ ga_days: z.number(), basis: z.string() }).optional(),
      })
      .optional(),
    clinical_context: z
      .strictObject({
        age_years: z.number().int().min(0).max(130).optional(),
        indication: z.string().optional(),
      })
      .optional(),
  }),
  output: z.object({ schema: z.literal('sonogate.result/1') }),
  price: () => [{ item: 'us/obstetric', quantity: 1, unit_price: '0.08', amount: '0.08' }],
};

const endpoints: Endpoint[] = withReviews(
  [endpoint, { ...endpoint, version: '1.0.0' }, { ...endpoint, version: '1.10.0' }],
  { report: { paper: 'a4' } },
);

/** Default settings except for one internal host, which may serve files and receive webhooks. */
const OUTBOUND: Config['outbound'] = {
  hosts: [{ host: 'pacs.example', addresses: ['10.0.0.0/8'], ports: [443, 8443], http: false }],
  inputFiles: 'listed-hosts',
  maxFileBytes: MAX_UPLOAD_BYTES,
  fetchTimeoutSeconds: 10,
};

/** These limits are so high that they have no effect. */
const CALL_LIMITS = { callsPerMinute: 100_000, openStreamsPerKey: 100 };

export interface Gateway {
  url: string;
  database: HttpDeps['database'];
  dataDir: string;
  uploads: Uploads;
  worker: TestWorker;
  /** Creates a live key of the default account unless `key` specifies otherwise. */
  key(key?: Partial<NewKey>): Promise<string>;
  call(path: string, options?: CallOptions): Promise<Response>;
  upload(bytes?: string, filename?: string, key?: string): Promise<string>;
  submit(): Promise<string>;
  /** Advances the clock used by the HTTP door and the uploads. */
  advance(milliseconds: number): void;
  stop(): Promise<void>;
}

/** The response fields that the tests read. Each test checks those that it expects. */
interface Answer {
  id: string;
  status: string;
  version: string;
  created_at: string;
  input: object;
  code: string;
  errors: { pointer: string; detail: string }[];
  file: { id: string; status: string };
  upload: { url: string };
  complete_url: string;
  data: Answer[];
  next_cursor: string;
}

export async function read(answer: Response): Promise<Answer> {
  return (await answer.json()) as Answer;
}

export interface CallOptions {
  key?: string | null;
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

type Overrides = Partial<HttpDeps> & {
  callLimits?: typeof CALL_LIMITS;
  requireRoom?: CallLimits['requireRoom'];
};

/**
 * Starts the HTTP door on the real core, database and files, on a free loopback port. The queue,
 * however, never releases its jobs: the tests themselves move requests, through `worker`.
 * @param settings settings of the reviews.
 * @param fresh its database, if the kind matters.
 */
export async function startGateway(
  { callLimits = CALL_LIMITS, requireRoom, ...overrides }: Overrides = {},
  settings: Record<string, unknown> = {},
  fresh?: FreshDatabase,
): Promise<Gateway> {
  const place = fresh ?? (await freshDatabase());
  const { dataDir } = place.settings;
  const logger = silentLogger;
  const database = await openDatabase({ ...place.settings, logger });
  await migrate(database);
  await database.query(`INSERT INTO accounts (id, name) VALUES ('other', 'Another account')`);
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead);
  const queue = { add: async () => {}, remove: async () => {} };
  const blobs = openBlobFolder(join(dataDir, 'files'));
  const core = await createRequestCore({
    database,
    queue,
    endpoints,
    blobs,
    config: { dataDir },
    logger,
  });
  const uploads = new Uploads({
    database,
    blobs,
    limits: {
      maxBytes: MAX_UPLOAD_BYTES,
      maxFileBytes: MAX_FILE_BYTES,
      partBytes: PART_BYTES,
      minFreeBytes: 0,
    },
    now,
  });
  const stopping = new AbortController();
  const app = createHttpApp({
    core,
    reviews: reviewsOf(loadConfig({}, { dataDir, ...settings }), {
      database,
      core,
      blobs,
      endpoints,
    }),
    database,
    authenticate: createAuthenticate(database),
    writeAudit: createAuditWriter(database),
    uploads,
    objects: objectsOnDisk(dataDir),
    servesStudies: true,
    servesTasks: true,
    servesSubscriptions: true,
    studySource: null,
    worklist: {
      config: { dataDir, destinations: [] },
      routing: () => ({ match: 'first', rules: [] }),
    },
    storeInstances: async () => {
      throw new SonogateError('overloaded');
    },
    blobs,
    outbound: createUrlGuard(OUTBOUND),
    limits: {
      ...createCallLimits({ database, config: callLimits }),
      ...(requireRoom && { requireRoom }),
    },
    signer: createUrlSigner(await loadSigningSecret(database)),
    config: { maxBodyBytes: MAX_BODY_BYTES, maxFileBytes: MAX_FILE_BYTES },
    models: async () => [],
    logger,
    checks: { database: () => database.query('SELECT 1') },
    metrics: async () => '',
    stopping: stopping.signal,
    now,
    ...overrides,
  });
  const server = await startHttp(app, { host: '127.0.0.1', port: 0, logger });
  const key = async (options: Partial<NewKey> = {}) =>
    (await createKey(database, { name: 'test', ...options })).key;
  const usual = await key();

  const call: Gateway['call'] = (path, { key = usual, method, body, headers = {}, signal } = {}) =>
    fetch(path.startsWith('http') ? path : `${server.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      ...(signal ? { signal } : {}),
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  const upload: Gateway['upload'] = async (bytes = 'pixels', filename = 'a.png', key = usual) => {
    const announced = { filename, bytes: Buffer.byteLength(bytes), media_type: 'image/png' };
    const created = await read(await call('/v1/uploads', { key, body: announced }));
    await fetch(created.upload.url, { method: 'PUT', body: bytes });
    await call(created.complete_url, { key, method: 'POST' });
    return created.file.id;
  };

  return {
    url: server.url,
    database,
    dataDir,
    uploads,
    worker: testWorker(database, dataDir),
    key,
    call,
    upload,
    async submit() {
      const body = { input: { files: [await upload()] } };
      return (await read(await call('/v1/run/us/obstetric', { body }))).id;
    },
    advance(milliseconds) {
      ahead += milliseconds;
    },
    async stop() {
      stopping.abort();
      await server.stop();
      await core.close();
      await database.close();
      await place.remove();
    },
  };
}

export function sha256(bytes: string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
