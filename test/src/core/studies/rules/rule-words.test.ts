import { describe, expect, it } from 'vitest';
import { routingSchema } from '../../../../../config/routing.ts';
import {
  type ConditionWords,
  conditionWords,
  factText,
} from '../../../../../src/core/studies/rules/rule-words.ts';

const linesOf = (words: readonly ConditionWords[], indent = ''): string[] =>
  words.flatMap(({ text, pattern, parts = [] }) => [
    `${indent}${text}${pattern ? ` /${pattern}/` : ''}`,
    ...linesOf(parts, `${indent}  `),
  ]);

const wordsOf = (when: object) => {
  const { rules } = routingSchema.parse({ rules: [{ name: 'one', when, ignore: true }] });
  return linesOf(conditionWords(rules[0]?.when ?? {}));
};

describe('the words of a rule', () => {
  it.each([
    [{ modality: 'US' }, 'Modality is US'],
    [{ view: { in: ['A4C', 'A2C'] } }, 'View on the images is one of A4C, A2C'],
    [{ studyDescription: { matches: 'obstetric' } }, 'Study description contains “obstetric”'],
    [{ studyDescription: { matches: '^OB|fetal' } }, 'Study description matches /^OB|fetal/'],
    [{ studyDescription: { exists: false } }, 'Study description has no value'],
    [{ attributes: { PatientAge: { range: { to: 17 } } } }, 'Patient age is 17 or less'],
    [{ timeOfDay: { from: '18:00', to: '07:30' } }, 'Time of day is 18:00 to 07:30'],
  ])('%o: %s', (when, text) => expect(wordsOf(when)).toEqual([text]));

  it('list the parts of a combined condition below it', () => {
    expect(
      wordsOf({ any: [{ modality: 'US', source: 'cart' }, { not: { calledAeTitle: 'TEST' } }] }),
    ).toEqual([
      'At least one of these',
      '  All of these',
      '    Source is cart',
      '    Modality is US',
      '  Not',
      '    Called AE title is TEST',
    ]);
  });

  it('state attributes by their DICOM keyword, and tags unchanged', () => {
    expect(factText('attribute ProcedureCodeSequence.CodeMeaning')).toBe(
      'Procedure code sequence: Code meaning',
    );
    expect(factText('attribute (0018,6031)')).toBe('(0018,6031)');
  });
});
