import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * Phrases that a reader has to read twice, and what to write instead (CONTRIBUTING.md, "Language").
 * They may not occur in comments, strings and documentation. A phrase matches across line breaks.
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

/** A space of a phrase also matches a line break, with the mark of a comment on the next line. */
const acrossLines = ({ source }: RegExp) =>
  new RegExp(source.replaceAll(' ', String.raw`\s+(?:(?:\*|\/\/|#|>)\s+)?`), 'gi');

/** Code spans of Markdown and `is None` of Python name a phrase, and do not use it. */
const CODE: Readonly<Record<string, RegExp>> = { md: /`[^`\n]*`/g, py: /\bis None\b/g };
function withoutCode(file: string, text: string) {
  const code = CODE[file.split('.').at(-1) ?? ''];
  return code ? text.replace(code, (span) => ' '.repeat(span.length)) : text;
}

/** "src/doors/http/server.ts:12: told of (write: reported, listed, described in)". */
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
/** The list itself, and its test. */
const EXEMPT = /^test\/docs\/phrases\./;

/** Every file of the repository that holds prose, new ones included. */
export const textFiles = (): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => TEXT.test(file) && !EXEMPT.test(file) && existsSync(file));

export const phrasesOf = (file: string) => phrasesIn(file, readFileSync(file, 'utf8'));

// `node test/docs/phrases.ts pipelines/echo/` lists what is left in a folder.
if (import.meta.main) {
  const [, , prefix = ''] = process.argv;
  const found = textFiles()
    .filter((file) => file.startsWith(prefix))
    .flatMap(phrasesOf);
  process.stdout.write(`${[...found, `${found.length} phrases`].join('\n')}\n`);
}
