import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../src/doors/http/gateway.ts';

const run = promisify(execFile);
const missing = await run('bash', ['-c', 'command -v curl jq']).then(
  () => null,
  () => 'curl and jq are not installed',
);

describe.skipIf(missing !== null)('docs/api.md', () => {
  let gateway: Gateway;
  let folder: string;

  beforeAll(async () => {
    gateway = await startGateway();
    folder = await mkdtemp(join(tmpdir(), 'sonogate-docs-'));
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true });
  });

  it('contains examples that run as printed, one after the other', async () => {
    const page = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
    const examples = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text);
    const image = join(folder, 'scan.dcm');
    await writeFile(image, 'pixels');
    const script = ['set -euo pipefail', ...examples].join('\n');
    await writeFile(join(folder, 'examples.sh'), script);

    const working = finishWhateverComes(gateway);
    const { stdout } = await run('bash', ['examples.sh'], {
      cwd: folder,
      env: {
        ...process.env,
        SONOGATE_URL: gateway.url,
        SONOGATE_KEY: await gateway.key(),
        IMAGE: image,
      },
    });
    await working;
    expect(stdout).toContain('succeeded, 0.08 USD');
    expect(stdout).toContain('event: done');
    expect(stdout).toContain('"code": "unauthenticated"');
    const result: unknown = JSON.parse(await readFile(join(folder, 'result.json'), 'utf8'));
    expect(result).toMatchObject({ schema: 'sonogate.result/1' });
  });
});

describe('docs/api.md, in TypeScript', () => {
  let gateway: Gateway;
  let folder: string;

  beforeAll(async () => {
    gateway = await startGateway();
    folder = await mkdtemp(join(tmpdir(), 'sonogate-docs-'));
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true });
  });

  it('contains an example that follows a request to its result', async () => {
    const page = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
    const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    const image = join(folder, 'scan.dcm');
    await writeFile(image, 'pixels');

    const working = finishWhateverComes(gateway);
    const { stdout } = await run(
      process.execPath,
      ['--input-type=module-typescript', '--eval', example],
      {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        env: {
          ...process.env,
          SONOGATE_URL: gateway.url,
          SONOGATE_KEY: await gateway.key(),
          IMAGE: image,
        },
      },
    );
    await working;
    expect(stdout).toContain('COMPLETED');
    expect(stdout).toMatch(/^req_\w+ sonogate\.result\/1$/m);
  });
});

/** Acts as the worker for the only request that the examples make. */
async function finishWhateverComes({ database, worker }: Gateway): Promise<void> {
  const queued = async () => (await database.query<{ id: string }>('SELECT id FROM requests')).rows;
  await expect.poll(queued, { timeout: 30_000 }).toHaveLength(1);
  const id = (await queued())[0]?.id ?? '';
  await worker.start(id);
  await worker.succeed(id, { 'report.pdf': 'a report' });
}
