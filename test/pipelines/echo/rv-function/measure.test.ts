import { describe, expect, it } from 'vitest';
import type { Point } from '../../../../pipelines/contract/image.ts';
import { heartOutlines, outlinedValues } from '../../../../pipelines/echo/evidence.ts';
import { noteOf } from '../rendered.ts';
import {
  BEAT,
  beatingClip,
  HEALTHY,
  type VentricleShape,
  ventricleOutlines,
} from '../ventricle-sample.ts';

/**
 * Returns an A4C in which a right ventricle of this size beats next to a healthy left one.
 * @param second dimensions in the second beat, if they differ.
 */
function withRightVentricle(
  diastole: VentricleShape,
  systole: VentricleShape,
  second: readonly [VentricleShape, VentricleShape] = [diastole, systole],
) {
  const clip = beatingClip('A4C', HEALTHY);
  const left = clip.frames.map(({ outlines }) => width(outlines.lv ?? []));
  const [widest, least] = [Math.max(...left), Math.min(...left)];
  const frames = clip.frames.map((frame, n) => {
    const squeeze = (widest - (left[n] ?? widest)) / (widest - least);
    const mix = (one: number, other: number) => one + squeeze * (other - one);
    const [filled, emptied] = frame.time < BEAT ? [diastole, systole] : second;
    const shape = {
      base: mix(filled.base, emptied.base),
      length: mix(filled.length, emptied.length),
      wall: 4,
    };
    const drawn = ventricleOutlines(shape);
    const aside = ({ x, y }: Point) => ({ x: x - 55, y: y - 18 * squeeze });
    const [rv, ra] = [drawn.lv.map(aside), drawn.la.map(aside)];
    return {
      ...frame,
      outlines: { ...frame.outlines, rv, ra },
      confidence: { ...frame.confidence, rv: 0.9, ra: 0.9 },
    };
  });
  const values = outlinedValues(
    heartOutlines({ clips: [{ ...clip, frames }], volumesTrusted: true }),
  );
  return (key: string) => values.find(({ concept }) => concept.key === key);
}

const width = (outline: readonly { x: number }[]) =>
  Math.max(...outline.map(({ x }) => x)) - Math.min(...outline.map(({ x }) => x));

const OF_VENTRICLE = [
  'rv-ed-area',
  'rv-es-area',
  'rv-basal',
  'rv-mid',
  'tapse',
  'rv-to-lv',
  'rv-to-lv-area',
] as const;

describe('the right ventricle of an A4C', () => {
  it('is measured if its outline is credible', () => {
    const value = withRightVentricle(
      { base: 34, length: 75, wall: 4 },
      { base: 26, length: 56, wall: 4 },
    );
    for (const key of OF_VENTRICLE) expect([key, value(key)?.quality]).toEqual([key, 'accepted']);
    expect(Math.abs((value('rv-basal')?.value ?? 0) - 34)).toBeLessThan(1);
    // The RV is 34 of 50 mm wide and has a smaller share of the area, so it is normal.
    expect(value('rv-to-lv')?.value).toBeCloseTo(0.68, 1);
    expect(value('rv-to-lv-area')?.value).toBeLessThan(0.6);
  });

  it('is withheld entirely if one size is impossible: the ratio would have been "normal"', () => {
    const value = withRightVentricle(
      { base: 7, length: 75, wall: 4 },
      { base: 6, length: 56, wall: 4 },
    );
    expect(noteOf(value('rv-basal'))).toContain('outside the plausible');
    for (const key of OF_VENTRICLE) expect([key, value(key)?.quality]).toEqual([key, 'inadequate']);
    // These values would be plausible on their own, but they have the remark.
    const notes = OF_VENTRICLE.map((key) => noteOf(value(key)));
    expect(notes.join()).toContain('the RV outline is not reliable');
  });

  it('is withheld if it is not smaller in systole', () => {
    const value = withRightVentricle(
      { base: 30, length: 70, wall: 4 },
      { base: 38, length: 66, wall: 4 },
    );
    for (const key of OF_VENTRICLE) expect([key, value(key)?.quality]).toEqual([key, 'inadequate']);
    expect(noteOf(value('tapse'))).toContain('no smaller in systole');
  });

  it('is withheld if its beats contradict each other, since their mean is the value of neither', () => {
    const [wide, narrow] = [
      { base: 34, length: 75, wall: 4 },
      { base: 20, length: 56, wall: 4 },
    ];
    const growing = { base: 36, length: 78, wall: 4 };
    const value = withRightVentricle(wide, narrow, [wide, growing]);
    for (const key of OF_VENTRICLE) expect([key, value(key)?.quality]).toEqual([key, 'inadequate']);
    expect(noteOf(value('rv-to-lv'))).toContain('the beats contradict each other');
  });

  it('does not affect the left heart', () => {
    const value = withRightVentricle(
      { base: 7, length: 75, wall: 4 },
      { base: 6, length: 56, wall: 4 },
    );
    expect(value('lvef-4c')?.quality).toBe('accepted');
  });
});
