import { describe, expect, it } from 'vitest';
import { costOf, sumDecimals } from '../../../../src/core/requests/request.ts';

const line = (item: string, amount: string) => ({ item, quantity: 1, unit_price: amount, amount });

describe('cost', () => {
  it.each([
    [[], '0.00'],
    [['0.08'], '0.08'],
    [['0.08', '0.02'], '0.10'],
    [['0.1', '0.2'], '0.30'],
    [['0.125', '1'], '1.125'],
    [['99999999999999999.99', '0.01'], '100000000000000000.00'],
  ])('of %j is exactly %s', (amounts, total) => {
    expect(sumDecimals(amounts)).toBe(total);
  });

  it.each(['-1', '1e3', '', '1.', ' 1'])('refuses %j as an amount', (amount) => {
    expect(() => sumDecimals([amount])).toThrow('not a decimal amount');
  });

  it('is zero for a test key', () => {
    expect(costOf([line('us/test', '0.08')], true)).toEqual({
      currency: 'USD',
      total: '0.00',
      lines: [],
    });
  });
});
