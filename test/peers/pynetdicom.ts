import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * A `peer` is a machine or a PACS that supports the normalized services; an `archive` can be
 * queried.
 */
type Kind = 'peer' | 'archive';
const program = (kind: Kind) => fileURLToPath(new URL(`./pynetdicom/${kind}.py`, import.meta.url));

/**
 * Folder into which `.ci/run` installs pynetdicom. Its programs have the same names as DCMTK's, so
 * it is not on the PATH.
 */
const MODULES = fileURLToPath(new URL('../../.ci/python', import.meta.url));
const env = { ...process.env, PYTHONPATH: MODULES };

export const PYNETDICOM_INSTALLED =
  spawnSync('python3', ['-c', 'import pynetdicom'], { env }).status === 0;

/** A pynetdicom program controlled by a test. */
export interface PynetdicomPeer {
  ask<Answer>(order: Record<string, unknown>): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startPynetdicom(kind: Kind = 'peer'): Promise<PynetdicomPeer> {
  const child: ChildProcess = spawn('python3', [program(kind)], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (!child.stdout || !child.stdin) throw new Error('the peer has no pipes');
  const { stdin } = child;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the peer ended');
    return JSON.parse(value as string) as { error?: string };
  };
  await next();
  return {
    async ask<Answer>(order: Record<string, unknown>) {
      stdin.write(`${JSON.stringify(order)}\n`);
      const answer = await next();
      if (answer.error) throw new Error(answer.error);
      return answer as Answer;
    },
    async stop() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
