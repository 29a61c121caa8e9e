import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterRepeat, filesToRepeat, REPORT_FILE, type Report, totals } from './report.ts';

/**
 * If more files than this fail, the cause is not merely a busy machine, and running them again
 * would only take time.
 */
const MOST_FILES_TO_REPEAT = 8;

const REPORTER = fileURLToPath(new URL('report.ts', import.meta.url));

/** Runs vitest. A run that ends before it can report counts as one error outside any test. */
function vitest(file: string, options: readonly string[]): Report {
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      `--reporter=${REPORTER}`,
    ].concat(options),
    { stdio: 'inherit', env: { ...process.env, [REPORT_FILE]: file } },
  );
  const report = read(file);
  const explained = status === 0 || totals(report).failed > 0;
  return explained ? report : { ...report, errors: [...report.errors, null] };
}

function read(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return { files: {}, errors: [null] };
  }
}

function list(title: string, files: readonly string[]): void {
  console.log(`\n${title}:\n${files.map((file) => `  ${file}`).join('\n')}`);
}

/**
 * Runs the tests with vitest's options. Files that failed run once more, one at a time and with
 * nothing else running, because on a machine with two cores real peers may miss a deadline without
 * any defect. Such files are listed at the end, so that intermittent failures are not overlooked.
 * The last line is "N passed, N failed[, N skipped]".
 */
function main(options: readonly string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'sonogate-report-'));
  try {
    let report = vitest(join(folder, 'first.json'), options);
    const repeated = filesToRepeat(report);
    if (repeated.length > 0 && repeated.length <= MOST_FILES_TO_REPEAT) {
      list('These files failed and run again, one at a time', repeated);
      const again = vitest(join(folder, 'again.json'), ['--no-file-parallelism', ...repeated]);
      const stillFailing = new Set(filesToRepeat(again));
      const unsteady = repeated.filter((file) => again.files[file] && !stillFailing.has(file));
      if (unsteady.length > 0)
        list(
          'These files failed beside others and passed alone; their tests need mending',
          unsteady,
        );
      report = afterRepeat(report, repeated, again);
    }
    const { passed, failed, skipped } = totals(report);
    console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
    return failed > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = main(process.argv.slice(2));
