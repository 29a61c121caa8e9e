import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    globalSetup: 'test/temporary-files.ts',
    pool: 'forks',
    // Real peers (DCMTK, Orthanc, PostgreSQL) share two cores with the tests.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A busy machine may give a test no turn for seconds; what never comes fails all the same.
    expect: { poll: { timeout: 20_000 } },
    env: { TCP_NODELAY: '1' },
  },
});
