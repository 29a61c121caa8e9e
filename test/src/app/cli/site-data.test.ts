import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeSiteData } from '../../../../src/app/cli/operations.ts';
import { serveAdminSocket } from '../../../../src/operations/socket.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { TEST_FLAGS } from '../../../gateway/serve.ts';

const CLI = fileURLToPath(new URL('../../../../src/app/cli/sonogate.ts', import.meta.url));
/** `dataDir` of config/default.yaml. */
const DEFAULT = './data';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-site-data-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function sonogate(given: readonly string[], settings: Record<string, string> = {}) {
  const cwd = await mkdtemp(join(folder, 'cwd-'));
  const { PATH = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env;
  const run = await promisify(execFile)(process.execPath, [...TEST_FLAGS, CLI, ...given], {
    cwd,
    env: { PATH, TMPDIR, NODE_COMPILE_CACHE, ...settings },
  }).then(
    (ended) => ({ code: 0, ...ended }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      ...{ code, stdout, stderr },
    }),
  );
  return { ...run, cwd, left: await readdir(cwd) };
}

describe('a command that finds neither a gateway nor data', () => {
  it.each([
    ['keys create --name x'],
    ['keys list'],
    ['deliveries'],
    ['replay'],
    ['hold list'],
    ['explain 1.2.3'],
    ['clean'],
    ['audit verify'],
    ['rules test'],
  ])('%s: reports this in one line, and creates no data folder', async (command) => {
    const { code, stdout, stderr, cwd, left } = await sonogate(command.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      `no gateway data at ${join(cwd, 'data')}: start the gateway first, or set SONOGATE_DATA_DIR, SONOGATE_CONFIG or DATABASE_URL to the gateway's values\n`,
    );
    expect(left).toEqual([]);
  });

  it('creates a data folder for the first key if a folder was given, and states which', async () => {
    const dataDir = join(folder, 'new');
    const made = await sonogate(['keys', 'create', '--name', 'x'], { SONOGATE_DATA_DIR: dataDir });
    expect(made.stdout).toMatch(/^sg_live_\w+\n$/);
    expect(made).toMatchObject({ code: 0, stderr: `data folder: ${dataDir} (new)\n` });
    const listed = await sonogate(['keys', 'list'], { SONOGATE_DATA_DIR: dataDir });
    expect(listed.stdout).toMatch(/^key_\S+ {2}live {2}x/);
    expect(listed.stderr).toBe(`data folder: ${dataDir} (no gateway is running on it)\n`);
  });
});

it('mentions no folder if a running gateway answers', async () => {
  const dataDir = await mkdtemp(join(folder, 'running-'));
  const served = await serveAdminSocket(dataDir, async () => '[]', silentLogger);
  const { code, stderr } = await sonogate(['keys', 'list'], { SONOGATE_DATA_DIR: dataDir });
  await served.close();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

describe("a site's data", () => {
  const words = (dataDir: string, over: object = {}) =>
    describeSiteData({ dataDir }, { mayMake: false, environment: {}, ...over });

  it('are those of the server, wherever the command is run', () => {
    const site = { dataDir: join(folder, 'none'), databaseUrl: 'postgres://db/sonogate' };
    expect(describeSiteData(site, { mayMake: false })).toContain('using the database server');
  });

  it('are not in a folder that merely has the right name', async () => {
    const dataDir = await mkdtemp(join(folder, 'other-'));
    expect(() => words(dataDir)).toThrow(`no gateway data at ${dataDir}`);
    await mkdir(join(dataDir, 'database'));
    expect(words(dataDir)).toBe(`data folder: ${dataDir} (no gateway is running on it)`);
  });

  it('are created in the default folder only if the environment specifies it', () => {
    vi.spyOn(process, 'cwd').mockReturnValue(join(folder, 'without-data'));
    expect(() => words(DEFAULT, { mayMake: true })).toThrow('no gateway data');
    const environment = { SONOGATE_DATA_DIR: DEFAULT };
    expect(words(DEFAULT, { mayMake: true, environment })).toMatch(/data \(new\)$/);
    expect(() => words(DEFAULT, { environment })).toThrow('no gateway data');
    vi.restoreAllMocks();
  });
});
