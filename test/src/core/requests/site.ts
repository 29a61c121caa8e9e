import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../../../config/schema.ts';
import { PIPELINE_PROGRAM } from '../../../../src/app/pipelines/program.ts';
import type { FetchArchivedObjects } from '../../../../src/core/files/archived-objects.ts';
import { openBlobFolder } from '../../../../src/core/files/blob-folder.ts';
import type { BlobStore } from '../../../../src/core/files/blob-store.ts';
import { type FetchHostedFile, HostedFileError } from '../../../../src/core/files/hosted-files.ts';
import { openQueue } from '../../../../src/core/queue/queue.ts';
import { type RunningWorker, startWorker } from '../../../../src/core/queue/worker.ts';
import { createRequestCore } from '../../../../src/core/requests/core.ts';
import type { Endpoint } from '../../../../src/core/requests/endpoint.ts';
import type { RequestRow, SubmitCommand } from '../../../../src/core/requests/request.ts';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { openDatabase } from '../../../../src/platform/database/open.ts';
import type { Logger } from '../../../../src/platform/logging/logger.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { type FreshDatabase, freshDatabase } from '../../../peers/database.ts';

const open = z.record(z.string(), z.unknown());

/**
 * An endpoint with the shape of a real one, whose pipeline behaves as `options.behaviour`
 * specifies.
 */
export const endpoint: Endpoint = {
  id: 'us/test/interpret',
  model: 'us/test',
  version: '1.0.0',
  title: 'Test',
  operation: 'InterpretTest',
  input: z.strictObject({
    files: z.array(z.string()).min(1),
    prior_files: z.array(z.string()).optional(),
    options: open.optional(),
    clinical_context: open.optional(),
  }),
  output: z.strictObject({
    texts: z.array(z.string()),
    input_summary: z.strictObject({ frames: z.number() }),
    artifacts: z.array(
      z.strictObject({
        name: z.string(),
        media_type: z.string(),
        bytes: z.number(),
        sha256: z.string(),
        section: z.string().nullable(),
      }),
    ),
  }),
  price: ({ options }, frames = 0) => [
    frames > 1000
      ? { item: 'us/test', quantity: 1, unit_price: '0.15', amount: '0.15' }
      : { item: 'us/test', quantity: 1, unit_price: '0.08', amount: '0.08' },
    ...(options?.report
      ? [{ item: 'report', quantity: 1, unit_price: '0.02', amount: '0.02' }]
      : []),
  ],
};

const pipelines = {
  [endpoint.id]: new URL('../queue/pipelines/obedient.ts', import.meta.url).href,
};

const fetchNothing: FetchHostedFile = async () => {
  throw new HostedFileError('not in this test');
};

/** An archive whose objects contain their own UID. It does not have the object `gone`. */
const fetchOwnUids: FetchArchivedObjects = async (wanted) => {
  const [lost, found] = [true, false].map((is) =>
    wanted.filter(({ object }) => (object.sopInstanceUid === 'gone') === is),
  );
  for (const { object, path } of found ?? []) await writeFile(path, object.sopInstanceUid);
  return (lost ?? []).map(({ path }) => path);
};

/** A pipeline keeps nothing between runs, so the request itself is changed after its first run. */
const BETTER_NEXT_TIME = `
  CREATE OR REPLACE FUNCTION better_next_time() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.input := jsonb_set(NEW.input, '{options,behaviour}', '"result"');
      RETURN NEW;
    END $$;
  CREATE OR REPLACE TRIGGER better_next_time BEFORE UPDATE ON requests FOR EACH ROW
    WHEN (OLD.lease_until IS NOT NULL AND NEW.lease_until IS NULL
      AND NEW.input #>> '{options,behaviour}' LIKE '%-once')
    EXECUTE FUNCTION better_next_time();`;

interface SiteOptions {
  databaseUrl?: string | undefined;
  redisUrl?: string | undefined;
  /**
   * The folder of an earlier site, which is kept when this site closes. Without an address of a
   * database, the site uses the embedded database in this folder.
   */
  dataDir?: string;
  endpoints?: Endpoint[];
  worker?: Partial<Config['worker']>;
  now?: () => Date;
  /** Fetches hosted files. If omitted, no file can be fetched. */
  fetchFile?: FetchHostedFile;
  /** A folder if omitted. */
  blobs?: BlobStore;
  logger?: Logger;
}

export type Site = Awaited<ReturnType<typeof openSite>>;

