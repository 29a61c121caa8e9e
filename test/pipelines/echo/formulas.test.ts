import { describe, expect, it } from 'vitest';
import { bodyMassIndex, indexingArea, isChildSized } from '../../../pipelines/echo/formulas.ts';

describe('height and weight (echo 0.6)', () => {
  it.each([
    [119.9, 50, false],
    [120, 50, true],
    [220, 80, true],
    [220.1, 80, false],
    [160, 29.9, false],
    [160, 30, true],
    [160, 250, true],
    [160, 250.1, false],
    [null, 70, false],
    [175, null, false],
  ])('of %s cm and %s kg are used for an index: %s', (height, weight, used) => {
    expect(bodyMassIndex(height, weight) !== null).toBe(used);
    expect(indexingArea(height, weight) !== null).toBe(used);
  });

  it('give no surface area outside 1 to 3.2 m²', () => {
    expect(indexingArea(122, 31)).toBeCloseTo(1.006, 3);
    expect(indexingArea(120, 30)).toBeNull();
    expect(indexingArea(220, 240)).toBeNull();
  });
});

describe('a patient as small as a child', () => {
  it.each([
    [120, 30, 1, false],
    [119.9, 30, 1, true],
    [120, 29.9, 1, true],
    [120, 30, 0.99, true],
    [119.9, null, null, true],
    [null, 29.9, null, true],
    [null, null, 0.99, true],
    [null, null, null, false],
  ])('%s cm, %s kg and %s m²: %s', (height, weight, area, small) => {
    expect(isChildSized(height, weight, area)).toBe(small);
  });
});
