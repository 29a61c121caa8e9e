import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { type Config, configSchema } from './schema.ts';

type SettingsTree = { [key: string]: unknown };
type SecretEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Settings that contain a password. Each can be given as the value itself, as `{ env: NAME }` or as
 * `{ file: PATH }`. Every other secret can only be read from a file or an environment variable.
 */
const SECRETS = ['databaseUrl', 'redisUrl', 'blobUrl'] as const;
const SECRET_FORM = /secret|password|token/i;

/** Returns true if the value of a setting must never be shown, not even in an operator's log. */
function isSecret(path: readonly PropertyKey[]): boolean {
  return path.some(
    (name) => SECRETS.some((each) => each === name) || SECRET_FORM.test(String(name)),
  );
}

/**
 * Replaces `{ env: NAME }` and `{ file: PATH }` in a secret setting with the content of the
 * variable or file, without the final newline.
 * @returns the settings, and one line for each missing secret.
 */
function resolveSecrets(
  tree: SettingsTree,
  environment: SecretEnvironment,
): { tree: SettingsTree; complaints: string[] } {
  const resolved: SettingsTree = { ...tree };
  const complaints: string[] = [];
  for (const name of SECRETS) {
    const value = tree[name];
    if (typeof value !== 'object' || value === null) continue;
    try {
      resolved[name] = secretAt(value as SettingsTree, environment);
    } catch (error) {
      complaints.push(`${name}: ${(error as Error).message}`);
    }
  }
  return { tree: resolved, complaints };
}

/**
 * Reads a secret from the environment or from a file.
 * @throws Error stating where the secret was expected.
 */
function secretAt({ env, file, ...others }: SettingsTree, environment: SecretEnvironment): string {
  if (Object.keys(others).length === 0 && typeof env === 'string' && file === undefined) {
    const text = environment[env];
    if (text) return text;
    throw new Error(`the environment variable ${env} is not set`);
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

/**
 * Thrown for invalid settings; the gateway then does not start. Lists each invalid setting with its
 * value and the allowed values.
 */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly code = 'invalid_config';
}

type Environment = Record<string, string | undefined>;
type Tree = { [key: string]: unknown };

/** Maps each environment variable to the path of the setting that it overrides. */
const ENVIRONMENT: Record<string, { path: string[]; read?: (text: string) => unknown }> = {
  SONOGATE_DATA_DIR: { path: ['dataDir'] },
  SONOGATE_HTTP_PORT: { path: ['http', 'port'], read: numberOrText },
  SONOGATE_DICOM_PORT: { path: ['dicom', 'port'], read: numberOrText },
  SONOGATE_MONITORING_PORT: { path: ['monitoring', 'port'], read: numberOrText },
  SONOGATE_AE_TITLE: { path: ['dicom', 'aeTitle'] },
  SONOGATE_ROLES: { path: ['roles'], read: (text) => text.split(',').map((role) => role.trim()) },
  SONOGATE_LOG_LEVEL: { path: ['logging', 'level'] },
  DATABASE_URL: { path: ['databaseUrl'] },
  REDIS_URL: { path: ['redisUrl'] },
  SONOGATE_BLOB_URL: { path: ['blobUrl'] },
};

/**
 * Environment variables that contain a password. The path of a file with the value can be given
 * instead, in a variable with the suffix `_FILE`, such as `DATABASE_URL_FILE`.
 */
const FROM_FILE = ['DATABASE_URL', 'REDIS_URL', 'SONOGATE_BLOB_URL'];

const DEFAULT_FILE = new URL('./default.yaml', import.meta.url);
let defaults: Tree | null = null;

/**
 * Merges settings from several origins, each overriding those before it: `default.yaml`, the file
 * given in `SONOGATE_CONFIG`, the environment, and `overrides` (used by the demo and the tests).
 * @throws ConfigError listing every invalid setting at once.
 */
export function loadConfig(environment: Environment = process.env, overrides: Tree = {}): Config {
  const site = environment.SONOGATE_CONFIG;
  defaults ??= readYaml(DEFAULT_FILE);
  const files = merge(defaults, site ? readYaml(site) : {});
  const { tree, complaints } = resolveSecrets(
    merge(merge(files, fromEnvironment(environment)), overrides),
    environment,
  );
  if (complaints.length > 0) throw wrong(complaints);
  const parsed = configSchema.safeParse(tree);
  if (parsed.success) return parsed.data;
  throw wrong(parsed.error.issues.map((issue) => describe(issue, tree)));
}

function wrong(lines: readonly string[]): ConfigError {
  return new ConfigError(
    `The configuration is wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );
}

function readYaml(file: string | URL): Tree {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `The settings file ${String(file)} cannot be read (${(error as Error).message})`,
    );
  }
  const tree: unknown = parsed(text, file) ?? {};
  if (isTree(tree)) return tree;
  throw new ConfigError(
    `${String(file)} contains no settings; write them as in config/default.yaml`,
  );
}

function parsed(text: string, file: string | URL): unknown {
  try {
    // A pretty error would quote the line, and thus show a password that makes it invalid.
    return parse(text, { prettyErrors: false });
  } catch (error) {
    if (error instanceof ReferenceError) {
      throw new ConfigError(
        `${String(file)} is not valid YAML: a value that begins with * must be in quotes`,
      );
    }
    if (!(error instanceof YAMLParseError)) throw error;
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new ConfigError(`${String(file)}, line ${line}, is not valid YAML: ${error.message}`);
  }
}

function fromEnvironment(environment: Environment): Tree {
  const tree: Tree = {};
  for (const [variable, { path, read }] of Object.entries(ENVIRONMENT)) {
    const text = environment[variable];
    const file = FROM_FILE.includes(variable) ? environment[`${variable}_FILE`] : undefined;
    if (text && file) throw wrong([`${variable} and ${variable}_FILE are both set`]);
    if (!text && !file) continue;
    let branch = tree;
    for (const key of path.slice(0, -1)) {
      branch[key] ??= {};
      branch = branch[key] as Tree;
    }
    branch[path.at(-1) as string] = file ? { file } : read && text ? read(text) : text;
  }
  return tree;
}

function numberOrText(text: string): unknown {
  return /^\d+$/.test(text) ? Number(text) : text;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function merge(base: Tree, over: Tree): Tree {
  const merged: Tree = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined || value === null) continue;
    const below = merged[key];
    merged[key] = isTree(below) && isTree(value) ? merge(below, value) : value;
  }
  return merged;
}

function describe(issue: z.core.$ZodIssue, tree: Tree): string {
  const name = issue.path.map(String).join('.') || 'the file';
  if (issue.code === 'unrecognized_keys') {
    const prefix = issue.path.length > 0 ? `${name}.` : '';
    return issue.keys.map((key) => `${prefix}${key}: is not a setting`).join('\n  ');
  }
  if (issue.code === 'custom') return `${name}: ${issue.message}`;
  const found = issue.path.reduce<unknown>(
    (branch, key) => (branch as Record<PropertyKey, unknown> | undefined)?.[key],
    tree,
  );
  const shown = found === undefined ? 'nothing' : shownValue(found, issue.path);
  return `${name}: found ${shown}; allowed: ${allowed(issue)}`;
}

function shownValue(found: unknown, path: readonly PropertyKey[]): string {
  return isSecret(path) ? 'a value that is not shown' : JSON.stringify(found);
}

function allowed(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_value':
      return issue.values.map(String).join(', ');
    case 'too_small':
      return `${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return `${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`;
    case 'invalid_type':
      return issue.expected;
    default:
      return issue.message;
  }
}
