import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** More failed files than this are no accident of a busy machine; running them again would only take time. */
const MOST_FILES_TO_REPEAT = 8;

interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[];
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Run {
  files: Map<string, Counts>;
  /** Exit status of vitest: not 0 also for an error outside any test, which no file of the report shows. */
  status: number;
}

function counts({ status, assertionResults }: Report['testResults'][number]): Counts {
  const of = (wanted: string) =>
    assertionResults.filter((result) => result.status === wanted).length;
  const failed = of('failed');
  // A file that cannot be loaded, or whose preparation fails, has no failed test.
  return {
    passed: of('passed'),
    failed: status === 'failed' ? Math.max(failed, 1) : failed,
    skipped: of('skipped') + of('pending'),
  };
}

function vitest(folder: string, name: string, options: readonly string[]): Run {
  const file = join(folder, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...options],
    {
      stdio: 'inherit',
    },
  );
  const files = new Map<string, Counts>();
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    for (const result of report.testResults)
      files.set(relative(process.cwd(), result.name), counts(result));
  } catch {
    // vitest ended before it could report; its status says so.
  }
  return { files, status: status ?? 1 };
}

const failedFiles = ({ files }: Run): string[] =>
  [...files].filter(([, { failed }]) => failed > 0).map(([path]) => path);

function total(files: Run['files'], which: keyof Counts): number {
  return [...files.values()].reduce((sum, file) => sum + file[which], 0);
}

function list(title: string, files: readonly string[]): void {
  console.log(`\n${title}:\n${files.map((file) => `  ${file}`).join('\n')}`);
}

/**
 * Runs the tests, with the options of vitest. Files that failed run once more, one at a time and with
 * nothing beside them: real peers on a machine with two cores may miss a deadline that is no defect.
 * Such a file is named at the end, so that nobody overlooks a test that fails now and then.
 * The last line is "N passed, N failed[, N skipped]".
 */
function main(options: readonly string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'sonogate-report-'));
  try {
    const first = vitest(folder, 'first', options);
    const failed = failedFiles(first);
    let { status } = first;
    let files = first.files;
    if (failed.length > 0 && failed.length <= MOST_FILES_TO_REPEAT) {
      list('These files failed and run again, one at a time', failed);
      const again = vitest(folder, 'again', ['--no-file-parallelism', ...failed]);
      const unsteady = failed.filter((file) => again.files.get(file)?.failed === 0);
      if (unsteady.length > 0)
        list(
          'These files failed beside others and passed alone; their tests need mending',
          unsteady,
        );
      files = new Map([...first.files, ...again.files]);
      status = again.status;
    }
    const errors = status !== 0 && total(files, 'failed') === 0 ? 1 : 0;
    const skipped = total(files, 'skipped');
    console.log(
      `${total(files, 'passed')} passed, ${total(files, 'failed') + errors} failed${skipped ? `, ${skipped} skipped` : ''}`,
    );
    return status;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = main(process.argv.slice(2));
