import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../config/load.ts';

const SECRET = 'hunter2-and-more';
const URL = `postgres://sonogate:${SECRET}@db.example/sonogate`;

function file(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'sonogate-secret-')), 'secret');
  writeFileSync(path, text);
  return path;
}

function complaint(environment: Record<string, string>, overrides = {}): string {
  try {
    loadConfig(environment, overrides);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('a secret', () => {
  test.each([
    ['itself', () => ({ databaseUrl: URL }), {}],
    ['from a file, without its line end', () => ({ databaseUrl: { file: file(`${URL}\n`) } }), {}],
    ['from a variable', () => ({ databaseUrl: { env: 'PG' } }), { PG: URL }],
  ])('can be given %s', (_how, settings, environment) => {
    expect(loadConfig(environment, settings()).databaseUrl).toBe(URL);
  });

  test.each(['DATABASE_URL', 'REDIS_URL', 'SONOGATE_BLOB_URL'])('can be a file: %s', (variable) => {
    const value = {
      DATABASE_URL: URL,
      REDIS_URL: `redis://:${SECRET}@redis.example`,
      SONOGATE_BLOB_URL: `s3://key:${SECRET}@s3.example/bucket?region=x`,
    }[variable];
    const config = loadConfig({ [`${variable}_FILE`]: file(value ?? '') });
    expect(JSON.stringify(config)).toContain(SECRET);
  });

  test('is refused if it is given twice', () => {
    const environment = { DATABASE_URL: URL, DATABASE_URL_FILE: file(URL) };
    expect(complaint(environment)).toContain('DATABASE_URL_FILE are both set');
  });

  test('that cannot be found stops the startup, and the error states where it was expected', () => {
    expect(complaint({}, { databaseUrl: { env: 'ABSENT' } })).toContain(
      'databaseUrl: the environment variable ABSENT is not set',
    );
    expect(complaint({ REDIS_URL_FILE: '/no/such/file' })).toContain(
      'redisUrl: the file /no/such/file cannot be read (ENOENT)',
    );
  });

  test.each([
    ['databaseUrl', `mysql://sonogate:${SECRET}@db.example/sonogate`],
    ['redisUrl', `http://:${SECRET}@redis.example`],
    ['blobUrl', `s4://key:${SECRET}@s3.example/bucket`],
  ])('is not shown in the error about a wrong %s', (name, value) => {
    for (const given of [value, { file: file(value) }]) {
      const text = complaint({}, { [name]: given });
      expect(text).toContain(name);
      expect(text).not.toContain(SECRET);
    }
  });
});
