import { describe, expect, it } from 'vitest';
import { measuredClip } from '../../../../pipelines/echo/chambers/beats.ts';
import { type ChamberClip, ventricleFigure } from '../../../../pipelines/echo/chambers/geometry.ts';
import { heartOutlines } from '../../../../pipelines/echo/evidence.ts';
import { segmentMotions } from '../../../../pipelines/measure/wall.ts';
import { beatingClip, HEALTHY, shortAxisClip } from '../ventricle-sample.ts';

const segmentsOf = (clips: readonly ChamberClip[]) =>
  heartOutlines({ clips, volumesTrusted: true }).segments;

const segment = (clips: readonly ChamberClip[], number: number) =>
  segmentsOf(clips).find((one) => one.segment === number);

/** The wall on the left of the picture neither thickens nor moves inwards. */
const STILL_LEFT = {
  diastole: HEALTHY.diastole,
  systole: { base: 30, length: 74, wall: 13, leftShare: 50 / 30, leftWall: HEALTHY.diastole.wall },
};

describe('a ventricle that contracts everywhere', () => {
  const clips = [
    beatingClip('A4C', HEALTHY),
    beatingClip('A2C', HEALTHY),
    beatingClip('A3C', HEALTHY),
  ];
  it('has 16 segments that move normally', () => {
    const scored = segmentsOf(clips).filter(({ score }) => score !== null);
    expect(scored.map(({ segment: number }) => number)).toEqual(
      Array.from({ length: 16 }, (_, i) => i + 1),
    );
    expect(scored.every(({ score }) => score === 1)).toBe(true);
  });
  it('shortens by segment, and has an apex that is the mean of the apical segments', () => {
    const strains = segmentsOf(clips).map(({ strain }) => strain ?? 0);
    expect(Math.max(...strains)).toBeLessThan(0);
    expect(strains[16]).toBeCloseTo(
      ((strains[12] ?? 0) + (strains[13] ?? 0) + (strains[14] ?? 0) + (strains[15] ?? 0)) / 4,
      0,
    );
  });
});

describe('the strain of a segment', () => {
  const spread = (strains: readonly number[]) => Math.max(...strains) - Math.min(...strains);
  const middle = (strains: readonly number[]) =>
    strains.reduce((sum, strain) => sum + strain, 0) / strains.length;

  it('keeps a third of its difference from the mean of the view, as the rest is mostly noise', () => {
    const clip = beatingClip('A4C', STILL_LEFT);
    const [beat] = measuredClip(clip).beats;
    if (!beat) throw new Error('the clip has no beat');
    const contour = segmentMotions(ventricleFigure(beat.diastole), ventricleFigure(beat.systole));
    const own = contour.map(({ strain }) => strain);
    const shown = [3, 6, 9, 12, 14, 16].map((number) => segment([clip], number)?.strain ?? 0);
    expect(spread(own)).toBeGreaterThan(6);
    expect(spread(shown)).toBeCloseTo(spread(own) / 3, 1);
    expect(middle(shown)).toBeCloseTo(middle(own), 1);
  });
});

describe('segments by view', () => {
  it.each([
    ['A4C', [3, 6, 9, 12, 14, 16]],
    ['A2C', [1, 4, 7, 10, 13, 15]],
    ['A3C', [2, 5, 8, 11, 13, 16]],
  ] as const)('%s shows %j', (view, expected) => {
    const seen = segmentsOf([beatingClip(view, HEALTHY)]).filter(({ readings }) => readings.length);
    expect(seen.map(({ segment: number }) => number)).toEqual(expected);
  });
});

describe('a wall that does not move', () => {
  const clip = beatingClip('A4C', STILL_LEFT);

  it('is the inferoseptal one of an A4C: it does not thicken, and moves less than the other', () => {
    const [still, moving] = [9, 12].map((number) => segment([clip], number)?.readings[0]);
    expect(still?.thickening).toBeLessThan(10);
    expect(moving?.thickening).toBeGreaterThan(30);
    expect(still?.excursion).toBeLessThan((moving?.excursion ?? 0) / 1.5);
  });
  it.each([
    ['inferior one of an A2C', 'A2C', 10, 7],
    ['inferolateral one of an A3C', 'A3C', 11, 8],
  ] as const)('is the %s', (_, view, still, moving) => {
    const own = beatingClip(view, STILL_LEFT);
    expect(segment([own], still)?.readings[0]?.thickening).toBeLessThan(10);
    expect(segment([own], moving)?.readings[0]?.thickening).toBeGreaterThan(30);
  });
  it('is suspected in one view, but not scored', () => {
    expect(segment([clip], 9)?.score).toBeNull();
    expect(segment([clip], 9)?.suspected).toBeGreaterThan(1);
  });
  it('cannot be distinguished from stiff outlines if no other wall of the view moves', () => {
    const weak = { diastole: HEALTHY.diastole, systole: { base: 45, length: 88, wall: 9 } };
    const found = segmentsOf([beatingClip('A4C', weak), beatingClip('A3C', weak)]);
    expect(found.every(({ score, suspected }) => score === null && suspected === null)).toBe(true);
  });
  it('is accepted everywhere if both LVEF networks agree that it is reduced', () => {
    const weak = { diastole: HEALTHY.diastole, systole: { base: 45, length: 88, wall: 9 } };
    const joint = { accepted: true, confidence: 0.9 };
    const beat = { ...joint, diastole: 0, systole: 18 };
    const four = (percent: number) =>
      beatingClip('A4C', weak, { ejections: [{ ...beat, percent }] });
    const three = beatingClip('A3C', weak);
    expect(segment([four(51), three], 16)?.score).toBeGreaterThan(1);
    expect(segment([four(52), three], 16)?.score).toBeNull();
  });
  it('is scored if a short axis shows the same wall standing still', () => {
    const walls = (still: boolean) => shortAxisClip(still ? 9 : null);
    const scored = (still: boolean) =>
      heartOutlines({ clips: [clip], volumesTrusted: true }, { clips: [walls(still)] }).segments[8];
    expect(scored(true)?.score).toBeGreaterThan(1);
    expect(scored(false)?.score).toBeNull();
    expect(scored(false)?.suspected).toBeGreaterThan(1);
  });
  it('is the other wall if the display is mirrored', () => {
    const mirrored = beatingClip('A4C', STILL_LEFT, { mirrored: true });
    expect(segment([mirrored], 9)?.readings[0]?.thickening).toBeGreaterThan(30);
    expect(segment([mirrored], 12)?.readings[0]?.thickening).toBeLessThan(10);
  });
});
