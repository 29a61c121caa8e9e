import {
  excursionScore,
  type MotionScore,
  thickeningScore,
} from '../../pipelines/echo/guidelines/wall-motion.ts';
import type { Result } from '../../pipelines/result/envelope.ts';
import type { SegmentTruth } from '../phantom/heart/wall-motion.ts';

/** One segment of one heart: its true score, and what the product said. */
export interface WallCase {
  segment: number;
  truth: MotionScore;
  score: MotionScore | null;
  suspected: MotionScore | null;
}

/** By thickening, as the guide values of the reference (9) have it; outward motion is dyskinesia. */
const truthOf = ({ thickening, excursion }: SegmentTruth): MotionScore =>
  excursionScore(excursion) === 4 ? 4 : thickeningScore(thickening);

interface Said {
  segment: number;
  score: MotionScore | null;
  suspected: MotionScore | null;
}

const isSaid = (one: unknown): one is Said =>
  typeof one === 'object' && one !== null && 'segment' in one && 'score' in one;

/** Every segment of a study; a section that was not assessed said nothing of any. */
export function wallCases(
  walls: readonly SegmentTruth[],
  { sections }: Pick<Result, 'sections'>,
): WallCase[] {
  const data = sections.find(({ id }) => id === 'wall-motion')?.data ?? {};
  const said = Array.isArray(data.segments) ? data.segments.filter(isSaid) : [];
  return walls.map((wall) => {
    const own = said.find(({ segment }) => segment === wall.segment);
    return {
      segment: wall.segment,
      truth: truthOf(wall),
      score: own?.score ?? null,
      suspected: own?.suspected ?? null,
    };
  });
}

/** Agreement over segments, counted. */
export interface WallAgreement {
  segments: number;
  reduced: number;
  scored: number;
  exact: number;
  withinOne: number;
  /** Truly reduced, said normal. */
  missed: number;
  /** Truly normal, said reduced. */
  invented: number;
  suspected: number;
  suspectedRightly: number;
}

export function wallAgreement(walls: readonly WallCase[]): WallAgreement {
  const count = (test: (one: WallCase) => boolean) => walls.filter(test).length;
  const apart = ({ score, truth }: WallCase) => Math.abs((score ?? Number.NaN) - truth);
  return {
    segments: walls.length,
    reduced: count(({ truth }) => truth > 1),
    scored: count(({ score }) => score !== null),
    exact: count((one) => apart(one) === 0),
    withinOne: count((one) => apart(one) <= 1),
    missed: count(({ truth, score }) => truth > 1 && score === 1),
    invented: count(({ truth, score }) => truth === 1 && score !== null && score > 1),
    suspected: count(({ suspected }) => suspected !== null),
    suspectedRightly: count(({ suspected, truth }) => suspected !== null && truth > 1),
  };
}

const LEVELS = [
  { name: 'basal', from: 1, to: 6 },
  { name: 'mid', from: 7, to: 12 },
  { name: 'apical', from: 13, to: 16 },
] as const;

/** The agreement by level as a table of Markdown, as `docs/echo.md` has it. */
export function wallTable(walls: readonly WallCase[]): string {
  const row = (name: string, own: readonly WallCase[]) => {
    const all = wallAgreement(own);
    const figures = [
      all.segments,
      all.reduced,
      all.scored,
      all.exact,
      all.withinOne,
      all.missed,
      all.invented,
      `${all.suspected} (${all.suspectedRightly})`,
    ];
    return `| ${[name, ...figures].join(' | ')} |`;
  };
  return [
    '| segments | of hearts | truly reduced | scored | as they are | within one | reduced, said normal | normal, said reduced | suspected (rightly) |',
    '|---|---|---|---|---|---|---|---|---|',
    ...LEVELS.map(({ name, from, to }) =>
      row(
        name,
        walls.filter(({ segment }) => segment >= from && segment <= to),
      ),
    ),
    row('all', walls),
  ].join('\n');
}
