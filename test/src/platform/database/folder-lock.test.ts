import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseLockedError, takeLock } from '../../../../src/platform/database/folder-lock.ts';

const MODULE = fileURLToPath(
  new URL('../../../../src/platform/database/folder-lock.ts', import.meta.url),
);
const NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const NAMESPACES_ALLOWED = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;

let folder: string;
let path: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sonogate-lock-'));
  path = join(folder, 'database.in-use');
});
afterEach(async () => {
  for (const child of children.splice(0)) await end(child);
  rmSync(folder, { recursive: true });
});

/**
 * Starts a process that acquires the lock and keeps it. With `contained` it is process 1, as in a
 * container.
 */
async function holder(contained: boolean): Promise<{ child: ChildProcess; said: string }> {
  const script = `
    const { takeLock } = await import('${MODULE}');
    try {
      takeLock('${path}');
      console.log('held by ' + process.pid);
      setInterval(() => {}, 1000);
    } catch (error) {
      console.log(error.name);
    }`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  const [program = '', ...rest] = contained ? ['unshare', ...NAMESPACE, ...node] : node;
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describe('the lock of the embedded database', () => {
  it('is refused a second time in the same process, and free once it is released', () => {
    const release = takeLock(path);
    expect(() => takeLock(path)).toThrow(DatabaseLockedError);
    release();
    takeLock(path)();
  });

  it('is refused while its owner lives, and identifies the owner', async () => {
    const { child, said } = await holder(false);
    expect(said).toBe(`held by ${child.pid}`);
    expect(() => takeLock(path)).toThrow(`process ${child.pid} on `);
  });

  it('is free as soon as its owner was killed', async () => {
    const { child } = await holder(false);
    await end(child);
    takeLock(path)();
  });

  it.skipIf(!NAMESPACES_ALLOWED)(
    'is held by only one of two containers, in which each gateway is process 1',
    async () => {
      const first = await holder(true);
      const second = await holder(true);
      expect([first.said, second.said]).toEqual(['held by 1', 'DatabaseLockedError']);
      await end(first.child);
      expect((await holder(true)).said).toBe('held by 1');
    },
  );

  it('reports its file if it cannot be written', () => {
    mkdirSync(path);
    expect(() => takeLock(path)).toThrow(`${path}, cannot be acquired`);
  });

  it('does not depend on what a killed owner left behind', () => {
    writeFileSync(`${path}.owner`, `process ${process.pid} on elsewhere`);
    takeLock(path)();
    expect(readdirSync(folder)).toEqual(['database.in-use']);
  });
});
