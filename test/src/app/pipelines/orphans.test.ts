import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { PIPELINE_PROGRAM } from '../../../../src/app/pipelines/program.ts';

it('a pipeline process ends if its gateway died while the process was starting', async () => {
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(gone, 'exit');
  // Computes without a pause, like a process that is still loading its program.
  const orphan = spawn(
    process.execPath,
    [`--import=${PIPELINE_PROGRAM.confinement}`, '--eval', 'for (;;);'],
    { env: { ...process.env, SONOGATE_PARENT_PID: String(gone.pid) }, stdio: 'ignore' },
  );
  expect(await once(orphan, 'exit')).toEqual([null, 'SIGKILL']);
}, 60_000);
