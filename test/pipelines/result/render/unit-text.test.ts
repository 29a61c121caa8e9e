import { expect, test } from 'vitest';
import { listOfLabels, unitText, withUnit } from '../../../../pipelines/result/render/unit-text.ts';

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
  ['deg', '°'],
  ['1', ''],
])('the unit %s is read as "%s"', (ucum, text) => {
  expect(unitText(ucum)).toBe(text);
});

test.each([
  ['12.3', 'mm', '12.3 mm'],
  ['115 ± 6', 'deg', '115 ± 6°'],
  ['146', '{beats}/min', '146/min'],
  ['1.15', '1', '1.15'],
])('the number %s with the unit %s is written "%s"', (number, ucum, text) => {
  expect(withUnit(number, ucum)).toBe(text);
});

test.each([
  [['LA area', 'LA area', 'LVEF'], 'LA area, LVEF'],
  [['LA area, A4C', 'LVEF'], 'LA area, A4C; LVEF'],
  [[...'abcdefghijkl'], 'a, b, c, d, e, f, g, h, i, j, k, l'],
  [[...'abcdefghijklm'], '13 values, among them a, b, c'],
])('the labels %j are listed as "%s"', (labels, text) => {
  expect(listOfLabels(labels)).toBe(text);
});
