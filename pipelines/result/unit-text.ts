/** A UCUM unit as a person reads it: without annotations in braces, nothing for a bare number. */
export function unitText(unit: string): string {
  return unit === '1' ? '' : unit.replaceAll(/\{[^}]*\}/g, '').replaceAll('[Hg]', 'Hg');
}