/** Returns the database and the folder that a test names, or else fresh ones. */
async function place({ databaseUrl, dataDir }: SiteOptions): Promise<FreshDatabase> {
  if (dataDir !== undefined) {
    return { settings: { dataDir, ...(databaseUrl && { databaseUrl }) }, remove: async () => {} };
  }
  if (databaseUrl === undefined) return freshDatabase();
  const own = await mkdtemp(join(tmpdir(), 'sonogate-data-'));
  // A file may appear while the folder is removed, so the removal is repeated.
  const remove = () => rm(own, { recursive: true, maxRetries: 5 });
  return { settings: { dataDir: own, databaseUrl }, remove };
}

/**
 * Opens the request core with a separate database and queue, assembled in the same way as in
 * `main.ts`.
 */
export async function openSite(options: SiteOptions = {}) {
  const { redisUrl, endpoints = [endpoint], logger = silentLogger } = options;
  const { fetchFile = fetchNothing } = options;
  const { settings, remove } = await place(options);
  const { dataDir } = settings;
  const database = await openDatabase({ ...settings, logger });
  await migrate(database);
  await database.query(BETTER_NEXT_TIME);
  const queue = await openQueue({ database, redisUrl, logger });
  const config = {
    dataDir,
    worker: {
      concurrency: 1,
      timeoutSeconds: 30,
      readSeconds: 30,
      childMemoryMegabytes: 512,
      openModelsAtStart: true,
      ...options.worker,
    },
    models: { allow: 'all' as const, provider: 'cpu' as const, threads: 1 },
    evidence: { accept: 'real' as const },
    report: { paper: 'a4' as const },
    pictures: { show: 'ultrasound' as const },
    destinations: [],
    console: { enabled: false, signInsPerMinute: 20, invokeImageDisplay: false },
    retention: { days: 30 },
    delivery: {
      retryBaseSeconds: 1,
      retryCapSeconds: 4,
      giveUpAfterHours: 1,
      breaker: { failures: 100, openSeconds: 1, longestOpenSeconds: 1 },
      alternateAfterMinutes: 1,
    },
  };
  const blobs = options.blobs ?? openBlobFolder(join(dataDir, 'files'));
  const parts = {
    database,
    queue,
    endpoints,
    blobs,
    config,
    logger,
    now: options.now ?? (() => new Date()),
  };
  const core = await createRequestCore(parts);
  const file = join(dataDir, 'a.txt');
  await writeFile(file, 'hello');
  let worker: RunningWorker | null = null;

  const command = (
    behaviour = 'result',
    changes: Partial<SubmitCommand> = {},
    option: Record<string, unknown> = {},
  ): SubmitCommand => ({
    endpoint: endpoint.model,
    version: null,
    input: { files: ['file_1'], options: { behaviour, ...option } },
    files: [{ name: 'a.txt', path: file, sha256: 'not looked at here' }],
    priorFiles: [],
    priority: 'normal',
    metadata: {},
    webhook: null,
    source: { kind: 'api' },
    uniqueKey: null,
    accountId: 'acc_1',
    keyId: 'key_1',
    test: false,
    deliverTo: [],
    ...changes,
  });

  return {
    database,
    queue,
    core,
    config,
    blobs,
    file,
    command,
    submit: async (...given: Parameters<typeof command>) =>
      (await core.submit(command(...given))).id,
    startWorker: async (own: Partial<typeof parts> = {}) => {
      worker = await startWorker({
        ...parts,
        ...own,
        program: PIPELINE_PROGRAM,
        pipelines,
        fetchFile,
        fetchArchived: fetchOwnUids,
      });
      return worker;
    },
    row: async (id: string): Promise<RequestRow> => {
      const row = await core.get(id, null);
      if (!row) throw new Error(`no request ${id}`);
      return row;
    },
    follow: async (id: string) => {
      const events = [];
      const patience = AbortSignal.timeout(50_000);
      for await (const event of core.events.follow(id, 0, 'http://site', patience)) {
        events.push(event);
      }
      return events;
    },
    until: async (id: string, status: RequestRow['status']) => {
      for (let left = 40; left > 0; left -= 1) {
        const row = await core.get(id, null);
        if (row?.status === status) return row;
        if (row) await core.waitForChange(row, 1);
      }
      throw new Error(`${id} never was ${status}`);
    },
    close: async () => {
      await worker?.stop();
      await core.close();
      await queue.close();
      await database.close();
      await remove();
    },
  };
}
