import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres } from '../peers/postgres.ts';
import { startRedis } from '../peers/redis.ts';
import { TEST_FLAGS } from './serve.ts';

const CLI = fileURLToPath(new URL('../../src/app/cli/sonogate.ts', import.meta.url));
/** Speed is not tested, because the machine may be busy. */
const LONGEST_MS = 900_000;

function runDemo(
  out: string,
  environment: Record<string, string>,
  more: readonly string[] = [],
): Promise<{ code: number; output: string }> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...own } = process.env;
  return new Promise((done) => {
    execFile(
      process.execPath,
      [...TEST_FLAGS, CLI, 'demo', '--out', out, ...more],
      { env: { ...own, ...environment }, timeout: LONGEST_MS },
      (error, stdout, stderr) =>
        done({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });
}

/**
 * Minimum number of structured reports per study: a TID 1500 report, and the one specific to its
 * examination.
 */
const LEAST_OBJECTS = 2;

interface Arrived {
  /** Status of each study's reports, oldest first. A late instance replaces a report. */
  reports: readonly string[];
  objects: number;
}

async function expectArrived(out: string, expected: Arrived): Promise<void> {
  const objects = (await readdir(join(out, 'pacs'))).filter((name) => name.endsWith('.dcm'));
  expect(objects.length).toBeGreaterThanOrEqual(expected.objects);
  const reports = JSON.parse(await readFile(join(out, 'ehr', 'DiagnosticReport.json'), 'utf8'));
  expect(reports.map(({ status }: { status: string }) => status)).toEqual(expected.reports);
}

describe('npm run demo', { timeout: LONGEST_MS }, () => {
  let out: string;
  beforeEach(async () => {
    out = await mkdtemp(join(tmpdir(), 'sonogate-demo-test-'));
  });
  afterEach(() => rm(out, { recursive: true, force: true }));

  it('exits 0 on the embedded defaults, with the SR at the PACS and the report at the EHR', async () => {
    const only = ['--only', 'echo', 'unrecognised'];
    const { code, output } = await runDemo(out, {}, ['--review', ...only]);
    expect(code, output).toBe(0);
    expect(output).toContain('database embedded, queue in the database');
    await expectArrived(out, { reports: ['final'], objects: 2 * LEAST_OBJECTS });
    // The demo exercises nearly every section of the heart.
    const [, assessed] =
      /^Sections {2}of us\/echo\/interpret, all studies: (\d+) of 15/m.exec(output) ?? [];
    expect(Number(assessed)).toBeGreaterThanOrEqual(13);
    // The demo shows a rule, and a study that matches no rule.
    expect(output).toMatch(/^Rule {6}echo applies: .*studyDescription "Transthoracic/m);
    // With `--review`, the reader also edits and signs the echo, and the documents before and after
    // are next to each other.
    expect(output).toMatch(/^Review {4}Dr Demo Reader: entered a value: TAPSE \d/m);
    expect(output.match(/^Review {4}Dr Demo Reader: signed, revision 1$/gm)).toHaveLength(1);
    expect(
      output.match(/^ {2}Verification Flag: UNVERIFIED +│ Verification Flag: VERIFIED$/gm),
    ).toHaveLength(1);
    expect(
      output.match(/^ {2}DiagnosticReport: preliminary +│ DiagnosticReport: final$/gm),
    ).toHaveLength(1);
    const [, ...tapse] = /^ {2}TAPSE = ([\d.]+) cm +│ TAPSE = ([\d.]+) cm$/m.exec(output) ?? [];
    expect(tapse).toHaveLength(2);
    expect(Number(tapse[1])).toBeLessThan(Number(tapse[0]));
    expect(output.match(/^Delivery {2}signed .*: delivered,/gm)?.length).toBeGreaterThanOrEqual(3);
    expect(output).toMatch(/^State {5}held: Held by the rule “unrecognised”\.$/m);
    // The output consists only of sentences for a person.
    expect(output).not.toMatch(/^\{|npm warn|vulkan|XDG_/im);
  });

  it('works on a PostgreSQL server and Redis that an earlier run has used', async ({ skip }) => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    try {
      if (!postgres || !redis) return skip('PostgreSQL or Redis is not installed');
      const servers = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url };
      let output = '';
      for (const [study, reports] of [
        ['unrecognised', []],
        ['first-trimester', ['final']],
      ] as const) {
        const folder = join(out, study);
        const ended = await runDemo(folder, servers, ['--only', study]);
        output = ended.output;
        expect(ended.code, output).toBe(0);
        expect(output).toContain('database PostgreSQL, queue Redis');
        await expectArrived(folder, { reports, objects: 2 * LEAST_OBJECTS * reports.length });
      }
      // The last study shows a late instance with what it adds, and a correction.
      expect(output).toMatch(/^Late {6}1 more object/m);
      expect(output).toMatch(/^Draft .*cardiac activity/m);
      expect(output).toMatch(/^Review {4}Dr Demo Reader: entered a value: Crown-rump length \d/m);
      expect(output.match(/^Review {4}Dr Demo Reader: signed, revision 1$/gm)).toHaveLength(1);
    } finally {
      await postgres?.stop();
      await redis?.stop();
    }
  });
});
