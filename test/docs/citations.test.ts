import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Comments cite the rules in docs/reference as `obstetric 3.8`: a page and one or several of its
 * sections (docs/reference/README.md).
 */
const ROOTS = ['config', 'src', 'dimse', 'fhir', 'pipelines', 'models'];
const PAGES = ['obstetric', 'echo', 'exchange', 'api'] as const;
type Page = (typeof PAGES)[number];

const NUMBER = String.raw`\d+(?:\.\d+)*(?!\.?[\w%])`;
const LIST = `${NUMBER}(?:(?:,|,? and| to| or) ${NUMBER})*`;
const CITATION = new RegExp(String.raw`(?<![\w./-])(${PAGES.join('|')}) (${LIST})`, 'gi');

/** References to documents outside the repository, and citations without a page. */
const ELSEWHERE = /(?<![\w./-])(?:interop|service\.md|(?:reference|ref\.) \d)/gi;

interface Citation {
  file: string;
  line: number;
  page: string;
  section: string;
}

function commentLines(source: string, file: string): (string | null)[] {
  const lines = source.split('\n');
  // In Python, strings can be comments too, and no code resembles a citation.
  if (file.endsWith('.py')) return lines;
  let inBlock = false;
  return lines.map((line) => {
    const opened = inBlock ? line : /(?:^|\s)\/\*+(.*)$/.exec(line)?.[1];
    if (opened !== undefined) {
      inBlock = !opened.includes('*/');
      return opened.replace(/^\s*\*+(?!\/)/, '').replace(/\*\/.*$/, '');
    }
    return /(?:^|\s)\/\/(.*)$/.exec(line)?.[1] ?? null;
  });
}

/** Joins comments on adjacent lines, since a citation may be wrapped. */
function comments(
  source: string,
  file: string,
): { text: string; lineAt(offset: number): number }[] {
  const runs: { first: number; lines: string[] }[] = [];
  for (const [index, line] of commentLines(source, file).entries()) {
    if (line === null) continue;
    const last = runs.at(-1);
    if (last && last.first + last.lines.length === index) last.lines.push(line.trim());
    else runs.push({ first: index, lines: [line.trim()] });
  }
  return runs.map(({ first, lines }) => ({
    text: lines.join(' '),
    lineAt(offset) {
      let end = 0;
      const within = lines.findIndex((line) => {
        end += line.length + 1;
        return offset < end;
      });
      return first + within + 1;
    },
  }));
}

function citationsIn(file: string): Citation[] {
  const found: Citation[] = [];
  for (const { text, lineAt } of comments(readFileSync(file, 'utf8'), file)) {
    for (const { 0: whole, 1: page = '', 2: list = '', index } of text.matchAll(CITATION)) {
      const start = index + whole.length - list.length;
      for (const { 0: section, index: at } of list.matchAll(/\d+(?:\.\d+)*/g)) {
        found.push({ file, line: lineAt(start + at), page: page.toLowerCase(), section });
      }
    }
  }
  return found;
}

const elsewhereIn = (file: string): string[] =>
  comments(readFileSync(file, 'utf8'), file).flatMap(({ text, lineAt }) =>
    [...text.matchAll(ELSEWHERE)].map(({ 0: name, index }) => `${file}:${lineAt(index)} "${name}"`),
  );

const sources = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|py)$/.test(name))
    .map((name) => join(root, name)),
);

const textOf = (page: Page) => readFileSync(`docs/reference/${page}.md`, 'utf8');
const anchorsOf = (page: Page) =>
  [...textOf(page).matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, anchor = '']) => anchor);

describe('the rules that comments cite', () => {
  const anchors = new Map<string, ReadonlySet<string>>(
    PAGES.map((page) => [page, new Set(anchorsOf(page))]),
  );

  it('are in docs/reference, in the section that is cited', () => {
    const citations = sources.flatMap(citationsIn);
    const missing = citations
      .filter(({ page, section }) => !anchors.get(page)?.has(section))
      .map(({ file, line, page, section }) => `${file}:${line} cites ${page} ${section}`);

    expect(citations.length).toBeGreaterThan(300);
    expect(missing).toEqual([]);
  });

  it('are cited by page and section, as obstetric 3.8', () => {
    expect(sources.flatMap(elsewhereIn)).toEqual([]);
  });

  it.each(PAGES)('have different numbers in %s.md', (page) => {
    const all = anchorsOf(page);

    expect(all.filter((anchor, index) => all.indexOf(anchor) !== index)).toEqual([]);
  });

  it.each(PAGES)('are linked from %s.md by sections that exist', (page) => {
    const links = [...textOf(page).matchAll(/\]\((\w+)?(?:\.md)?#([\d.]+)\)/g)];
    const broken = links.filter(([, other, section = '']) => {
      return !anchors.get(other ?? page)?.has(section);
    });

    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it.each(PAGES)('name files that exist, in %s.md', (page) => {
    const paths = [
      ...textOf(page).matchAll(/`((?:src|dimse|fhir|pipelines|models|test)\/[^`<*]+)`/g),
    ];

    expect(paths.map(([, path = '']) => path).filter((path) => !existsSync(path))).toEqual([]);
  });
});
