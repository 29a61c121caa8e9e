import { expect, test } from 'vitest';
import { unitText } from '../../../../pipelines/result/render/unit-text.ts';

test.each([
  ['mm', 'mm'],
  ['cm2', 'cm²'],
  ['ml/m2', 'ml/m²'],
  ['cm2/m2', 'cm²/m²'],
  ['cm3', 'cm³'],
  ['mm[Hg]', 'mmHg'],
  ['mm/mm[Hg]', 'mm/mmHg'],
  ['{beats}/min', '/min'],
  ['mm[H2O]', 'mm[H2O]'],
  ['1', ''],
])('the unit %s is read as "%s"', (ucum, text) => {
  expect(unitText(ucum)).toBe(text);
});
