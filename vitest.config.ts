import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests of pure code, without a server, a database or another program. */
const PURE = ['test/{config,models,pipelines}/**/*.test.ts'];
/**
 * Tests that replace a module or a global, or that measure the process in which they run. Each of
 * these files gets a separate process.
 */
const ALONE = [
  'test/pipelines/run/run-section.test.ts',
  'test/pipelines/input/{memory,video/video-without-ffmpeg}.test.ts',
  'test/pipelines/inference/{no-telemetry,vulkan-drivers}.test.ts',
  'test/dimse/network/listener.test.ts',
];
/**
 * Tests of pure code that draw phantoms, run networks or decode whole cines. Each file takes 5 to
 * 35 s. `npm run test:fast` leaves them out.
 */
const IMAGES = [
  'test/models/phantom/**',
  'test/pipelines/artifacts/{values-read-back,viewer-objects,display/overlays,pdf/report}.test.ts',
  'test/pipelines/deidentify/object.test.ts',
  'test/pipelines/echo/displays/*.test.ts',
  'test/pipelines/echo/locate/{chambers,view-and-lines}.test.ts',
  'test/pipelines/inference/session.test.ts',
  'test/pipelines/input/{animation,dicom/dicom-video,pixels/*,video/*}.test.ts',
  'test/pipelines/measure/{burned-in-text,picture}.test.ts',
  'test/pipelines/mock/mock-pipeline.test.ts',
  'test/pipelines/obstetric/{*-on-phantoms,open-locator,other-organs,phantom-study}.test.ts',
];
const BENCHES = 'test/bench/**';
/** Files that take a minute or more. */
const LONG = [
  'test/gateway/{demo,ward-files}.test.ts',
  'test/faults/short-campaign.test.ts',
  'test/clients/clients.test.ts',
  'test/src/doors/console/browser/console.test.ts',
];

/** Starts the long files of a project first, so that none of them runs alone at the end. */
class LongFilesFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]) {
    const byProject = Map.groupBy(await super.sort(specifications), ({ project }) => project);
    return [...byProject.values()].flatMap((files) => {
      const { long = [], short = [] } = Object.groupBy(files, ({ moduleId }) =>
        LONG.some((pattern) => matchesGlob(moduleId, `**/${pattern}`)) ? 'long' : 'short',
      );
      return [...long, ...short];
    });
  }
}

// Programs started by tests use the same compile cache as programs started by `bin.mjs`.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/compile', import.meta.url),
);

export default defineConfig({
  test: {
    globalSetup: 'test/temporary-files.ts',
    setupFiles: 'test/equal-bytes.ts',
    pool: 'forks',
    sequence: { sequencer: LongFilesFirst },
    // V8 would spend a second or two of each process, and 500 MB, on optimizing PGlite's parser of SQL
    // and other WebAssembly, which few tests use for long enough to gain from it.
    // Each process loads some 100 MB of modules and test data. With the default sizes, V8 would collect
    // garbage again and again while its heap grows to that size.
    execArgv: ['--liftoff-only', '--min-semi-space-size=16', '--initial-old-space-size=256'],
    // Tests with real peers (DCMTK, Orthanc, PostgreSQL) spend time waiting. On two cores, a third
    // process uses that time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // On a busy machine, a test may not get a turn for seconds. Something that never happens still
    // fails the test.
    expect: { poll: { timeout: 20_000 } },
    env: { TCP_NODELAY: '1' },
    // No module keeps state from a test, so a process loads each module only once for all of its
    // tests.
    isolate: false,
    // Node.js loads the modules, as it does for the program, and not Vite, which would transform each
    // one and compile it again in every process.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, exclude: [...IMAGES, ...ALONE] } },
      {
        extends: true,
        test: {
          name: 'others',
          globalSetup: 'test/peers/database.ts',
          // Tests of images only compute and most others mainly wait, so they run side by side.
          include: ['test/!({config,models,pipelines})/**/*.test.ts', ...IMAGES],
          exclude: [BENCHES, ...ALONE],
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
  },
});
