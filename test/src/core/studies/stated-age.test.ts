import { describe, expect, test } from 'vitest';
import { statedAgeByLmp } from '../../../../src/core/studies/instance-header.ts';

const code = (CodeValue: string, CodingSchemeDesignator: string) => [
  { CodeValue, CodingSchemeDesignator },
];
const number = (value: unknown, unit: string) => ({
  NumericValue: value,
  MeasurementUnitsCodeSequence: code(unit, 'UCUM'),
});
const inReport = (concept: string, value: unknown, unit: string, scheme = 'LN') => ({
  ContentSequence: [
    { ConceptNameCodeSequence: code('121111', 'DCM') },
    {
      ConceptNameCodeSequence: code('121118', 'DCM'),
      ContentSequence: [
        {
          ConceptNameCodeSequence: code(concept, scheme),
          MeasuredValueSequence: [number(value, unit)],
        },
      ],
    },
  ],
});

describe('the gestational age by LMP that a cart states', () => {
  test.each([
    ['in days', inReport('11885-1', '140', 'd'), 140],
    ['in weeks, with the days as a fraction', inReport('11885-1', 20.43, 'wk'), 143],
    ['as the first of several values', inReport('11885-1', ['140', '141'], 'd'), 140],
    [
      'in the acquisition context of an image',
      {
        AcquisitionContextSequence: [
          { ConceptNameCodeSequence: code('11885-1', 'LN'), ...number('98', 'd') },
        ],
      },
      98,
    ],
  ])('is read %s', (_what, dataSet, days) => {
    expect(statedAgeByLmp(dataSet)).toBe(days);
  });

  test.each([
    ['an age worked out from the scan', inReport('11888-5', '140', 'd')],
    ['the code of another scheme', inReport('11885-1', '140', 'd', '99LOCAL')],
    ['an unknown unit', inReport('11885-1', '5', 'mo')],
    ['an empty value', inReport('11885-1', undefined, 'd')],
    ['no content at all', {}],
    ['content that is no sequence', { ContentSequence: 'x' }],
  ])('is not %s', (_what, dataSet) => {
    expect(statedAgeByLmp(dataSet)).toBeNull();
  });
});

describe('the due date that a cart states', () => {
  const due = (dates: Record<string, string>, StudyDate = '20260302') => ({
    StudyDate,
    ContentSequence: [
      {
        ConceptNameCodeSequence: code('121118', 'DCM'),
        ContentSequence: Object.entries(dates).map(([concept, date]) => ({
          ConceptNameCodeSequence: code(concept, 'LN'),
          Date: date,
        })),
      },
    ],
  });

  test.each([
    ['of no stated origin', { '11778-8': '20260710' }, 150],
    ['by last period, before any other', { '11778-8': '20260901', '11779-6': '20260710' }, 150],
    [
      'beside one of the scan that is another',
      { '11778-8': '20260710', '11781-2': '20260717' },
      150,
    ],
    ['that is the one of the scan', { '11778-8': '20260710', '11781-2': '20260710' }, null],
    ['of the scan alone', { '11781-2': '20260710' }, null],
    ['that is no date', { '11778-8': '2026' }, null],
  ])('%s', (_what, dates, days) => {
    expect(statedAgeByLmp(due(dates))).toBe(days);
  });

  test('is ignored without a study date', () => {
    expect(statedAgeByLmp(due({ '11778-8': '20260710' }, ''))).toBeNull();
  });

  test('comes after a stated age', () => {
    const [summary] = due({ '11778-8': '20260710' }).ContentSequence;
    const [, findings] = inReport('11885-1', 140, 'd').ContentSequence;
    const dataSet = { StudyDate: '20260302', ContentSequence: [summary, findings] };
    expect(statedAgeByLmp(dataSet)).toBe(140);
  });
});
