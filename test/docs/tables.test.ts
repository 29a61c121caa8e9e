import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Tables of the core: only it changes their rows, and `dimse/` and `fhir/` read them through it. */
const OF_CORE = [
  'studies',
  'instances',
  'requests',
  'deliveries',
  'delivered_objects',
  'commitment_transactions',
  'study_requests',
  'reviews',
  'archive_counts',
  'prior_searches',
];

/** The core changes them; migrations and the copy of a database are not statements of a state. */
const OWNERS = ['src/core/', 'src/platform/'];

const CHANGE = new RegExp(
  String.raw`\b(?:UPDATE|INSERT\s+INTO|DELETE\s+FROM)\s+(?:${OF_CORE.join('|')})\b`,
);

const READ = new RegExp(String.raw`\b(?:FROM|JOIN)\s+(?:${OF_CORE.join('|')})\b`);

const filesWith = (statement: RegExp, roots: readonly string[]) =>
  roots
    .flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
    )
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => statement.test(readFileSync(file, 'utf8')));

it('only the core changes studies, objects, requests, deliveries and reviews', () => {
  const changing = filesWith(CHANGE, ['src', 'dimse', 'fhir']);
  expect(changing.filter((file) => !OWNERS.some((owner) => file.startsWith(owner)))).toEqual([]);
  // The search itself works.
  expect(changing).toContain('src/core/studies/study-store.ts');
});

it('dimse and fhir read them through functions of the core', () => {
  expect(filesWith(READ, ['dimse', 'fhir'])).toEqual([]);
  // The search itself works.
  expect(filesWith(READ, ['src/core'])).toContain('src/core/studies/study-store.ts');
});
