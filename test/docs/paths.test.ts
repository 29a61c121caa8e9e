import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const pagesOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

/** CHANGELOG.md is left out, because it uses former file names. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...pagesOf('docs'),
  ...pagesOf('docs/how-to'),
];

/** A code span that is a path in this repository. A pattern with `*` or `…` is not. */
const PATH = /^(?:\.cspell|config|dimse|docs|fhir|models|pipelines|src|test)\/[\w./-]*$/;

/**
 * Returns the code spans and links outside code blocks, which may show files that a reader creates.
 */
function pathsOn(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) =>
    join(dirname(page), link),
  );
  return [...spans.filter((span) => PATH.test(span)), ...links];
}

/** Files that a how-to tells its reader to create: "Make `PATH`". */
const madeOn = (page: string) =>
  new Set([...readFileSync(page, 'utf8').matchAll(/\bMake `([^`]+)`/g)].map(([, path]) => path));

it.each(PAGES)('%s names only files that exist', (page) => {
  const made = madeOn(page);
  expect(pathsOn(page).filter((path) => !made.has(path) && !existsSync(path))).toEqual([]);
});

/** Pages that say where something is decided. */
const DECISION_PAGES = ['docs/decisions.md', 'README.md'];

/** A table whose second and last column is headed `file`. Its rows are the only group. */
const DECISION_TABLE = /^\| [^|\n]+ \| file \|\n\|-+\|-+\|\n((?:\|.*\n)+)/gm;

/** Returns the last cell of every row in the tables of a page that say where something is decided. */
const decidedIn = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(DECISION_TABLE)].flatMap(([, rows = '']) =>
    rows
      .trim()
      .split('\n')
      .map((row) => row.split(' | ').at(-1) ?? ''),
  );

/** Returns true if the file declares this name: a function, class, type, table, method or setting. */
function declares(file: string, name: string): boolean {
  const keyword = `\\b(?:function\\*?|const|class|interface|type) ${name}\\b`;
  const member = `^ +(?:(?:async|static|readonly) )*['"#]?${name}['"]?(?:[:?]|\\(.*\\).*\\{$)`;
  return new RegExp(`${keyword}|${member}`, 'm').test(readFileSync(file, 'utf8'));
}

/** Returns what is wrong in a cell such as "`name` and `name` in `file`; then `name` in `file`". */
function faultsIn(cell: string): string[] {
  const faults: string[] = [];
  let named: string[] = [];
  for (const [, span = ''] of cell.matchAll(/`([^`]+)`/g)) {
    if (!PATH.test(span)) {
      named.push(span);
      continue;
    }
    // A missing file is reported by the first test of this page.
    const isFile = existsSync(span) && statSync(span).isFile();
    const missing = isFile ? named.filter((name) => !declares(span, name)) : named;
    faults.push(...missing.map((name) => `${span} does not declare ${name}`));
    named = [];
  }
  return [...faults, ...named.map((name) => `no file follows ${name}`)];
}

it.each(DECISION_PAGES)('%s names only functions that their files declare', (page) => {
  const cells = decidedIn(page);
  expect(cells.length).toBeGreaterThan(5);
  expect(cells.flatMap(faultsIn)).toEqual([]);
});

it.each([
  ['`backoffSeconds` in `src/core/outbox/outbox.ts`', []],
  ['`SonogateError` in `src/core/outbox/outbox.ts`', ['SonogateError']],
  ['`backoff` in `src/core/outbox/outbox.ts`', ['backoff']],
  ['`src/core/outbox/outbox.ts`, `backoffSeconds`', ['backoffSeconds']],
  ['`backoffSeconds` in `src/core/outbox/`', ['backoffSeconds']],
])('finds the names in %s that are not declared there', (cell, names) => {
  const faults = faultsIn(cell);
  expect(faults).toHaveLength(names.length);
  for (const [index, name] of names.entries()) expect(faults[index]).toContain(name);
});

const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => existsSync(file));

/** Comments, and the pages beside the models. The console's own addresses end in `.ts`, too. */
const COMMENTED = /^(?:config|dimse|fhir|models|pipelines|src)\/.*\.(?:ts|py|md)$/;
const FILE_NAME = /`(?!\/console\/)([\w./-]+\.(?:ts|py))`/g;

it('names in comments only files that exist', () => {
  const exists = (name: string) => FILES.some((file) => file === name || file.endsWith(`/${name}`));
  const missing = FILES.filter((file) => COMMENTED.test(file)).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(FILE_NAME)]
      .map(([, name = '']) => name.replace(/^(?:\.{1,2}\/)+/, ''))
      .filter((name) => !exists(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(missing).toEqual([]);
});
