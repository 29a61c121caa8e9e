import { describe, expect, test } from 'vitest';
import { centileText, zScoreText } from '../../../../pipelines/result/render/unit-text.ts';

describe('a centile (obstetric 0.3)', () => {
  test.each([
    [0.4, '<1'],
    [0.999, '<1'],
    [1, '1'],
    [42.4, '42'],
    [58.9, '59'],
    [99, '99'],
    [99.2, '>99'],
  ])('%d reads "%s"', (centile, text) => expect(centileText(centile)).toBe(text));

  test.each([
    [2.96, '2.96'],
    [3, '3'],
    [3.04, '3.04'],
    [4.7, '4.7'],
    [9.6, '9.6'],
    [9.96, '9.96'],
    [9.9996, '9.9996'],
    [10, '10'],
    [10.4, '10.4'],
    [89.7, '89.7'],
    [90.2, '90.2'],
    [95.3, '95.3'],
    [96.96, '96.96'],
    [97.4, '97.4'],
  ])('%d reads "%s": never rounded to a cut-off that it does not have', (centile, text) => {
    expect(centileText(centile)).toBe(text);
  });
});

describe('a z-score', () => {
  test.each([
    [0.338761, '0.3'],
    [-0.04, '0.0'],
    [-1.94, '-1.9'],
    [-2, '-2.0'],
    [-2.04, '-2.04'],
    [-1.96, '-1.96'],
    [-3.001, '-3.001'],
    [5.02, '5.02'],
  ])('%d reads "%s"', (z, text) => expect(zScoreText(z)).toBe(text));
});
