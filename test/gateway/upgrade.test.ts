import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { constants, createZstdDecompress } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { commandsOfGateway } from '../../src/operations/socket.ts';
import { type PostgresServer, startPostgres } from '../peers/postgres.ts';
import { type Served, serve, siteFile, TEST_FLAGS } from './serve.ts';

const PREVIOUS = new URL('./previous-release/data.tar.zst', import.meta.url);
const CLI = fileURLToPath(new URL('../../src/app/cli/bin.mjs', import.meta.url));

/** Keys created by the previous release, which printed them once. */
const TEST_KEY = 'sg_test_rj1384dO5xiLNMpJqHj19bLkk971oZoaPH1IR73OeWf';
const ADMINISTRATOR_KEY = 'sg_live_kJAetaaZ4Shn5D1AT08PedHGAhcsc4EvCuo69qGyJd8';
const SUCCEEDED = 'req_01m835whn0ew48t53afke218db';
const FAILED = 'req_01m835jypwfcjbqje8p493fk3v';
const STUDY = '1.2.840.113.77';
const ZSTD_WINDOW_LOG = 27;
const LONGEST_MS = 300_000;
const OPERATIONS = new URL('../../docs/operations.md', import.meta.url);

interface Rehearsal {
  dataDir: string;
  /** Folder for the files of the backup. */
  backup: string;
  environment?: Record<string, string>;
}

/**
 * Runs the first commands below a text on the operations page, with the folder of the gateway
 * replaced. The test itself stops, starts and checks the gateway, as this account, because the
 * account of the service does not exist here.
 */
async function runPrinted(text: string, { dataDir, backup, environment }: Rehearsal) {
  const [, below = ''] = (await readFile(OPERATIONS, 'utf8')).split(text);
  const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(below) ?? [];
  expect(commands, text).not.toBe('');
  const own = commands
    .replaceAll('/var/lib/sonogate', dataDir)
    .replaceAll('-o sonogate -g sonogate ', '')
    .replaceAll('sudo -u postgres ', '')
    .replaceAll('--owner sonogate ', '')
    .replaceAll('postgres://sonogate:PASSWORD@db/', 'postgres:///')
    .replaceAll(/^systemctl .*$/gm, '');
  const env = { ...process.env, ...environment };
  await promisify(execFile)('sh', ['-euc', own], { cwd: backup, env });
}

async function previousDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-upgrade-'));
  // A pipe does not work here: tar closes it after the last record, which may precede the end of
  // the data.
  const archive = `${folder}.tar`;
  await pipeline(
    createReadStream(PREVIOUS),
    createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
    createWriteStream(archive),
  );
  await promisify(execFile)('tar', ['-x', '-C', folder, '-f', archive]);
  await rm(archive);
  return folder;
}

