import { createHash } from 'node:crypto';
import { FETUS_WORD, fetusesIn, multipleIn } from '../../contract/fetus-name.ts';
import { plainWords } from '../../contract/view-words.ts';

/** What an identifier of a fetus says. */
export interface FetusId {
  /** Letter or number, else letters that only tell it apart. */
  fetus: string;
  /** Of how many: "1 of 2", "A/2", "Twin A"; null: not said. */
  fetuses: number | null;
  /** Whether letter or number were read. */
  known: boolean;
}

const WHOLE = new RegExp(`^(?:${FETUS_WORD} ?)?(i{1,3}|iv|[a-z]|\\d{1,2})(?: of (\\d))?$`);

/** No pregnancy has a ninth fetus I. */
const ROMAN: Readonly<Record<string, string>> = { i: '1', ii: '2', iii: '3', iv: '4' };

const LETTERS = 26;
const OPAQUE_LETTERS = 3;

/**
 * Letters for an identifier that is none of a fetus alone: it may be a name, and no name is read. Its
 * digest keeps two fetuses apart in all reports of a study, and is too short to tell what was written.
 */
function opaque(words: string): string {
  const digest = createHash('sha256').update(words).digest().subarray(0, OPAQUE_LETTERS);
  return [...digest].map((byte) => String.fromCharCode(65 + (byte % LETTERS))).join('');
}

/** The fetus that a report names; null where it names none. */
export function readFetusId(written: string): FetusId | null {
  const words = plainWords(written.replaceAll('/', ' of '));
  if (words === '') return null;
  const [, name, of] = WHOLE.exec(words) ?? [];
  const [named, ...others] = fetusesIn(words);
  const known = name
    ? (ROMAN[name] ?? name.toUpperCase())
    : others.length === 0
      ? named
      : undefined;
  return {
    fetus: known ?? opaque(words),
    fetuses: of ? Number(of) : multipleIn(words),
    known: known !== undefined,
  };
}
