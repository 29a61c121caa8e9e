import { describe, expect, test } from 'vitest';
import { acquisitionDateTime, fhirDate, fhirDateTime } from '../../../fhir/resources/dates.ts';
import { sampleSubject } from '../sample.ts';

describe('DICOM DT becomes a FHIR dateTime', () => {
  test.each<[string, string, string | undefined]>([
    ['20260304101112.5+0100', '', '2026-03-04T10:11:12.500+01:00'],
    ['20260304101112', '-0330', '2026-03-04T10:11:12-03:30'],
    ['202603041011', '+0000', '2026-03-04T10:11:00+00:00'],
    ['20260304101160', '+0000', '2026-03-04T10:11:59+00:00'],
    ['20260304101112', '', '2026-03-04'],
    ['20260304235959', '+0000', '2026-03-04T23:59:59+00:00'],
    ['20260304241112', '+0000', '2026-03-04'],
    ['20260304236012', '+0000', '2026-03-04'],
    ['2026030410', '+0100', '2026-03-04'],
    ['20260304', '+0100', '2026-03-04'],
    ['202603', '', '2026-03'],
    ['2026', '', '2026'],
    ['20260230', '', undefined],
    ['', '+0100', undefined],
    ['yesterday', '', undefined],
  ])('%s with offset "%s" is %s', (dt, offset, expected) => {
    expect(fhirDateTime(dt, offset)).toBe(expected);
  });
});

test.each([
  ['19900402', '1990-04-02'],
  ['1990', undefined],
  ['19901301', undefined],
])('DA %s is %s', (da, expected) => {
  expect(fhirDate(da)).toBe(expected);
});

describe('the time of a scan', () => {
  const at = (change: Parameters<typeof sampleSubject>[1]) => {
    const { identity } = sampleSubject('req_1', change);
    return identity && acquisitionDateTime(identity);
  };
  test('is the acquisition time, with the offset from the header', () => {
    expect(at({ AcquisitionDateTime: '20260304093000' })).toBe('2026-03-04T09:30:00+01:00');
  });
  test('is the study time if there is no acquisition time', () => {
    expect(at({})).toBe('2026-03-04T10:11:12.500+01:00');
  });
  test('is only a day if the study has no readable time', () => {
    expect(at({ StudyTime: '10' })).toBe('2026-03-04');
  });
  test('is unknown if there is no date', () => {
    expect(at({ StudyDate: '', StudyTime: '' })).toBeUndefined();
  });
});
