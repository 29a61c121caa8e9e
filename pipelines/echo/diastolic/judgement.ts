import type { Result } from '../../result/envelope.ts';
import { type Criterion, criteriaInWords } from '../guidelines/criterion.ts';

export interface Judgement {
  /** The result with the name of its scheme and its criteria; null where none is given. */
  text: string | null;
  /** Beside it. */
  sentences: readonly (string | null)[];
  gaps: readonly (string | null)[];
  /** Whether the data sufficed for a result. */
  given: boolean;
  elevated: boolean;
  classifications: Result['classifications'];
}

/** Never a grade without the name of its algorithm and the criteria used (echo reference 10.7). */
export const resultInWords = (scheme: string, result: string, criteria: readonly Criterion[]) =>
  `${scheme}: ${result} (${criteriaInWords(criteria)})`;

export const isElevated = (result: string) => /elevated/i.test(result);

/** The canonical result, and that it rests on less than the algorithm asks for. */
export const limitedTo = (result: string, limited: boolean) =>
  limited ? `${result}, limited` : result;