describe('the data folder of the previous release', { timeout: LONGEST_MS }, () => {
  let dataDir: string;
  let settings: string;
  let postgres: PostgresServer | null;
  let gateway: Served | undefined;
  let server = { DATABASE_URL: '' };
  /** Folder for the files of backups. */
  let backup: string;

  const settingsOf = (folder: string) =>
    siteFile({
      dataDir: folder,
      http: { host: '127.0.0.1', port: 0 },
      dicom: { host: '127.0.0.1', port: 0 },
      worker: { openModelsAtStart: false },
      routing: { rules: [{ name: 'waits', hold: true }] },
    });

  beforeAll(async () => {
    [dataDir, postgres] = await Promise.all([previousDataFolder(), startPostgres()]);
    settings = await settingsOf(dataDir);
    backup = await mkdtemp(join(tmpdir(), 'sonogate-backup-'));
  });
  afterAll(async () => {
    await gateway?.stop('SIGKILL');
    await postgres?.stop();
    for (const folder of [dataDir, `${dataDir}.before`, backup]) {
      await rm(folder, { recursive: true, force: true });
    }
  });

  /** Checks that a client's requests, a cart's study and the audit are still there. */
  async function expectEverything(url: string): Promise<void> {
    const ward = new Sonogate({ url, key: TEST_KEY });
    const { data } = await ward.calls.listRequests({});
    expect(data.map(({ id, status }) => ({ id, status }))).toEqual([
      { id: SUCCEEDED, status: 'succeeded' },
      { id: FAILED, status: 'failed' },
    ]);
    expect(await ward.calls.getRequest({ id: SUCCEEDED })).toMatchObject({
      metadata: { ward: '3' },
      output: { endpoint: 'us/obstetric/interpret', draft: true },
    });
    const events: string[] = [];
    for await (const { name } of ward.follow(SUCCEEDED)) events.push(name);
    expect(events.at(-1)).toBe('done');
    const report = await (await ward.artifact(SUCCEEDED, 'sr-tid1500.dcm')).bytes();
    expect(Buffer.from(report.subarray(128, 132)).toString()).toBe('DICM');

    const headers = { Authorization: `Bearer ${ADMINISTRATOR_KEY}` };
    const secret = await fetch(`${url}/v1/webhooks/secret`, { headers });
    expect(await secret.text()).toContain('whsec_6yaiGqFwANE45GY2txrfhSw5gQANCvdq2hZ0/a6VX18=');

    const run = commandsOfGateway(dataDir);
    expect(await run('studies.list', {})).toMatchObject([
      { studyInstanceUid: STUDY, state: 'held', objects: 2 },
    ]);
    expect((await run('keys.list', {})).map(({ name }) => name)).toEqual(['ward', 'radiology']);
    expect(await run('audit.verify', {})).toMatchObject({ intact: true, findings: [] });
  }

  it('starts under this program, which migrates it and keeps everything', async () => {
    gateway = await serve(settings);
    expect(gateway.log.join('\n')).toContain('database_migrated');
    await expectEverything(gateway.url);
    await gateway.stop('SIGTERM');
    expect(gateway.exitCode()).toBe(0);
  });

  it('is restored from a backup with the commands on the operations page', async () => {
    await runPrinted('**The embedded database**', { dataDir, backup });
    await runPrinted('### Restore', { dataDir, backup });
    await runPrinted('keep what carts have sent since', { dataDir, backup });
    gateway = await serve(settings);
    await expectEverything(gateway.url);
    await gateway.stop('SIGTERM');
  });

  it('moves to a PostgreSQL server, where the gateway continues with everything', async ({
    skip,
  }) => {
    if (!postgres) return skip('PostgreSQL is not installed');
    server = { DATABASE_URL: await postgres.createDatabase() };
    const env = { ...process.env, SONOGATE_CONFIG: settings, ...server };
    const command = [...TEST_FLAGS, CLI, 'migrate-embedded', '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env });
    const { tables } = JSON.parse(stdout) as { tables: { table: string; rows: number }[] };
    expect(tables).toContainEqual({ table: 'requests', rows: 2 });
    // If the gateway is later started without the database server, it must not silently resume with
    // the old embedded data.
    expect(await readdir(dataDir)).not.toContain('database');

    gateway = await serve(settings, server);
    await expectEverything(gateway.url);
    await expect(promisify(execFile)(process.execPath, command, { env })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no embedded database'),
    });
  });

  it('is restored from a backup that is made while it runs on PostgreSQL', async ({ skip }) => {
    if (!postgres || !gateway) return skip('PostgreSQL is not installed');
    const { hostname, port, username } = new URL(server.DATABASE_URL);
    const PATH = `${process.env.PATH}:${postgres.programs}`;
    const client = { PATH, PGHOST: hostname, PGPORT: port, PGUSER: username };
    const rehearsal = { dataDir, backup, environment: { ...server, ...client } };
    await runPrinted('**PostgreSQL**', rehearsal);
    await gateway.stop('SIGTERM');
    await rm(`${dataDir}.before`, { recursive: true });
    await runPrinted('### Restore', rehearsal);
    await runPrinted('restore the database under a new name', rehearsal);
    const copy = new URL(server.DATABASE_URL);
    copy.pathname = '/restored';
    gateway = await serve(settings, { DATABASE_URL: copy.href });
    await expectEverything(gateway.url);
    await gateway.stop('SIGTERM');
  });
});
