import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../', import.meta.url));
const COMMIT_ID = /^[0-9a-f]{40,64}$/;

function textOf(...path: string[]): string {
  try {
    return readFileSync(join(...path), 'utf8').trim();
  } catch {
    return '';
  }
}

/** Returns the commit that a Git checkout is at; an empty text if the folder is not a checkout. */
function commitOfCheckout(program: string): string {
  const git = join(program, '.git');
  const head = textOf(git, 'HEAD');
  const branch = /^ref: (\S+)$/.exec(head)?.[1];
  if (branch === undefined) return head;
  // Git moves branches into one file from time to time (git-pack-refs(1)).
  const packed = textOf(git, 'packed-refs').split('\n');
  const line = packed.find((each) => each.endsWith(` ${branch}`));
  return textOf(git, branch) || (line?.split(' ')[0] ?? '');
}

/**
 * Returns the Git commit from which the program in a folder was installed; null if it is unknown.
 * `git archive` writes it to `commit.txt` (gitattributes(5), `export-subst`), and the container
 * build does the same. A checkout is read without the program `git`, which refuses to read the
 * files of another user.
 */
export function readCommit(program: string): string | null {
  const found = [textOf(program, 'src/platform/commit.txt'), commitOfCheckout(program)];
  return found.find((text) => COMMIT_ID.test(text)) ?? null;
}

export const VERSION: string = JSON.parse(textOf(PROGRAM, 'package.json')).version;

/** The commit from which this program was installed, to tell builds of one version apart. */
export const COMMIT: string | null = readCommit(PROGRAM);
