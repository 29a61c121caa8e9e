import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const CLI = fileURLToPath(new URL('../../../../src/app/cli/sonogate.ts', import.meta.url));
/** 128 plus the number of SIGPIPE. `yes | head` ends with the same status. */
const ENDED_BY_SIGPIPE = 141;

test.each([
  ['has gone ends quietly', true, ENDED_BY_SIGPIPE, ''],
  ['stays has its own status', false, 0, '0 passed, 0 failed\n'],
])('a command whose reader %s', async (_, gone, status, output) => {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-pipe-'));
  const vectors = join(folder, 'vectors.json');
  await writeFile(vectors, '[]');
  const command = spawn(process.execPath, [CLI, 'check-vectors', vectors], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(command, 'exit');
  if (gone) command.stdout.destroy();
  const [said, complained] = await Promise.all([
    gone ? '' : text(command.stdout),
    text(command.stderr),
  ]);
  expect({ said, complained, status: (await ended)[0] }).toEqual({
    said: output,
    complained: '',
    status,
  });
  await rm(folder, { recursive: true });
});
