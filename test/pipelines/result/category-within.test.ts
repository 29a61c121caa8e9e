import { describe, expect, it } from 'vitest';
import { categoryWithin } from '../../../pipelines/result/section-outcome.ts';

const depth = (mm: number) => (mm < 20 ? 'low' : mm < 80 ? 'normal' : 'high');

describe('the category of a value with an interval', () => {
  it.each([
    [80.3, 5.6, null, ['normal', 'high']],
    [85.9, 5.6, 'high', null],
    // An interval does not include its ends.
    [85.6, 5.6, 'high', null],
    [74.4, 5.6, 'normal', null],
    [74.5, 5.6, null, ['normal', 'high']],
    [50, 40, null, ['low', 'high']],
    [50, 0, 'normal', null],
  ] as const)('%d ± %d', (value, uncertainty, category, between) => {
    expect(categoryWithin({ value, uncertainty }, depth)).toEqual({ category, between });
  });

  it("is that of the value if no interval is known, as for a machine's value", () => {
    expect(categoryWithin({ value: 80, uncertainty: null }, depth)).toEqual({
      category: 'high',
      between: null,
    });
  });
});
