import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPacs } from '../../../../src/app/simulate/pacs.ts';
import { freePort } from '../../../peers/free-port.ts';

const CLI = fileURLToPath(new URL('../../../../src/app/cli/sonogate.ts', import.meta.url));

let folder: string;
let pacs: Awaited<ReturnType<typeof startPacs>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-simulate-'));
  pacs = await startPacs({ folder: join(folder, 'pacs'), host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await pacs.close();
  await rm(folder, { recursive: true });
});

/** Runs `simulate --json --send`, and returns its exit status and standard output as JSON. */
function simulate(port: number) {
  const args = ['simulate', '--json', '--send', `PACS@127.0.0.1:${port}`];
  const out = join(folder, String(port));
  return new Promise<{ status: number; answer: { files: string[]; sent: unknown[] | null } }>(
    (resolve) => {
      const command = execFile(process.execPath, [CLI, ...args, '--out', out], (_, stdout) =>
        resolve({ status: command.exitCode ?? -1, answer: JSON.parse(stdout) }),
      );
    },
  );
}

test('simulate --json --send prints one document with what became of each file', async () => {
  const { status, answer } = await simulate(pacs.port);
  expect(status).toBe(0);
  expect(answer.files).not.toHaveLength(0);
  expect(answer.sent).toEqual(
    answer.files.map(() => expect.objectContaining({ outcome: 'stored' })),
  );
});

test('the document says that nothing was sent if nobody listens', async () => {
  const { status, answer } = await simulate(await freePort());
  expect(status).not.toBe(0);
  expect(answer).toMatchObject({ files: expect.any(Array), sent: null });
});
