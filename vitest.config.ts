import { defineConfig } from 'vitest/config';

/** Tests of pure code: no module keeps anything of a test, so one process loads it once for all of them. */
const PURE = ['test/{config,models,pipelines}/**/*.test.ts'];
/** Replace a module or a global, or measure the memory of the process they run in. */
const NOT_PURE = [
  'test/pipelines/run/run-section.test.ts',
  'test/pipelines/input/{memory,video/video-without-ffmpeg}.test.ts',
  'test/pipelines/inference/**/*.test.ts',
];
const BENCHES = 'test/bench/**';

export default defineConfig({
  test: {
    globalSetup: 'test/temporary-files.ts',
    pool: 'forks',
    // Real peers (DCMTK, Orthanc, PostgreSQL) share two cores with the tests.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A busy machine may give a test no turn for seconds; what never comes fails all the same.
    expect: { poll: { timeout: 20_000 } },
    env: { TCP_NODELAY: '1' },
    projects: [
      {
        extends: true,
        test: { name: 'pure', include: PURE, exclude: [BENCHES, ...NOT_PURE], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'effects',
          include: ['test/!({config,models,pipelines})/**/*.test.ts', ...NOT_PURE],
          exclude: [BENCHES],
        },
      },
    ],
  },
});
