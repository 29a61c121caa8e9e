import { type ViewNamed, viewWords } from './view-words.ts';

/** The number of fetuses that each word means. */
const MULTIPLES: Readonly<Record<string, number>> = { twin: 2, triplet: 3, quadruplet: 4 };

/** What operators and presets call a fetus; words as `plainWords` returns them. */
export const FETUS_WORD = `(?:fetus|foetus|baby|${Object.keys(MULTIPLES).join('|')})(?: (?:no|nr|number))?`;

/** A digit may belong to the next word: "fetus 4 chamber", "fetus 3 vessel view". */
const NAMED = new RegExp(
  `\\b${FETUS_WORD} ?([a-d]|[1-4](?! ?(?:d|ch|cv|chambers?|vv?t?|vessels?)\\b))\\b`,
  'g',
);

/** "Twin view" is the name of a screen with two pictures, not of twins. */
const MULTIPLE = new RegExp(`\\b(${Object.keys(MULTIPLES).join('|')})s?\\b(?! ?views?\\b)`);

/** The fetuses that words name, by letter or number, each once. */
export function fetusesIn(words: string): string[] {
  return [...new Set([...words.matchAll(NAMED)].flatMap(([, name]) => name?.toUpperCase() ?? []))];
}

/** Returns the number of fetuses that words such as "twin" mean; null where no such word occurs. */
export const multipleIn = (words: string): number | null =>
  MULTIPLES[MULTIPLE.exec(words)?.[1] ?? ''] ?? null;

/**
 * Returns the fetus that View Name and Stage Name name; null where they name none, or two different
 * ones.
 */
export function fetusOf(clip: ViewNamed): string | null {
  const [named = null, ...others] = fetusesIn(viewWords(clip));
  return others.length === 0 ? named : null;
}
