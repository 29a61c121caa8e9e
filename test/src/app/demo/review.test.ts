import { describe, expect, it } from 'vitest';
import { bundleLines, numberText, sideBySide } from '../../../../src/app/demo/review.ts';

describe('two documents side by side', () => {
  it('contain only the lines that differ, with those of one place next to each other', () => {
    const before = ['Flag: UNVERIFIED', 'HC = 287.4 mm', 'FL = 57.7 mm'];
    const after = ['Flag: VERIFIED', 'Observer: Ada', 'HC = 287.4 mm', 'FL = 54.8 mm'];
    const cell = (text: string) => text.padEnd(20);
    expect(sideBySide(before, after, 43)).toEqual([
      `${cell('Flag: UNVERIFIED')} │ Flag: VERIFIED`,
      `${cell('')} │ Observer: Ada`,
      `${cell('FL = 57.7 mm')} │ FL = 54.8 mm`,
    ]);
  });

  it('show a value beside the new value of the same name', () => {
    const before = ['Algorithm: AI', 'FL = 39.5 mm', 'Probability = 0.8'];
    const after = ['FL = 37.5 mm', 'Comment: entered by the reader'];
    const cell = (text: string) => text.padEnd(20);
    expect(sideBySide(before, after, 43)).toEqual([
      `${cell('Algorithm: AI')} │`,
      `${cell('FL = 39.5 mm')} │ FL = 37.5 mm`,
      `${cell('Probability = 0.8')} │`,
      `${cell('')} │ Comment: entered by`,
      `${cell('')} │   the reader`,
    ]);
  });

  it('show the whole of a long line, so that the difference is visible', () => {
    const [before, after] = ['Sac seen; CRL 18.4 mm; age 8+3 weeks', 'Sac seen; CRL 17.4 mm'];
    expect(sideBySide([before], [after], 43)).toEqual([
      'Sac seen; CRL 18.4   │ Sac seen; CRL 17.4',
      '  mm; age 8+3 weeks  │   mm',
    ]);
  });

  it('are empty if nothing differs', () => {
    expect(sideBySide(['HC = 287.4 mm'], ['HC = 287.4 mm'])).toEqual([]);
  });

  it('of FHIR count the statuses, and list values without them', () => {
    const observation = (text: string, value: number) => ({
      resource: {
        resourceType: 'Observation' as const,
        status: 'final' as const,
        code: { text },
        valueQuantity: { value, unit: 'mm' },
      },
    });
    const entry = [observation('Femur length', 54.8), observation('Head circumference', 287.4)];
    expect(bundleLines({ resourceType: 'Bundle', type: 'transaction', entry })).toEqual([
      'Observations: 2 final',
      'Femur length = 54.8 mm',
      'Head circumference = 287.4 mm',
    ]);
  });
});

it.each([
  [18.35680605, 'mm', '18.36 mm'],
  [0.8163265306, '1', '0.8163'],
  [1219, 'g', '1219 g'],
])('a number of the report, %d %s, is printed as %s', (value, unit, text) => {
  expect(numberText(value, unit)).toBe(text);
});
