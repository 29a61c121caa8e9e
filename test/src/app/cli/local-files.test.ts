import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localFiles, withUniqueNames } from '../../../../src/app/cli/local-files.ts';

async function folderOf(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'local-'));
  for (const name of names) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), name);
  }
  return folder;
}

describe('local files', () => {
  it('in a folder are named by their path below it, in alphabetical order', async () => {
    const folder = await folderOf('b.dcm', 'a/2.dcm', 'a/1.dcm');
    expect((await localFiles([folder])).map(({ name }) => name)).toEqual([
      'a/1.dcm',
      'a/2.dcm',
      'b.dcm',
    ]);
  });

  it('given one by one are named by their last part', async () => {
    const folder = await folderOf('a/1.dcm');
    const path = join(folder, 'a/1.dcm');
    expect(await localFiles([path])).toEqual([{ name: '1.dcm', path }]);
  });

  it('with the same name get a number', async () => {
    const folders = [await folderOf('a/1.dcm'), await folderOf('a/1.dcm')];
    const names = withUniqueNames(await localFiles(folders)).map(({ name }) => name);
    expect(names).toEqual(['a/1.dcm', 'a/1.dcm (2)']);
  });

  it('a link in a folder is not followed', async () => {
    const folder = await folderOf('a.dcm');
    await symlink('/etc/hostname', join(folder, 'link'));
    expect((await localFiles([folder])).map(({ name }) => name)).toEqual(['a.dcm']);
  });

  it.skipIf(process.platform === 'win32')('a pipe is reported and never opened', async () => {
    const pipe = join(await folderOf(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(localFiles([pipe])).rejects.toThrow('neither a file nor a folder');
  });
});
