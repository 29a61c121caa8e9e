import { describe, expect, it } from 'vitest';
import type { ChamberClip } from '../../../pipelines/echo/chambers/geometry.ts';
import { heartOutlines, outlinedValues } from '../../../pipelines/echo/evidence.ts';
import { noteOf } from './rendered.ts';
import { BEAT, beatingClip, HEALTHY, SYSTOLE } from './ventricle-sample.ts';

const read = (clips: readonly ChamberClip[], volumesTrusted = true) =>
  outlinedValues(heartOutlines({ clips, volumesTrusted }));

const outlinedValue = (measurements: ReturnType<typeof read>, key: string) =>
  measurements.find(({ concept }) => concept.key === key);

/** Returns the volume of half an ellipsoid in ml. */
const volume = (base: number, length: number) => ((Math.PI / 6) * base * base * length) / 1000;

const EDV = volume(50, 90);
const ESV = volume(36, 74);
const EF = (100 * (EDV - ESV)) / EDV;

describe('one plane of a calibrated clip', () => {
  const values = read([beatingClip('A4C', HEALTHY, { scale: { x: 0.5, y: 0.5 } })]);

  it('gives volumes within 2 % and EF within a point', () => {
    expect((outlinedValue(values, 'lvedv-4c')?.value ?? 0) / EDV).toBeCloseTo(1, 1.5);
    expect((outlinedValue(values, 'lvesv-4c')?.value ?? 0) / ESV).toBeCloseTo(1, 1.5);
    expect(Math.abs((outlinedValue(values, 'lvef-4c')?.value ?? 0) - EF)).toBeLessThan(1);
  });
  it('states the frames of end-diastole and end-systole, with the outlines drawn there', () => {
    const [filled, emptied] = [
      outlinedValue(values, 'lvedv-4c'),
      outlinedValue(values, 'lvesv-4c'),
    ];
    expect(filled?.source.frame).toBe(1);
    expect(emptied?.source.frame).toBe(Math.round(SYSTOLE * 50) + 1);
    expect(filled?.source.calipers[0]).toMatchObject({ type: 'polygon' });
  });
  it('gives the length of 9.0 cm and no biplane volume', () => {
    expect(outlinedValue(values, 'lv-length-4c')?.value).toBeCloseTo(9, 1);
    expect(outlinedValue(values, 'lvedv-biplane')).toBeUndefined();
  });
  it('averages the beats and says how many', () => {
    expect(outlinedValue(values, 'lvedv-4c')).toMatchObject({ derivation: 'mean' });
    expect(noteOf(outlinedValue(values, 'lvedv-4c'))).toContain('2 beats');
  });
});

describe('two planes', () => {
  const narrow = {
    diastole: { ...HEALTHY.diastole, base: 44 },
    systole: { ...HEALTHY.systole, base: 32 },
  };
  const values = read([beatingClip('A4C', HEALTHY), beatingClip('A2C', narrow)]);

  it('pair their discs: base 5.0 by 4.4, length 9 is 103.7 ml (echo 4.2)', () => {
    expect((outlinedValue(values, 'lvedv-biplane')?.value ?? 0) / 103.67).toBeCloseTo(1, 1.5);
    expect(outlinedValue(values, 'lvedv-biplane')?.inputs).toEqual([
      'lvedv-4c-outlined',
      'lvedv-2c-outlined',
    ]);
  });
  it('give the atrial volume by the discs of both', () => {
    expect(outlinedValue(values, 'la-volume-biplane')?.value).toBeGreaterThan(20);
  });
});

describe('a clip without a scale', () => {
  const values = read([beatingClip('A4C', HEALTHY, { scale: null })]);

  it('has an EF, reported as a ratio only, and no size', () => {
    expect(Math.abs((outlinedValue(values, 'lvef-4c')?.value ?? 0) - EF)).toBeLessThan(1);
    expect(noteOf(outlinedValue(values, 'lvef-4c'))).toContain(
      'ratio only; volumes not calibrated',
    );
    for (const key of ['lvedv-4c', 'lv-ed-area-4c', 'lv-length-4c', 'la-area-4c']) {
      expect([key, outlinedValue(values, key)]).toEqual([key, undefined]);
    }
  });
  it('has a strain, which needs no scale', () => {
    expect(outlinedValue(values, 'gls-end-systolic-4c')?.value).toBeLessThan(-10);
  });
});

describe('what is withheld', () => {
  it('without a second network volumes and EF are withheld, and the outline stays', () => {
    const values = read([beatingClip('A4C', HEALTHY)], false);
    expect(outlinedValue(values, 'lvef-4c')).toMatchObject({ quality: 'low' });
    expect(noteOf(outlinedValue(values, 'lvedv-4c'))).toMatch(/no permitted model/);
    expect(outlinedValue(values, 'lv-ed-area-4c')).toMatchObject({ quality: 'accepted' });
  });
  const joint = {
    percent: 58,
    confidence: 0.9,
    diastole: 0,
    systole: 18,
  };
  it('the mean of both networks comes first if they agree', () => {
    const clip = beatingClip('A4C', HEALTHY, { ejections: [{ ...joint, accepted: true }] });
    expect(outlinedValue(read([clip]), 'lvef-networks')).toMatchObject({
      value: 58,
      quality: 'accepted',
    });
  });
  it('if they do not agree, neither their mean nor the disc volumes are reported', () => {
    const clip = beatingClip('A4C', HEALTHY, { ejections: [{ ...joint, accepted: false }] });
    const values = read([clip]);
    expect(outlinedValue(values, 'lvef-networks')).toMatchObject({ quality: 'low' });
    expect(outlinedValue(values, 'lvef-4c')).toMatchObject({ quality: 'low' });
  });
  it('faulty frames are not measured, and without a sound frame there is no value', () => {
    const clip = beatingClip('A4C', HEALTHY);
    const frames = clip.frames.map((frame) => ({ ...frame, faults: ['wall-missing'] as const }));
    expect(read([{ ...clip, frames }])).toEqual([]);
  });
});

