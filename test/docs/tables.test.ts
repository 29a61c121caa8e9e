import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Tables whose rows have states that only the core may change. */
const OF_CORE = ['studies', 'instances', 'requests', 'deliveries', 'study_requests', 'reviews'];

/** The core changes them; migrations and the copy of a database are not statements of a state. */
const OWNERS = ['src/core/', 'src/platform/'];

const CHANGE = new RegExp(
  String.raw`\b(?:UPDATE|INSERT\s+INTO|DELETE\s+FROM)\s+(?:${OF_CORE.join('|')})\b`,
);

const changing = ['src', 'dimse', 'fhir']
  .flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  )
  .filter((file) => file.endsWith('.ts'))
  .filter((file) => CHANGE.test(readFileSync(file, 'utf8')));

it('only the core changes studies, objects, requests, deliveries and reviews', () => {
  expect(changing.filter((file) => !OWNERS.some((owner) => file.startsWith(owner)))).toEqual([]);
  // The search itself works.
  expect(changing).toContain('src/core/studies/study-store.ts');
});
