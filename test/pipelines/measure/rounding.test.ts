import { describe, expect, it } from 'vitest';
import { fixed, fixedOffCutOffs, rounded } from '../../../pipelines/measure/rounding.ts';

describe('a value as it is shown', () => {
  it.each([
    [5.85, 1, '5.9'],
    [5.849, 1, '5.8'],
    [1.45, 1, '1.5'],
    [2.55, 1, '2.6'],
    [4.35, 1, '4.4'],
    [-0.05, 1, '-0.1'],
    [49.5, 0, '50'],
    [20, 2, '20.00'],
  ])('%s with %i decimals is %s, half away from zero', (value, decimals, text) => {
    expect(fixed(value, decimals)).toBe(text);
  });

  it('is zero if it is almost zero, and never NaN', () => {
    expect(rounded(2e-8, 0)).toBe(0);
    expect(rounded(-1e-9, 3)).toBe(0);
  });

  it('stays unchanged if it is very large', () => {
    expect(rounded(123456789.25, 1)).toBe(123456789.3);
  });
});

describe('a value near a cut-off is shown on its side of it', () => {
  it.each([
    [19.97, 1, [20], '19.97'],
    [20, 1, [20], '20.0'],
    [20.04, 1, [20], '20.04'],
    [19.9, 1, [20], '19.9'],
    [3.4996, 1, [3.5], '3.4996'],
    [2.34, 1, [2.3308], '2.34'],
    [-0.04, 1, [0, 20], '-0.04'],
    [50 * 0.4, 1, [20], '20.0'],
    [20 + 4e-15, 1, [20], '20.0'],
    [19.97, 1, [], '20.0'],
  ])('%s with %i decimals and the cut-offs %j is %s', (value, decimals, cutOffs, text) => {
    expect(fixedOffCutOffs(value, decimals, cutOffs)).toBe(text);
  });
});
