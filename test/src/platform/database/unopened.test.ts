import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { embeddedFolder } from '../../../../src/platform/database/embedded.ts';
import { openDatabase } from '../../../../src/platform/database/open.ts';
import { DatabaseUnreachableError } from '../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { copyDatabase } from '../../../peers/embedded.ts';

let dataDir = '';
let mounted = false;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sonogate-unopened-'));
});
afterEach(() => {
  if (mounted) execFileSync('umount', [dataDir]);
  mounted = false;
  rmSync(dataDir, { recursive: true });
});

const open = () => openDatabase({ dataDir, logger: silentLogger });

test('a database with damaged files is reported with its folder, the cause and the remedy', async () => {
  const folder = embeddedFolder(dataDir);
  mkdirSync(join(folder, 'global'), { recursive: true });
  writeFileSync(join(folder, 'PG_VERSION'), '99\n');
  await expect(open()).rejects.toThrow(
    new RegExp(`embedded database in ${folder} cannot be opened \\(.+\\)\\. .*restore the backup`),
  );
  // The lock is free again; otherwise the error would be about the lock.
  await expect(open()).rejects.toThrow('cannot be opened');
});

test.for([
  ['nearly full', 0],
  ['full to its last page', 21 * 1024 ** 2],
] as const)('a disk that is %s is reported with its folder', async ([, filled], { skip }) => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', dataDir], { stdio: 'ignore' });
    mounted = true;
  } catch {
    return skip('a disk in memory could not be mounted (it takes root)');
  }
  try {
    writeFileSync(join(dataDir, 'filler'), Buffer.alloc(filled));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  }
  await expect(open()).rejects.toThrow(
    new RegExp(`in ${embeddedFolder(dataDir)} cannot be opened: its disk has \\d+ MiB free`),
  );
});

test('a disk that fills up makes the database unavailable until there is space again', {
  timeout: 60_000,
}, async ({ skip }) => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', dataDir], {
      stdio: 'ignore',
    });
    mounted = true;
  } catch {
    return skip('a disk cannot be mounted here');
  }
  await copyDatabase(dataDir);
  const database = await open();
  await database.query('CREATE TABLE kept (id integer PRIMARY KEY)');
  const filler = join(dataDir, 'filler');
  const { bavail, bsize } = statfsSync(dataDir);
  await database.transaction(async (tx) => {
    await tx.query('INSERT INTO kept VALUES (1)');
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 30 * 1024 ** 2));
  });
  await expect(database.query('INSERT INTO kept VALUES (2)')).rejects.toThrow(
    new DatabaseUnreachableError(
      `less than 32 MiB are free on the disk of the embedded database in ${join(dataDir, 'database')}; free some space there`,
    ),
  );
  rmSync(filler);
  await database.query('INSERT INTO kept VALUES (3)');
  const { rows } = await database.query('SELECT id FROM kept ORDER BY id');
  expect(rows).toEqual([{ id: 1 }, { id: 3 }]);
  await database.close();
});
