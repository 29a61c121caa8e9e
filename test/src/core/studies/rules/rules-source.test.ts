import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Routing, routingSchema } from '../../../../../config/routing.ts';
import {
  fixedRules,
  followRules,
  type RulesSource,
} from '../../../../../src/core/studies/rules/rules-source.ts';
import { createLogger } from '../../../../../src/platform/logging/logger.ts';

const rules = (name: string): Routing => routingSchema.parse({ rules: [{ name, ignore: true }] });

let folder = '';
let file = '';
let now: Routing | Error;
let errors: string[];
let source: RulesSource;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-rules-'));
  file = join(folder, 'site.yaml');
  await writeFile(file, '1');
  now = rules('before');
  errors = [];
  source = followRules(file, {
    first: rules('before'),
    read: () => {
      if (now instanceof Error) throw now;
      return now;
    },
    logger: createLogger('error', { write: (line) => errors.push(line) }),
  });
});
afterEach(async () => {
  source.stop();
  await rm(folder, { recursive: true });
});

let seconds = 0;
async function change(to: Routing | Error): Promise<void> {
  now = to;
  seconds += 10;
  const at = new Date(Date.now() + seconds * 1000);
  await utimes(file, at, at);
}
const first = () => source.current().rules[0]?.name;

test('rules follow the file', async () => {
  await change(rules('after'));
  await expect.poll(first).toBe('after');
});

test('a file with a mistake leaves the rules as they were, and is logged', async () => {
  await change(new Error('routing.rules.0.name: found 7'));
  await expect.poll(() => errors.join()).toContain('found 7');
  expect(first()).toBe('before');
});

test('saved rules replace those in the file, whose other lines and former version are kept', async () => {
  const before = '# our site\ndicom:\n  port: 104 # agreed\nrouting:\n  rules: []\n';
  await writeFile(file, before);
  const at = new Date('2026-11-22T10:00:00Z');
  const kept = await source.save?.(
    'routing:\n  rules:\n    # for now\n    - { name: all, ignore: true }\n',
    at,
    async () => {},
  );
  expect(kept).toBe(`${file}.2026-11-22T10-00-00.000Z`);
  expect(await readFile(kept ?? '', 'utf8')).toBe(before);
  const after = await readFile(file, 'utf8');
  expect(after).toMatch(/# our site\ndicom:\n {2}port: 104 # agreed\n/);
  expect(after).toContain('# for now');
  expect(parse(after)).toEqual({
    dicom: { port: 104 },
    routing: { rules: [{ name: 'all', ignore: true }] },
  });
});

test('saved rules are in use at once', async () => {
  await writeFile(file, 'routing: {}\n');
  now = rules('after');
  await source.save?.('rules: []', new Date(), async () => {});
  expect(first()).toBe('after');
});

test('rules saved without the word `routing` are the same', async () => {
  await writeFile(file, 'dicom: {}\n');
  await source.save?.('rules:\n  - { name: all, ignore: true }\n', new Date(), async () => {});
  expect(parse(await readFile(file, 'utf8')).routing.rules[0].name).toBe('all');
});

test('rules are recorded before the file is replaced', async () => {
  await writeFile(file, 'routing:\n  rules: []\n');
  const recorded: string[] = [];
  await source.save?.('rules:\n  - { name: all, ignore: true }\n', new Date(), async () => {
    recorded.push(await readFile(file, 'utf8'));
  });
  expect(recorded).toEqual(['routing:\n  rules: []\n']);
});

test('a file with which the gateway could not start is not saved or recorded', async () => {
  const before = 'routing:\n  rules: []\n';
  await writeFile(file, before);
  now = new Error('routing.rules.0.forwardTo.0: found "ehr"; allowed: pacs');
  const saved = source.save?.('rules:\n  - { name: all, ignore: true }\n', new Date(), () => {
    throw new Error('recorded');
  });
  await expect(saved).rejects.toMatchObject({
    code: 'invalid_config',
    detail: expect.stringContaining('allowed: pacs'),
  });
  expect(await readFile(file, 'utf8')).toBe(before);
  expect(await readdir(folder)).toEqual(['site.yaml']);
});

test('rules that come from no file cannot be saved', () => {
  expect(fixedRules(rules('only')).save).toBeNull();
});
