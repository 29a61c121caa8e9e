import { CONCEPTS, type ConceptKey } from '../concepts/concepts.ts';
import { hardLimitsOf } from './obstetric/limits.ts';
import { withUnit } from './render/unit-text.ts';

function outside({ low, high }: { low: number; high: number }, unit: string): string {
  const range = Number.isFinite(high) ? `outside ${low} to ${high}` : `below ${low}`;
  return withUnit(range, unit);
}

/** Returns the remark for a value outside its hard limits. */
export function implausibleNote(key: ConceptKey): string {
  const limits = hardLimitsOf(key);
  const { abbreviation, unit } = CONCEPTS[key];
  const why = limits ? outside(limits, unit) : 'is no number';
  return `implausible: ${abbreviation} ${why}; not used, measure again`;
}
