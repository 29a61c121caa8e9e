import { describe, expect, it } from 'vitest';
import { afterRepeat, type Counts, filesToRepeat, type Report, totals } from './report.ts';

const counts = (given: Partial<Counts>): Counts => ({
  ...{ passed: 0, failed: 0, skipped: 0, unfinished: 0 },
  ...given,
});

const FIRST: Report = {
  files: {
    'steady.test.ts': counts({ passed: 9, skipped: 1 }),
    'unsteady.test.ts': counts({ passed: 1, failed: 1 }),
    'killed.test.ts': counts({ unfinished: 3 }),
    'rejected.test.ts': counts({ passed: 2 }),
  },
  errors: ['rejected.test.ts', null],
};

describe('a run of the tests', () => {
  it('repeats files that failed, died, or had an error outside their tests', () => {
    expect(filesToRepeat(FIRST)).toEqual([
      'unsteady.test.ts',
      'killed.test.ts',
      'rejected.test.ts',
    ]);
  });

  it('counts unfinished tests and errors outside tests as failed', () => {
    expect(totals(FIRST)).toEqual({ passed: 12, failed: 1 + 3 + 2, skipped: 1 });
  });

  it('clears by a second run only what that run has shown to pass', () => {
    const repeated = filesToRepeat(FIRST);
    const again: Report = {
      files: {
        'unsteady.test.ts': counts({ passed: 2 }),
        'killed.test.ts': counts({ passed: 2, failed: 1 }),
        'rejected.test.ts': counts({ passed: 2 }),
      },
      errors: [],
    };
    const report = afterRepeat(FIRST, repeated, again);
    // The error that belongs to no file remains, and so does the failure behind the process that
    // died.
    expect(totals(report)).toEqual({ passed: 15, failed: 2, skipped: 1 });
  });

  it('keeps the failure of a file that the second run did not reach', () => {
    const report = afterRepeat(FIRST, filesToRepeat(FIRST), { files: {}, errors: [null] });
    expect(totals(report).failed).toBe(1 + 3 + 1 + 1);
  });
});