describe('outlines that jump', () => {
  it('are not measured: every third frame shows an atrium as a ventricle', () => {
    const clip = beatingClip('A4C', HEALTHY);
    const lost = beatingClip('A4C', {
      diastole: { ...HEALTHY.diastole, base: 30 },
      systole: HEALTHY.systole,
    });
    const frames = clip.frames.map((frame, i) => (i % 3 === 0 ? (lost.frames[i] ?? frame) : frame));
    expect(read([{ ...clip, frames }])).toEqual([]);
    expect(
      heartOutlines({ clips: [{ ...clip, frames }], volumesTrusted: true }).outlined[0],
    ).toMatchObject({
      steady: false,
    });
  });
});

describe('the phases', () => {
  it('follow the R waves if the header has them', () => {
    const clip = beatingClip('A4C', HEALTHY, { rWaves: [0, BEAT] });
    expect(heartOutlines({ clips: [clip], volumesTrusted: true }).outlined[0]?.phases).toBe('ecg');
  });
});

describe('a clip shorter than a beat', () => {
  it('gives no value: its extremes need not be end-diastole and end-systole', () => {
    const whole = beatingClip('A4C', HEALTHY);
    const part = (from: number, seconds: number) => {
      const frames = whole.frames.filter(({ time }) => time >= from && time <= from + seconds);
      return read([{ ...whole, frames, framesInClip: frames.length, rWaves: [] }]);
    };
    expect(outlinedValue(part(0.1, 1.1 * BEAT), 'lvef-4c')).toBeDefined();
    for (const from of [0, 0.1, 0.2, 0.3]) expect(part(from, 0.45 * BEAT)).toEqual([]);
  });
});

describe('a clip of only end-diastole and end-systole', () => {
  const whole = beatingClip('A4C', HEALTHY);
  const of = (...indices: number[]): ChamberClip => ({
    ...whole,
    framesInClip: indices.length,
    frames: indices.flatMap((index) => whole.frames[index] ?? []),
  });
  const systole = Math.round(SYSTOLE * 50);

  it.each([
    ['in their order', [0, systole]],
    ['the other way round', [systole, Math.round(BEAT * 50)]],
  ])('is measured %s: the largest and the smallest cavity serve as ED and ES', (_what, indices) => {
    const ef = outlinedValue(read([of(...indices)]), 'lvef-4c');
    expect(Math.abs((ef?.value ?? 0) - EF)).toBeLessThan(1);
    expect(noteOf(ef)).toContain('clip of 2 frames: the largest and smallest cavities');
  });

  it('gives nothing if both frames show the same cavity', () => {
    expect(outlinedValue(read([of(0, 0)]), 'lvef-4c')).toBeUndefined();
  });
});

describe('an outline with a fault', () => {
  const clip = beatingClip('A4C', HEALTHY);
  const faulty = (from: number, to: number) => ({
    ...clip,
    frames: clip.frames.map((frame) =>
      frame.time >= from && frame.time < to
        ? { ...frame, chamberFaults: { la: 'dented' as const } }
        : frame,
    ),
  });

  it('in every beat withholds the atrium with the reason, but not the ventricle', () => {
    const values = read([faulty(0, 10)]);
    for (const key of ['la-area-4c', 'la-length-4c', 'la-volume-4c']) {
      expect([key, outlinedValue(values, key)?.quality]).toEqual([key, 'inadequate']);
    }
    expect(noteOf(outlinedValue(values, 'la-volume-4c'))).toContain(
      'the LA outline has an anatomically implausible indentation',
    );
    expect(outlinedValue(values, 'lvedv-4c')?.quality).toBe('accepted');
  });

  it('in one beat leaves the mean of the others', () => {
    const area = outlinedValue(read([faulty(0, BEAT)]), 'la-area-4c');
    expect(area?.quality).toBe('accepted');
    expect(noteOf(area)).toContain('from one beat');
  });

  it('is found for an atrium too small in comparison with its ventricle', () => {
    const small = {
      ...clip,
      frames: clip.frames.map((frame) => ({
        ...frame,
        outlines: {
          ...frame.outlines,
          la: (frame.outlines.la ?? []).map(({ x, y }) => ({ x, y: 150 + 0.65 * (y - 150) })),
        },
      })),
    };
    const area = outlinedValue(read([small]), 'la-area-4c');
    expect(area?.quality).toBe('inadequate');
    expect(noteOf(area)).toContain('is too small relative to the LV');
  });
});
