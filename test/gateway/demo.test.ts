import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres } from '../peers/postgres.ts';
import { startRedis } from '../peers/redis.ts';

const CLI = fileURLToPath(new URL('../../src/app/cli/sonogate.ts', import.meta.url));
const LONGEST_MS = 300_000;

/** Runs `sonogate demo` as a new user would. */
function runDemo(
  out: string,
  environment: Record<string, string>,
  more: readonly string[] = [],
): Promise<{ code: number; output: string }> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...own } = process.env;
  return new Promise((done) => {
    execFile(
      process.execPath,
      [CLI, 'demo', '--out', out, ...more],
      { env: { ...own, ...environment }, timeout: LONGEST_MS },
      (error, stdout, stderr) =>
        done({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });
}

/** Two structured reports, and a segmentation for each image with a head or an abdomen. */
const OBSTETRIC_OBJECTS = 8;
/** Two structured reports at least; how many images are outlined is the matter of the models. */
const ECHO_OBJECTS = 2;

async function expectArrived(out: string, studies: number): Promise<void> {
  const objects = (await readdir(join(out, 'pacs'))).filter((name) => name.endsWith('.dcm'));
  const least = OBSTETRIC_OBJECTS + (studies - 1) * ECHO_OBJECTS;
  expect(objects.length).toBeGreaterThanOrEqual(least);
  const reports = JSON.parse(await readFile(join(out, 'ehr', 'DiagnosticReport.json'), 'utf8'));
  expect(reports).toHaveLength(studies);
  for (const report of reports) expect(report).toMatchObject({ status: 'preliminary' });
}

describe('npm run demo', { timeout: LONGEST_MS }, () => {
  let out: string;
  beforeEach(async () => {
    out = await mkdtemp(join(tmpdir(), 'sonogate-demo-test-'));
  });
  afterEach(() => rm(out, { recursive: true, force: true }));

  it('exits 0 on the embedded defaults, with the SR at the PACS and the report at the EHR', async () => {
    const { code, output } = await runDemo(out, {});
    expect(code, output).toBe(0);
    expect(output).toContain('database embedded, queue in the database');
    await expectArrived(out, 2);
  });

  it('does the same twice on a PostgreSQL server and Redis', async ({ skip }) => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    try {
      if (!postgres || !redis) return skip('PostgreSQL or Redis is not installed');
      const servers = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url };
      for (const run of ['first', 'second']) {
        const { code, output } = await runDemo(join(out, run), servers, ['--only', 'obstetric']);
        expect(code, output).toBe(0);
        expect(output).toContain('database PostgreSQL, queue Redis');
        await expectArrived(join(out, run), 1);
      }
    } finally {
      await postgres?.stop();
      await redis?.stop();
    }
  });
});
