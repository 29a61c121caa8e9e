const SUPERSCRIPTS: Readonly<Record<string, string>> = { 2: '²', 3: '³' };

/**
 * A UCUM unit as a person reads it: without annotations in braces, exponents raised (`cm²`), nothing
 * for a bare number.
 */
export function unitText(unit: string): string {
  if (unit === '1') return '';
  return unit
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll('[Hg]', 'Hg')
    .replaceAll(/(?<=[a-z])[23](?=$|[/.])/g, (digit) => SUPERSCRIPTS[digit] ?? digit);
}
