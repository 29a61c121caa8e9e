import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * Phrases that force a reader to read twice, and replacements for them (CONTRIBUTING.md,
 * "Language"). They must not occur in comments, strings and documentation. A phrase also matches
 * across line breaks.
 */
export const PHRASES: readonly { phrase: RegExp; instead: string }[] = [
  { phrase: /\btold of\b/, instead: 'reported, listed, described in' },
  { phrase: /\b(is|are|was|were|be) told\b/, instead: 'is reported, is notified, is given' },
  {
    phrase: /\bstand(s|ing)? (for|in|at|by|beside|before|after|behind|alone|there|over)\b/,
    instead: 'represents, is in, takes precedence over',
  },
  { phrase: /\b(lies|lie|lay) (in|at|beside|with|under)\b/, instead: 'is in, is stored in' },
  { phrase: /(?<!\bthere )\b(is|are) none\b/, instead: 'there is no …' },
  { phrase: /\bis no(t)? one\b(?! of\b)/, instead: 'name the thing: is not a valid …' },
  { phrase: /\bof (its|their|his|her|our|one's) own\b/, instead: 'its own …, a separate …' },
  { phrase: /\b(take|takes|taken|took) up\b/, instead: 'claim, accept, resume' },
  { phrase: /\b(is|are|was|were) said\b/, instead: 'is reported, the note says' },
  { phrase: /\bthe road\b/, instead: 'the path, the way' },
  { phrase: /\bwhat comes\b/, instead: 'name what arrives' },
  { phrase: /\bspeaks? (for|against)\b/, instead: 'suggests, contradicts' },
];

/** Lets a space in a phrase also match a line break followed by a comment marker. */
const acrossLines = ({ source }: RegExp) =>
  new RegExp(source.replaceAll(' ', String.raw`\s+(?:(?:\*|\/\/|#|>)\s+)?`), 'gi');

/** Code spans in Markdown and `is None` in Python mention a phrase without using it. */
const CODE: Readonly<Record<string, RegExp>> = { md: /`[^`\n]*`/g, py: /\bis None\b/g };
function withoutCode(file: string, text: string) {
  const code = CODE[file.split('.').at(-1) ?? ''];
  return code ? text.replace(code, (span) => ' '.repeat(span.length)) : text;
}

/**
 * Returns lines such as "src/doors/http/server.ts:12: told of (write: reported, listed, described
 * in)".
 */
export function phrasesIn(file: string, text: string): string[] {
  const read = withoutCode(file, text);
  return PHRASES.flatMap(({ phrase, instead }) =>
    [...read.matchAll(acrossLines(phrase))].map(({ 0: found, index }) => {
      const line = read.slice(0, index).split('\n').length;
      return `${file}:${line}: "${found.replace(/\s+(?:(?:\*|\/\/|#|>)\s+)?/g, ' ')}" (write: ${instead})`;
    }),
  );
}

const TEXT = /\.(ts|mjs|py|md|yaml)$/;
/** The list itself and its test. */
const EXEMPT = /^test\/docs\/phrases\./;

/** Returns every text file in the repository, including untracked ones. */
export const textFiles = (): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => TEXT.test(file) && !EXEMPT.test(file) && existsSync(file));

export const phrasesOf = (file: string) => phrasesIn(file, readFileSync(file, 'utf8'));

// `node test/docs/phrases.ts pipelines/echo/` lists the remaining phrases in a folder.
if (import.meta.main) {
  const [, , prefix = ''] = process.argv;
  const found = textFiles()
    .filter((file) => file.startsWith(prefix))
    .flatMap(phrasesOf);
  process.stdout.write(`${[...found, `${found.length} phrases`].join('\n')}\n`);
}
