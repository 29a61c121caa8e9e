import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSite, type Site } from '../gateway/site.ts';

/**
 * `.ci/run` installs schemathesis into this folder, with its own versions of packages that other
 * programs also use.
 */
const MODULES = fileURLToPath(new URL('../../.ci/schemathesis', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./run_schemathesis.py', import.meta.url));
const INSTALLED =
  existsSync(join(MODULES, 'schemathesis')) && spawnSync('python3', ['--version']).status === 0;

/** Number of requests per operation and phase. Raise it for a longer search. */
const EXAMPLES = process.env.FUZZ_EXAMPLES ?? '2';
/** Random requests take as long as all other requests together. */
const PHASES =
  process.env.SONOGATE_LONG === '1' ? 'examples,coverage,fuzzing' : 'examples,coverage';

/**
 * Covers every operation in the description except those in `LEFT_OUT`. Requests are made with a
 * test key that has all permissions, from the examples and from each keyword of each schema; with
 * SONOGATE_LONG=1, random requests are added.
 *
 * Two things are covered elsewhere:
 * - that every request matching the description succeeds (`positive_data_acceptance`), because a
 * submit needs uploaded files and a cancellation needs a queued request (openapi-fuzz.test.ts
 * uses existing ones);
 * - sequences of requests (the phase `stateful`), because the description contains no links from
 * which they could be built (requests.test.ts, uploads.test.ts and run.test.ts use sequences).
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'missing_required_header',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
];

/**
 * Event streams end only with their request (covered by events.test.ts, many-streams.test.ts,
 * reviews.test.ts and compatible-queue.test.ts), and STOW-RS accepts DICOM, which no schema
 * describes (dicomweb.test.ts, test/fuzz/hostile-objects.test.ts).
 */
const LEFT_OUT = '/(events|stream)$|^/dicomweb/';

describe.skipIf(!INSTALLED)('schemathesis', () => {
  let site: Site;
  let folder = '';
  beforeAll(async () => {
    site = await openSite({
      roles: ['api'],
      http: { host: '127.0.0.1', port: 0, callsPerMinute: 1_000_000 },
    });
    folder = await mkdtemp(join(tmpdir(), 'sonogate-schemathesis-'));
    // Hypothesis looks for constants in the source of every module outside a folder of this name.
    await symlink(MODULES, join(folder, 'site-packages'));
    // 413: the announced size of an upload exceeds the configured limit.
    await writeFile(
      join(folder, 'schemathesis.toml'),
      '[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429]\n',
    );
  });
  afterAll(async () => {
    await site?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  test('finds no response that differs from the description', async () => {
    const { key } = await site.gateway.run('keys.create', {
      name: 'schemathesis',
      test: true,
      scopes: ['admin'],
    });
    const url = site.gateway.http?.url ?? '';
    const child = spawn(
      'python3',
      [
        ...[PROGRAM, 'run', `${url}/v1/openapi.json`, '--header', `Authorization: Bearer ${key}`],
        ...['--checks', CHECKS.join(','), '--phases', PHASES],
        ...['--max-examples', EXAMPLES, '--seed', '1', '--no-color', '--request-timeout', '20'],
        ...['--suppress-health-check', 'all'],
        ...['--exclude-path-regex', LEFT_OUT],
      ],
      {
        cwd: folder,
        env: { ...process.env, PYTHONPATH: join(folder, 'site-packages') },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => {
        output += text.toString();
      });
    }
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
    expect(output).toMatch(/Operations:\s+\d+ selected/);
  }, 900_000);
});
