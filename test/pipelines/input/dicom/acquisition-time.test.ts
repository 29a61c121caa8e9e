import { describe, expect, it } from 'vitest';
import { dayNumber } from '../../../../pipelines/dicom/dates.ts';
import {
  acquisitionTimeOf,
  secondsFromFirst,
} from '../../../../pipelines/input/dicom/acquisition-time.ts';

const TAGS = {
  acquisitionDateTime: 0x0008002a,
  acquisitionDate: 0x00080022,
  acquisitionTime: 0x00080032,
  contentDate: 0x00080023,
  seriesDate: 0x00080021,
  studyDate: 0x00080020,
  studyTime: 0x00080030,
};

const takenAt = (header: Partial<Record<keyof typeof TAGS, string>>) =>
  acquisitionTimeOf(
    new Map(Object.entries(header).map(([name, text]) => [TAGS[name as keyof typeof TAGS], text])),
  );

describe('the time of acquisition', () => {
  const studyDate = '20260302';

  it.each([
    ['of the study', { studyDate }, '20260302'],
    ['of the series, before that of the study', { seriesDate: '20260303', studyDate }, '20260303'],
    ['of acquisition', { acquisitionDate: '20260304', studyDate }, '20260304'],
  ])('has the date %s', (_which, dates, day) => {
    const taken = takenAt({ ...dates, acquisitionTime: '101500', studyTime: '100000' });
    expect(taken).toEqual({ day: dayNumber(day), seconds: 10 * 3600 + 15 * 60 });
  });

  it('has no date if the header has none', () => {
    expect(takenAt({ acquisitionTime: '101500' })).toMatchObject({ day: null });
  });

  it('tells how long before the study an earlier examination was, without Acquisition Date', () => {
    const prior = takenAt({ studyDate: '20260301', acquisitionTime: '101500' });
    const current = takenAt({ studyDate, acquisitionTime: '101500' });
    const tenFifteen = 36_900;
    expect(secondsFromFirst([current], [prior])).toEqual({
      current: [0],
      priors: [tenFifteen - 86_400],
    });
  });

  it('is on the next day if midnight was between the start of the study and the image', () => {
    const study = { studyDate, studyTime: '235800' };
    const times = ['235900', '000300'].map((acquisitionTime) =>
      takenAt({ ...study, acquisitionTime }),
    );
    expect(secondsFromFirst(times).current).toEqual([0, 240]);
    expect(takenAt({ ...study, acquisitionTime: '090000' })).toMatchObject({
      day: dayNumber(studyDate),
    });
  });

  it.each([
    ['early on its day, late on that of the study', '000000', '235959'],
    ['late on its day, early on that of the study', '235959', '000000'],
  ])('puts a prior 14 days before within the 14th day: %s', (_, then, now) => {
    const prior = takenAt({ studyDate: '20260216', acquisitionTime: then });
    const { priors } = secondsFromFirst([takenAt({ studyDate, acquisitionTime: now })], [prior]);
    expect(Math.floor((priors[0] ?? 0) / 86_400)).toBe(-14);
  });
});
