import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    pool: 'forks',
    // Real peers (DCMTK, Orthanc, PostgreSQL) share two cores with the tests.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    env: { TCP_NODELAY: '1' },
  },
});
