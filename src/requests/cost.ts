import type { PriceLine } from './endpoint.ts';
import type { Cost } from './row.ts';

const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/** Sum of decimal strings, exact, with at least two decimals. @throws on anything not a decimal */
export function sumDecimals(amounts: readonly string[]): string {
  const split = amounts.map((amount) => {
    const match = DECIMAL.exec(amount);
    if (!match) throw new Error(`"${amount}" is not a decimal amount`);
    return { whole: match[1] ?? '0', fraction: match[2] ?? '' };
  });
  const decimals = Math.max(2, ...split.map(({ fraction }) => fraction.length));
  const total = split.reduce(
    (sum, { whole, fraction }) => sum + BigInt(whole + fraction.padEnd(decimals, '0')),
    0n,
  );
  const digits = total.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** What a request costs that ended without a result, or that a test key made. */
export const NO_COST: Cost = { currency: 'USD', total: '0.00', lines: [] };

/** What a request costs when it succeeds; calls with a test key are free. */
export function costOf(lines: PriceLine[], test: boolean): Cost {
  if (test) return NO_COST;
  return { currency: 'USD', total: sumDecimals(lines.map(({ amount }) => amount)), lines };
}
