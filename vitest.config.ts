import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests of pure code, without a server, a database or another program. */
const PURE = ['test/{config,models,pipelines}/**/*.test.ts'];
/** Replace a module or a global, or measure the process they run in: each has a process for itself. */
const ALONE = [
  'test/pipelines/run/run-section.test.ts',
  'test/pipelines/input/{memory,video/video-without-ffmpeg}.test.ts',
  'test/pipelines/inference/**/*.test.ts',
  'test/dimse/network/listener.test.ts',
];
const BENCHES = 'test/bench/**';

// Programs that tests start load their modules from here, as those of `bin.mjs` do.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/compile', import.meta.url),
);

export default defineConfig({
  test: {
    globalSetup: 'test/temporary-files.ts',
    pool: 'forks',
    // Tests with real peers (DCMTK, Orthanc, PostgreSQL) also wait; a third process uses that time on two cores.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A busy machine may give a test no turn for seconds; what never comes fails all the same.
    expect: { poll: { timeout: 20_000 } },
    env: { TCP_NODELAY: '1' },
    // No module keeps anything of a test, so a process loads it once for all of its tests.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, exclude: [BENCHES, ...ALONE] } },
      {
        extends: true,
        test: {
          name: 'effects',
          include: ['test/!({config,models,pipelines})/**/*.test.ts'],
          exclude: [BENCHES, ...ALONE],
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
  },
});
