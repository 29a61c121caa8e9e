import { describe, expect, test, vi } from 'vitest';
import { calendarDate, contentTime, dayNumber, isoDate } from '../../../pipelines/dicom/dates.ts';
import { IDENTITY } from '../artifacts/example-subject.ts';

describe('a date', () => {
  test.each([
    ['20240301', { year: 2024, month: 3, day: 1 }],
    ['2024.03.01', { year: 2024, month: 3, day: 1 }],
    ['20240229', { year: 2024, month: 2, day: 29 }],
  ])('%s is read in both forms of DA', (text, date) => {
    expect(calendarDate(text)).toEqual(date);
  });

  test.each(['20230229', '20240231', '20240431', '20241301', '20240100', '00500101', '2024', ''])(
    '%j is no day of the calendar, and no day is counted from it',
    (text) => {
      expect([calendarDate(text), dayNumber(text)]).toEqual([null, null]);
    },
  );
});

const INSTANT = '2026-12-31T23:45:06.789Z';
const at = (TimezoneOffsetFromUTC: string) =>
  contentTime(INSTANT, { ...IDENTITY, TimezoneOffsetFromUTC });

describe('the time of the content', () => {
  test.each([
    ['+0000', '20261231', '234506.789'],
    ['+0200', '20270101', '014506.789'],
    ['-0330', '20261231', '201506.789'],
    ['+1400', '20270101', '134506.789'],
  ])("is in the source images' offset: %s", (offset, date, time) => {
    expect(at(offset)).toEqual({ date, time, offset });
  });

  test.each(['', 'CEST', '+2'])(
    'is in the offset of this machine, which is stated, if the offset is %j',
    (given) => {
      const { date, time, offset } = at(given);
      const parts = `${date}${time}`.match(/^(....)(..)(..)(..)(..)(.*)$/)?.slice(1) ?? [];
      const [year, month, day, hour, minute, second] = parts;
      const zone = `${offset.slice(0, 3)}:${offset.slice(3)}`;
      const named = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
      expect(new Date(named).toISOString()).toBe(INSTANT);
    },
  );

  test.each([
    ['in summer', '20260715', '101500', '+0200', '20270101', '014506.789'],
    ['in winter', '20261201', '101500', '+0100', '20270101', '004506.789'],
    ['before the clocks change', '20261025', '005959', '+0200', '20270101', '014506.789'],
    ['after they have changed', '20261025', '030000', '+0100', '20270101', '004506.789'],
    ['just after the missing hour', '20260329', '030000', '+0200', '20270101', '014506.789'],
    ['without a date', '', '', '+0100', '20270101', '004506.789'],
  ])(
    'of a study %s is in the offset of that time in Berlin',
    (_, day, clock, offset, date, time) => {
      vi.stubEnv('TZ', 'Europe/Berlin');
      const study = { StudyDate: day, StudyTime: clock, TimezoneOffsetFromUTC: '' };
      const found = contentTime(INSTANT, { ...IDENTITY, ...study });
      vi.unstubAllEnvs();
      expect(found).toEqual({ date, time, offset });
    },
  );

  test('is UTC without identity, because the offset could reveal where the images are from', () => {
    expect(contentTime(INSTANT, null).offset).toBe('+0000');
  });
});

describe('a date as text', () => {
  test.each([
    ['20260115', '2026-01-15'],
    ['1994.01.30', '1994-01-30'],
    ['20260115 ', '2026-01-15'],
    ['1994.0130', null],
    ['94.01.30', null],
    ['', null],
  ])('%j is %s', (date, text) => {
    expect(isoDate(date)).toBe(text);
  });
});
