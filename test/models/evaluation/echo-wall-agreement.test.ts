import { describe, expect, it } from 'vitest';
import {
  type WallCase,
  wallAgreement,
  wallCases,
  wallTable,
} from '../../../models/evaluation/echo-study-agreement.ts';
import type { SegmentTruth } from '../../../models/phantom/heart/wall-motion.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';

const wall = (segment: number, thickening: number, excursion: number): SegmentTruth => ({
  segment,
  thickening,
  excursion,
});

const resultWith = (data: Record<string, unknown>): Pick<Result, 'sections'> => ({
  sections: [
    {
      id: 'wall-motion',
      title: 'Wall motion',
      status: 'partial',
      reason: null,
      summary: '',
      data,
      artifacts: [],
    },
  ],
});

describe('the true score of a segment', () => {
  it.each([
    ['thickens by more than 30 %', 31, 25, 1],
    ['thickens by 30 %', 30, 25, 2],
    ['thickens by less than 10 %', 9, 10, 3],
    ['moves outwards', 12, -6, 4],
  ])('%s', (_, thickening, excursion, truth) =>
    expect(wallCases([wall(1, thickening, excursion)], resultWith({}))[0]?.truth).toBe(truth),
  );
});

describe("the product's results for each segment", () => {
  it('are read from their section', () => {
    const segments = [{ segment: 7, score: null, suspected: 2 }];
    const [six, seven] = wallCases([wall(6, 40, 30), wall(7, 40, 30)], resultWith({ segments }));
    expect(six).toEqual({ segment: 6, truth: 1, score: null, suspected: null });
    expect(seven).toEqual({ segment: 7, truth: 1, score: null, suspected: 2 });
  });
});

describe('agreement over segments', () => {
  const one = (
    segment: number,
    truth: WallCase['truth'],
    score: WallCase['score'],
    suspected: WallCase['suspected'] = null,
  ): WallCase => ({ segment, truth, score, suspected });
  const walls = [
    one(1, 1, 1),
    one(2, 3, 2),
    one(7, 2, 1),
    one(8, 1, 2),
    one(13, 4, 1),
    one(14, 2, null, 2),
    one(15, 1, null, 3),
  ];

  it('counts correct, missed and invented findings', () =>
    expect(wallAgreement(walls)).toEqual({
      segments: 7,
      reduced: 4,
      scored: 5,
      exact: 1,
      withinOne: 4,
      missed: 2,
      invented: 1,
      suspected: 2,
      suspectedRightly: 1,
    }));
  it('is printed in a table by level', () => {
    const lines = wallTable(walls).split('\n');
    expect(lines.at(-1)).toBe('| all | 7 | 4 | 5 | 1 | 4 | 2 | 1 | 2 (1) |');
    expect(lines.at(-2)).toBe('| apical | 3 | 2 | 1 | 0 | 0 | 1 | 0 | 2 (1) |');
  });
});
