/** A criterion of a decision rule. */
export interface Criterion {
  name: string;
  /** Null: not available, which is no negative criterion. */
  met: boolean | null;
}

/** True where one is; null where none is known. */
export function any(...conditions: readonly (boolean | null)[]): boolean | null {
  const known = conditions.filter((condition) => condition !== null);
  return known.length === 0 ? null : known.some((condition) => condition);
}

/** "met: A, B; not met: C; not available: D": no grade without what it was made of (reference 10.7). */
export function criteriaInWords(criteria: readonly Criterion[]): string {
  const of = (words: string, wanted: boolean | null) => {
    const names = criteria.flatMap(({ name, met }) => (met === wanted ? [name] : []));
    return names.length > 0 ? [`${words}: ${names.join(', ')}`] : [];
  };
  return [...of('met', true), ...of('not met', false), ...of('not available', null)].join('; ');
}
