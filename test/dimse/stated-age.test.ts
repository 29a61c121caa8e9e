import { describe, expect, test } from 'vitest';
import { statedAgeByLmp } from '../../dimse/stated-age.ts';

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
