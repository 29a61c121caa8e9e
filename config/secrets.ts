import { readFileSync } from 'node:fs';

type Tree = { [key: string]: unknown };
type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that hold a password inside a value of theirs; every other secret stands in a file. */
const SECRETS = ['databaseUrl', 'redisUrl', 'blobUrl'] as const;
const SECRET_FORM = /secret|password|token/i;

/** Whether what was found at a setting must not be shown to anyone, an operator's log included. */
export function isSecret(path: readonly PropertyKey[]): boolean {
  return path.some(
    (name) => SECRETS.some((each) => each === name) || SECRET_FORM.test(String(name)),
  );
}

/**
 * Replaces `{ env: NAME }` and `{ file: PATH }` of a secret setting by what the variable or the file
 * holds, without the line end of the file.
 * @returns the settings, and a line about each secret that is not where it should be.
 */
export function resolveSecrets(
  tree: Tree,
  environment: Environment,
): { tree: Tree; complaints: string[] } {
  const resolved: Tree = { ...tree };
  const complaints: string[] = [];
  for (const name of SECRETS) {
    const value = tree[name];
    if (typeof value !== 'object' || value === null) continue;
    try {
      resolved[name] = secretAt(value as Tree, environment);
    } catch (error) {
      complaints.push(`${name}: ${(error as Error).message}`);
    }
  }
  return { tree: resolved, complaints };
}

/** @throws Error that says where the secret was looked for. */
function secretAt({ env, file, ...others }: Tree, environment: Environment): string {
  if (Object.keys(others).length === 0 && typeof env === 'string' && file === undefined) {
    const text = environment[env];
    if (text) return text;
    throw new Error(`the variable ${env} is not set`);
  }
  if (Object.keys(others).length === 0 && typeof file === 'string' && env === undefined) {
    try {
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(`the file ${file} cannot be read (${code})`);
    }
  }
  throw new Error('allowed: the value, { file: PATH } or { env: NAME }');
}
