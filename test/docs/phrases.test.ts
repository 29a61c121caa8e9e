import { describe, expect, it } from 'vitest';
import { phrasesIn, phrasesOf, textFiles } from './phrases.ts';

/**
 * Folders that have not been rewritten yet, each with the number of phrases that it may still
 * contain. All other folders must contain no listed phrase. Rewriting a folder lowers its number,
 * and its entry is removed at zero. Numbers never rise. `node test/docs/phrases.ts FOLDER` lists
 * the remaining phrases.
 */
const NOT_YET_CLEAN: Readonly<Record<string, number>> = {};

/** Returns the entry for a file (the longest matching one), or null if the file must be clean. */
function areaOf(file: string): string | null {
  const areas = Object.keys(NOT_YET_CLEAN).filter((prefix) => file.startsWith(prefix));
  return areas.toSorted((one, other) => other.length - one.length)[0] ?? null;
}

const files = Map.groupBy(textFiles(), areaOf);
const phrasesFound = (area: string | null) => (files.get(area) ?? []).flatMap(phrasesOf);

describe('phrases that are hard to read', () => {
  it('are found, also across the lines of a comment', () => {
    const comment = '/**\n * Every gap that is\n * told of in the report.\n */';
    expect(phrasesIn('a.ts', comment).map((one) => one.split(' (')[0])).toEqual([
      'a.ts:3: "told of"',
      'a.ts:2: "is told"',
    ]);
    expect(phrasesIn('a.md', 'Do not write `told of`.')).toEqual([]);
  });

  it('do not occur in folders that have been rewritten', () => {
    expect(phrasesFound(null)).toEqual([]);
  });

  it.each(Object.entries(NOT_YET_CLEAN))('become fewer in %s, now at most %i', (area, most) => {
    const found = phrasesFound(area);
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(most);
    expect(found.length, `${area} is clean: remove its entry`).toBeGreaterThan(0);
  });
});
