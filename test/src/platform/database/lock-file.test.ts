import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseLockedError, takeLock } from '../../../../src/platform/database/embedded.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sonogate-lock-'));
  path = join(folder, 'database.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The id of a process that has ended. */
function deadPid(): number {
  return spawnSync('true').pid;
}

describe('the lock of the embedded database', () => {
  it('is refused a second time in the same process, and free once given back', () => {
    const release = takeLock(path);
    expect(() => takeLock(path)).toThrow(DatabaseLockedError);
    release();
    expect(existsSync(path)).toBe(false);
    takeLock(path)();
  });

  it('is refused while its owner lives, and names it', () => {
    const parent = process.ppid;
    takeLock(path)();
    writeFileSync(path, ownerFile(parent));
    expect(() => takeLock(path)).toThrow(`process ${parent}`);
  });

  it('is taken over from an owner that died', () => {
    writeFileSync(path, JSON.stringify({ pid: deadPid(), started: 'long ago' }));
    takeLock(path)();
  });

  it('is taken over when another process has the id of the dead owner now', () => {
    writeFileSync(path, JSON.stringify({ pid: process.ppid, started: 'before the reboot' }));
    takeLock(path)();
  });

  it('is taken over from an earlier run of itself with the same id, as in a container', () => {
    writeFileSync(path, JSON.stringify({ pid: process.pid, started: 'before the restart' }));
    takeLock(path)();
  });

  it('is taken over when the file was cut short', () => {
    writeFileSync(path, '{"pid":');
    takeLock(path)();
  });

  it('leaves no other files', () => {
    writeFileSync(path, JSON.stringify({ pid: deadPid(), started: '' }));
    takeLock(path);
    expect(spawnSync('ls', [folder]).stdout.toString().trim()).toBe('database.lock');
  });
});

/** What a process of this start time writes; taken from the lock's own format by a child. */
function ownerFile(pid: number): string {
  const script = `
    const { readFileSync } = require('node:fs');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync('/proc/${pid}/stat', 'utf8');
    const started = boot + ':' + stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    process.stdout.write(JSON.stringify({ pid: ${pid}, started }));`;
  return spawnSync(process.execPath, ['-e', script]).stdout.toString();
}
