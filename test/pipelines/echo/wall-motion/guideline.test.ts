import { describe, expect, it } from 'vitest';
import {
  excursionScore,
  isAbsent,
  motionScore,
  regionalStatement,
  territoryOf,
  thickeningScore,
} from '../../../../pipelines/echo/wall-motion/guideline.ts';

describe('score of a segment from its outlines (echo 9)', () => {
  it.each([
    [31, 1],
    [30.4, 2],
    [30, 2],
    [10, 2],
    [9.4, 3],
    [0, 3],
    [-0.4, 3],
    [-0.5, 4],
    [-12, 4],
  ])('thickening of %d %% scores %d', (thickening, score) =>
    expect(thickeningScore(thickening)).toBe(score),
  );
  it.each([
    [21, 1],
    [20, 2],
    [5, 2],
    [4.4, 3],
    [-5, 3],
    [-5.6, 4],
  ])('inward motion of %d %% scores %d', (excursion, score) =>
    expect(excursionScore(excursion)).toBe(score),
  );
  it.each([
    ['both normal', 40, 30, 1],
    ['moves normally, thickens less', 10, 21, 1],
    ['moves normally, does not thicken: they do not agree', 9, 21, null],
    ['thickens normally, moves less: they do not agree', 31, 20, null],
    ['thickens normally, does not move', 40, 0, null],
    ['both reduced', 30, 20, 2],
    ['one reduced, one absent: the milder', 5, 10, 2],
    ['both absent', 5, 0, 3],
    ['outwards, thickening absent: dyskinetic', 9, -6, 4],
    ['outwards at the tolerance, thickening absent', 9, -5, 3],
    ['outwards, thickening reduced: look at thickening', 10, -15, 2],
    ['thinning, motion absent: dyskinetic', -1, 4, 4],
    ['thinning and outwards: dyskinetic', -20, -15, 4],
    ['thinning, and moving inwards: one sign against another', -1, 5, 2],
    ['thinning, and moving normally: they do not agree', -12, 21, null],
    ['thickness not seen, motion normal', null, 21, 1],
    ['thickness not seen, motion reduced', null, 20, 2],
    ['thickness not seen, outwards', null, -6, 4],
  ])('%s', (_, thickening, excursion, score) =>
    expect(motionScore(thickening, excursion)).toBe(score),
  );
  it.each([
    [10, 5, false],
    [9, 5, true],
    [10, 4, true],
    [null, 5, false],
    [null, 4, true],
  ])('thickening of %d %% and motion of %d %%: absent %s', (thickening, excursion, absent) =>
    expect(isAbsent(thickening, excursion)).toBe(absent),
  );
});

describe('wall motion and territories (echo 9)', () => {
  const scores = (abnormal: Record<number, number>) =>
    new Map(Array.from({ length: 16 }, (_, i) => [i + 1, abnormal[i + 1] ?? 1] as const));

  it('has every segment in one territory', () => {
    const all = [...territoryOf('LAD'), ...territoryOf('RCA'), ...territoryOf('LCx')];
    expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
  });

  it.each([
    ['all normal', {}, { kind: 'none' }],
    ['two neighbours on a ring', { 1: 2, 2: 3 }, { kind: 'territory', artery: 'LAD' }],
    ['two neighbours of the inferior wall', { 3: 2, 4: 2 }, { kind: 'territory', artery: 'RCA' }],
    ['two apical neighbours', { 13: 2, 14: 2 }, { kind: 'territory', artery: 'LAD' }],
    ['two neighbours across rings', { 4: 2, 10: 2 }, { kind: 'territory', artery: 'RCA' }],
    [
      'two neighbours of the septum and the inferior wall',
      { 9: 2, 10: 2 },
      { kind: 'territory', artery: 'RCA' },
    ],
    [
      'mid and apical neighbours of the inferior wall',
      { 10: 2, 15: 2 },
      { kind: 'territory', artery: 'RCA' },
    ],
    ['mid and apical neighbours', { 11: 2, 16: 2 }, { kind: 'territory', artery: 'LCx' }],
    ['one segment', { 13: 4 }, { kind: 'regional' }],
    ['two apart in one territory', { 1: 2, 14: 2 }, { kind: 'regional' }],
    ['an abnormal one outside', { 1: 2, 2: 2, 4: 2 }, { kind: 'regional' }],
  ])('%s', (_, abnormal, expected) => {
    expect(regionalStatement(scores(abnormal))).toEqual(expected);
  });

  const scored = (segments: readonly number[], score: number) =>
    new Map(segments.map((segment) => [segment, score] as const));
  const MID_AND_APICAL = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
  it.each([
    [
      'all sixteen segments',
      scored(
        Array.from({ length: 16 }, (_, i) => i + 1),
        2,
      ),
      'global',
    ],
    ['the ten that two views can show', scored(MID_AND_APICAL, 2), 'global'],
    ['eight of all three territories', scored(MID_AND_APICAL.slice(0, 8), 2), 'global'],
    ['seven', scored(MID_AND_APICAL.slice(0, 7), 2), 'regional'],
    ['eight of two territories', scored([1, 2, 7, 8, 13, 14, 3, 4], 2), 'regional'],
    ['akinesia of all ten', scored(MID_AND_APICAL, 3), 'regional'],
    ['one of ten is akinetic', new Map([...scored(MID_AND_APICAL, 2), [7, 3]]), 'regional'],
    ['one of eleven is normal', new Map([...scored(MID_AND_APICAL, 2), [1, 1]]), 'regional'],
  ] as const)('hypokinesis of the scored segments, %s', (_, all, kind) => {
    expect(regionalStatement(all).kind).toBe(kind);
  });
});
