import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
