import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * `.ci/run` installs dicom-anonymizer into this folder. It contains the table of PS3.15 Annex E.
 */
const MODULES = fileURLToPath(new URL('../../.ci/deid', import.meta.url));
const env = { ...process.env, PYTHONPATH: MODULES };
const CHECK = fileURLToPath(new URL('./deidentified/check.py', import.meta.url));

export const ANONYMIZER_INSTALLED =
  spawnSync('python3', ['-c', 'import dicomanonymizer'], { env }).status === 0;

/**
 * For each pair of an original and its copy, returns what is wrong with the copy according to
 * dicom-anonymizer's table.
 */
export function wrongByAnnexE(pairs: readonly (readonly [string, string])[]): string[][] {
  const { stdout, stderr } = spawnSync('python3', [CHECK, ...pairs.flat()], {
    env,
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}
