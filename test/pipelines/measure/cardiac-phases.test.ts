import { describe, expect, it } from 'vitest';
import { cardiacPhases } from '../../../pipelines/measure/cardiac-phases.ts';

const RATE = 50;

/**
 * Returns the areas of a cavity over time. It is largest at `start` and every `beat` seconds after
 * that, and smallest 40 % of a beat later.
 */
function course(seconds: number, beat: number, start: number, least = 60) {
  return Array.from({ length: Math.round(seconds * RATE) }, (_, i) => {
    const time = i / RATE;
    const within = (((time - start) % beat) + beat) % beat;
    const phase = within < 0.4 * beat ? within / (0.4 * beat) : 1 - (within / beat - 0.4) / 0.6;
    return { time, area: 100 - ((100 - least) * (1 - Math.cos(Math.PI * phase))) / 2 };
  });
}

const timesOf = (samples: readonly { time: number }[], indices: readonly number[]) =>
  indices.map((index) => samples[index]?.time ?? Number.NaN);

describe('with R waves', () => {
  it('finds end-diastole within 80 ms of the R wave and end-systole 40 % later', () => {
    const samples = course(2.2, 0.8, 0.13);
    const { beats, source } = cardiacPhases(samples, [0.15, 0.95, 1.75], null);
    expect(source).toBe('ecg');
    const ends = timesOf(
      samples,
      beats.map(({ diastole }) => diastole),
    );
    expect(ends[0]).toBeCloseTo(0.13, 1);
    expect(ends[1]).toBeCloseTo(0.93, 1);
    const systoles = timesOf(
      samples,
      beats.map(({ systole }) => systole),
    );
    expect(systoles[0]).toBeCloseTo(0.45, 1);
  });
  it('leaves out a beat whose systole is not in the clip', () => {
    const samples = course(1.1, 0.8, 0.13);
    expect(cardiacPhases(samples, [0.15, 0.95], null).beats).toHaveLength(1);
  });
  it('does not simply use the frame nearest the R wave: the cavity may be largest after it', () => {
    const samples = course(1.8, 0.9, 0.2);
    const [beat] = cardiacPhases(samples, [0.14, 1.04], null).beats;
    expect(samples[beat?.diastole ?? 0]?.time).toBeCloseTo(0.2, 2);
  });
});

describe('without an ECG', () => {
  it('finds the beats in the course of the area, with the heart rate of the header', () => {
    const samples = course(2.1, 0.8, 0.3);
    const { beats, source } = cardiacPhases(samples, [], 75);
    expect(source).toBe('area');
    expect(
      timesOf(
        samples,
        beats.map(({ diastole }) => diastole),
      )[0],
    ).toBeCloseTo(0.3, 1);
  });
  it('finds them even without a heart rate, from two beats on', () => {
    const { beats } = cardiacPhases(course(2.4, 0.8, 0.1), [], null);
    expect(beats.length).toBeGreaterThanOrEqual(2);
    expect(beats[0]?.interval).toBeCloseTo(0.8, 1);
  });
  it('uses the largest and the smallest of a loop of one beat', () => {
    const samples = course(1.1, 1.2, 0.02);
    const { beats } = cardiacPhases(samples, [], null);
    expect(beats).toHaveLength(1);
    expect(beats[0]?.interval).toBeNull();
  });
  it.each([
    ['0.42 s of a beat of 0.98 s, as in a real loop of 12 frames', 0.42, 0.98, 0.1, 61],
    ['0.9 s of a beat of unknown length', 0.9, 1.2, 0.1, null],
    ['a beat that ends before end-systole', 0.85, 1, 0.5, 60],
    ['as much without a heart rate', 0.85, 1, 0.5, null],
  ])('shows none in %s', (_, seconds, beat, start, heartRate) => {
    const samples = course(seconds, beat, start);
    expect(cardiacPhases(samples, [], heartRate).beats).toEqual([]);
  });
  it.each([null, 61])('shows none in filling alone, with a heart rate of %s', (heartRate) => {
    // A real loop whose frame times were twice those of its heart rate.
    const filling = course(1.1, 2.2, 1.1).map((one, i) => ({
      ...one,
      area: one.area + Math.max(0, 6 - 2 * i),
    }));
    expect(cardiacPhases(filling, [], heartRate).beats).toEqual([]);
  });
  it.each([
    ['in the middle of systole', 0.6],
    ['at end-systole', 0.48],
  ])('finds the beat of a loop that starts %s', (_, start) => {
    const samples = course(0.82, 0.8, start);
    expect(cardiacPhases(samples, [], 75).beats).toHaveLength(1);
  });
  it('leaves out a beat that began before the clip, because its end-diastole is not seen', () => {
    const samples = course(2, 0.8, 0.6);
    const { beats } = cardiacPhases(samples, [], 75);
    expect(samples[0]?.area).toBeLessThan(90);
    const ends = beats.map(({ diastole }) => samples[diastole]?.area ?? 0);
    expect(Math.min(...ends)).toBeGreaterThan(98);
  });
  it('takes two pictures as end-diastole and end-systole, whatever their times', () => {
    const pair = [
      { time: 0, area: 100 },
      { time: 0.033, area: 60 },
    ];
    expect(cardiacPhases(pair, [], null).beats).toEqual([
      { diastole: 0, systole: 1, interval: null },
    ]);
  });
  it.each([
    [97, 0],
    [90, 1],
  ])('a cavity that falls to %d %% shows %d beats', (least, expected) => {
    expect(cardiacPhases(course(0.75, 0.8, 0, least), [], 75).beats).toHaveLength(expected);
  });
  it('a still shows none', () => {
    expect(cardiacPhases([{ time: 0, area: 100 }], [], null).beats).toEqual([]);
  });
});
