import { expect, it } from 'vitest';
import { inSentence } from '../../../../pipelines/result/render/obstetric/shared.ts';

it.each([
  ['The images do not state the route', 'the images do not state the route'],
  ['A deeper pocket was seen', 'a deeper pocket was seen'],
  ['A wave reversed', 'A wave reversed'],
  ["E/e' 14", "E/e' 14"],
  ['LVEF 35 %', 'LVEF 35 %'],
  ['A4C discs', 'A4C discs'],
  ['Doppler is needed', 'Doppler is needed'],
  ['Teichholz assumes a round ventricle', 'Teichholz assumes a round ventricle'],
])('writes "%s" inside a sentence as "%s"', (sentence, clause) => {
  expect(inSentence(sentence)).toBe(clause);
});
