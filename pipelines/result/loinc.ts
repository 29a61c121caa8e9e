/** Whether the digit behind the dash is the mod-10 check digit of a LOINC code. */
export function hasValidCheckDigit(code: string): boolean {
  const [, body = '', check] = /^(\d+)-(\d)$/.exec(code) ?? [];
  if (!check) return false;
  const digits = [...body].toReversed().map(Number);
  const doubled = (digit: number) => (digit > 4 ? 2 * digit - 9 : 2 * digit);
  const sum = digits.reduce((total, digit, i) => total + (i % 2 === 0 ? doubled(digit) : digit), 0);
  return (10 - (sum % 10)) % 10 === Number(check);
}
