import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Number of tests in a file, by outcome. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Tests that did not run to completion, because the process of their file died. */
  unfinished: number;
}

export interface Report {
  files: Record<string, Counts>;
  /**
   * For each error outside any test, the file that was running at the time, or null if it is
   * unknown.
   */
  errors: (string | null)[];
}

/** Environment variable that contains the path to which the reporter writes the `Report`. */
export const REPORT_FILE = 'SONOGATE_TEST_REPORT';

function countsOf(module: TestModule): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, unfinished: 0 };
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    counts[state === 'pending' ? 'unfinished' : state] += 1;
  }
  // A file that cannot be loaded, or whose setup fails, has no failed tests, so it is counted as
  // one failure.
  if (module.state() === 'failed') counts.failed = Math.max(counts.failed, 1);
  // A file whose process died before the file was read has no tests at all.
  if (module.state() === 'queued' || module.state() === 'pending') {
    counts.unfinished = Math.max(counts.unfinished, 1);
  }
  return counts;
}

/**
 * vitest reporter for run.ts. It is needed because vitest's JSON reporter omits errors outside
 * tests.
 */
export default class RunReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly { message: string; VITEST_TEST_PATH?: unknown }[],
  ): void {
    const path = process.env[REPORT_FILE];
    if (!path) return;
    const pathOf = new Map(modules.map((module) => [module.moduleId, module.relativeModuleId]));
    const report: Report = {
      files: Object.fromEntries(
        modules.map((module) => [module.relativeModuleId, countsOf(module)]),
      ),
      errors: errors.map(({ VITEST_TEST_PATH: file }) => pathOf.get(String(file)) ?? null),
    };
    writeFileSync(path, JSON.stringify(report));
  }
}

/**
 * Returns the files that failed, did not run to completion, or were running when an error occurred
 * outside a test.
 */
export function filesToRepeat({ files, errors }: Report): string[] {
  return Object.entries(files)
    .filter(([path, { failed, unfinished }]) => failed + unfinished > 0 || errors.includes(path))
    .map(([path]) => path);
}

/**
 * Returns the first run's report, in which the results of the `repeated` files come from the second
 * run.
 */
export function afterRepeat(first: Report, repeated: readonly string[], again: Report): Report {
  const cleared = new Set(repeated);
  return {
    files: { ...first.files, ...again.files },
    errors: [...first.errors.filter((path) => !path || !cleared.has(path)), ...again.errors],
  };
}

/** Returns the sums over all files. Unfinished tests and errors outside tests count as failed. */
export function totals({ files, errors }: Report): Omit<Counts, 'unfinished'> {
  const sum = (which: keyof Counts) =>
    Object.values(files).reduce((total, counts) => total + counts[which], 0);
  return {
    passed: sum('passed'),
    failed: sum('failed') + sum('unfinished') + errors.length,
    skipped: sum('skipped'),
  };
}
