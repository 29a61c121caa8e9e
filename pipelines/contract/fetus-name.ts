import { type ViewNamed, viewWords } from './view-words.ts';

/** How many fetuses each of these words tells of. */
const MULTIPLES: Readonly<Record<string, number>> = { twin: 2, triplet: 3, quadruplet: 4 };

/** Whom operators and presets call a fetus; words as `plainWords` gives them. */
export const FETUS_WORD = `(?:fetus|foetus|baby|${Object.keys(MULTIPLES).join('|')})(?: (?:no|nr|number))?`;

/** A digit may belong to what follows it: "fetus 4 chamber", "fetus 3 vessel view". */
const NAMED = new RegExp(
  `\\b${FETUS_WORD} ?([a-d]|[1-4](?! ?(?:d|ch|cv|chambers?|vv?t?|vessels?)\\b))\\b`,
  'g',
);

/** "Twin view" is the name of a screen with two pictures. */
const MULTIPLE = new RegExp(`\\b(${Object.keys(MULTIPLES).join('|')})s?\\b(?! ?views?\\b)`);

/** The fetuses that words name, by letter or number, each once. */
export function fetusesIn(words: string): string[] {
  return [...new Set([...words.matchAll(NAMED)].flatMap(([, name]) => name?.toUpperCase() ?? []))];
}

/** How many fetuses words such as "twin" tell of; null: they tell of none. */
export const multipleIn = (words: string): number | null =>
  MULTIPLES[MULTIPLE.exec(words)?.[1] ?? ''] ?? null;

/** The fetus that the words of view and stage name; null where they name none, or two. */
export function fetusOf(clip: ViewNamed): string | null {
  const [named = null, ...others] = fetusesIn(viewWords(clip));
  return others.length === 0 ? named : null;
}

/** The place of a fetus among its siblings by its letter or number, the first 1; null: not told. */
export function fetusPlace(name: string): number | null {
  if (/^[a-d]$/i.test(name)) return name.toUpperCase().charCodeAt(0) - 'A'.charCodeAt(0) + 1;
  return /^[1-9]$/.test(name) ? Number(name) : null;
}

/** The id of what belongs to one of several fetuses. */
export const ofFetusId = (id: string, fetus: string): string =>
  `${id}-fetus-${fetus.toLowerCase()}`;

/** What tells fetuses apart: A and 1 are the same one, by the letters and numbers of two people. */
export const fetusKey = (name: string | null): string =>
  name === null ? '' : String(fetusPlace(name) ?? name);
