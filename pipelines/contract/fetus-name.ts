import { type ViewNamed, viewWords } from './view-words.ts';

const MULTIPLES: Readonly<Record<string, number>> = { twin: 2, triplet: 3, quadruplet: 4 };

/**
 * Pattern for the words that operators and presets use for a fetus, as normalised by `plainWords`.
 */
export const FETUS_WORD = `(?:fetus|foetus|baby|${Object.keys(MULTIPLES).join('|')})(?: (?:no|nr|number))?`;

/**
 * Matches a fetus with its letter or number. A digit that belongs to the next word is excluded:
 * "fetus 4 chamber", "fetus 3 vessel view".
 */
const NAMED = new RegExp(
  `\\b${FETUS_WORD} ?([a-d]|[1-4](?! ?(?:d|ch|cv|chambers?|vv?t?|vessels?)\\b))\\b`,
  'g',
);

/**
 * Matches a word for several fetuses. "Twin view" is excluded, because it means a screen with two
 * pictures.
 */
const MULTIPLE = new RegExp(`\\b(${Object.keys(MULTIPLES).join('|')})s?\\b(?! ?views?\\b)`);

/** Returns the letters or numbers of the fetuses mentioned in the words, each once. */
export function fetusesIn(words: string): string[] {
  return [...new Set([...words.matchAll(NAMED)].flatMap(([, name]) => name?.toUpperCase() ?? []))];
}

/**
 * Returns the number of fetuses that a word such as "twin" implies; null if there is no such word.
 */
export const multipleIn = (words: string): number | null =>
  MULTIPLES[MULTIPLE.exec(words)?.[1] ?? ''] ?? null;

/**
 * Returns the fetus mentioned in View Name and Stage Name; null if they mention none, or several.
 */
export function fetusOf(clip: ViewNamed): string | null {
  const [named = null, ...others] = fetusesIn(viewWords(clip));
  return others.length === 0 ? named : null;
}
