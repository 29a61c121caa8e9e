import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCommit, VERSION } from '../../../src/platform/version.ts';

const TOP = fileURLToPath(new URL('../../../', import.meta.url));
const AUTHOR = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];

describe('the commit from which the program was installed', () => {
  let folder: string;
  let checkout: string;
  let commit: string;
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', checkout, ...AUTHOR, ...args], { encoding: 'utf8' }).trim();

  // A repository with the two files of this one from which `git archive` makes the commit known.
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sonogate-version-'));
    checkout = join(folder, 'checkout');
    mkdirSync(join(checkout, 'src/platform'), { recursive: true });
    for (const file of ['.gitattributes', 'src/platform/commit.txt']) {
      copyFileSync(join(TOP, file), join(checkout, file));
    }
    git('init', '--quiet', '--initial-branch=main');
    git('add', '.');
    git('commit', '--quiet', '--message=first');
    commit = git('rev-parse', 'HEAD');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is written into an archive that git makes', () => {
    const installed = join(folder, 'installed');
    mkdirSync(installed);
    const tar = join(folder, 'release.tar');
    git('archive', `--output=${tar}`, 'HEAD');
    execFileSync('tar', ['-x', '-C', installed, '-f', tar]);
    expect(readCommit(installed)).toBe(commit);
  });

  it('is that of a checkout, on a branch or not, also after git has packed its branches', () => {
    expect(readCommit(checkout)).toBe(commit);
    git('pack-refs', '--all');
    expect(readCommit(checkout)).toBe(commit);
    git('checkout', '--quiet', '--detach');
    expect(readCommit(checkout)).toBe(commit);
  });

  it('is unknown in a copy of the files without git', () => {
    const copied = join(folder, 'copied');
    mkdirSync(join(copied, 'src/platform'), { recursive: true });
    writeFileSync(join(copied, 'src/platform/commit.txt'), '$Format:%H$\n');
    expect(readCommit(copied)).toBeNull();
  });

  it('is printed by `sonogate --version` after the version', () => {
    const cli = join(TOP, 'src/app/cli/sonogate.ts');
    const printed = execFileSync(process.execPath, [cli, '--version'], { encoding: 'utf8' });
    expect(printed.trim()).toBe(`${VERSION}, commit ${readCommit(TOP) ?? 'unknown'}`);
  });
});
