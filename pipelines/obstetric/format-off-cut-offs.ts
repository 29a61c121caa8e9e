import { fixedOffCutOffs } from '../measure/rounding.ts';
import { CONCEPTS, type ConceptKey } from '../result/concepts.ts';
import { unitText } from '../result/unit-text.ts';

/** As `format`, on that side of every cut-off on which the value lies; all in the unit of the concept. */
export function formatOffCutOffs(
  key: ConceptKey,
  value: number,
  cutOffs: readonly number[],
): string {
  const { unit, decimals } = CONCEPTS[key];
  return `${fixedOffCutOffs(value, decimals, cutOffs)} ${unitText(unit)}`.trimEnd();
}
