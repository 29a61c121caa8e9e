import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey, listKeys } from '../../../../src/core/accounts/keys.ts';
import { openDatabase } from '../../../../src/platform/database/open.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { TEST_FLAGS } from '../../../gateway/serve.ts';
import { freshDataDir } from '../../../peers/embedded.ts';

const CLI = fileURLToPath(new URL('../../../../src/app/cli/sonogate.ts', import.meta.url));
const HOUR_MS = 3_600_000;

let dataDir = '';
beforeAll(async () => {
  dataDir = await freshDataDir();
});
afterAll(() => rm(dataDir, { recursive: true }));

const sonogate = (...given: string[]) =>
  promisify(execFile)(process.execPath, [...TEST_FLAGS, CLI, ...given], {
    env: { ...process.env, SONOGATE_DATA_DIR: dataDir },
  });
const keys = (...given: string[]) => sonogate('keys', ...given);

/** PGlite serves only one process, so the database is closed before a command opens it. */
async function withDatabase<Answer>(
  use: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<Answer>,
): Promise<Answer> {
  const database = await openDatabase({ dataDir, logger: silentLogger });
  return use(database).finally(() => database.close());
}

it('keys rotate prints a new key, and the old one keeps working during the overlap', async () => {
  const { record: old } = await withDatabase((database) =>
    createKey(database, {
      ...{ name: 'ward 3', scopes: ['read'], consoleRole: 'clinician' },
      expiresAt: new Date('2099-01-31'),
    }),
  );
  const before = Date.now();
  const { stdout, stderr } = await keys('rotate', old.id, '--overlap-hours', '2');
  expect(stdout).toMatch(/^sg_live_[0-9A-Za-z]{43}\n$/);
  expect(stderr).toContain(`${old.id} keeps working for at most 2 hours`);
  const listed = await withDatabase(listKeys);
  const { name, scopes, account_id, console_role } = old;
  expect(listed.find(({ id }) => id !== old.id)).toMatchObject({
    ...{ name, scopes, account_id, console_role },
    expires_at: new Date('2099-01-31'),
  });
  const end = listed.find(({ id }) => id === old.id)?.expires_at?.getTime() ?? 0;
  expect(end).toBeGreaterThanOrEqual(before + 2 * HOUR_MS);
  expect(end).toBeLessThanOrEqual(Date.now() + 2 * HOUR_MS);
  const { rows } = await withDatabase((database) =>
    database.query('SELECT action, actor, detail FROM audit ORDER BY id DESC LIMIT 1'),
  );
  const replacement = listed.find(({ id }) => id !== old.id)?.id;
  const actor = `person:${userInfo().username}`;
  expect(rows).toEqual([{ action: 'key.rotate', actor, detail: { key: old.id, replacement } }]);
});

it('keys rotate accepts an overlap only as long as the API does, and reports an unknown key', async () => {
  await expect(keys('rotate', 'key_1', '--overlap-hours', '168.1')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('a number of hours from 0 to 168'),
  });
  await expect(keys('rotate', 'key_1', '--overlap-hours', '168')).rejects.toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('There is no working key key_1.'),
  });
});

it.each([
  ['before the command, as the script beside a service gives it', ['--by', 'ana'], [], 'ana'],
  ['after it, which has precedence', ['--by', 'root'], ['--by', 'Dr Ada Reader'], 'Dr Ada Reader'],
])('the audit names the person given with --by %s', async (_where, before, after, name) => {
  const { record } = await withDatabase((database) => createKey(database, { name: 'ward 4' }));
  await sonogate(...before, 'keys', 'revoke', record.id, ...after);
  const { rows } = await withDatabase((database) =>
    database.query('SELECT action, actor FROM audit ORDER BY id DESC LIMIT 1'),
  );
  expect(rows).toEqual([{ action: 'key.revoke', actor: `person:${name}` }]);
});

it('a command is not run for a person without a name', async () => {
  await expect(keys('revoke', 'key_1', '--by', ' ')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Expected a name of at most 100 characters.'),
  });
});
