import { CONCEPTS, type ConceptKey } from '../../pipelines/concepts/concepts.ts';
import {
  excursionScore,
  type MotionScore,
  thickeningScore,
} from '../../pipelines/echo/wall-motion/guideline.ts';
import type { Result } from '../../pipelines/result/envelope.ts';
import { unitText } from '../../pipelines/result/render/unit-text.ts';
import type { SegmentTruth } from '../phantom/heart/wall-motion.ts';
import { mean, round } from './agreement.ts';
import type { SimulatedStudy, StudyTruth } from './echo-study-phantoms.ts';

/** One segment of one heart, with its true score and the product's score. */
export interface WallCase {
  segment: number;
  truth: MotionScore;
  score: MotionScore | null;
  suspected: MotionScore | null;
}

/**
 * Derives the true score from the thickening, using the guide values (echo 9). Outward motion is
 * dyskinesia.
 */
const truthOf = ({ thickening, excursion }: SegmentTruth): MotionScore =>
  excursionScore(excursion) === 4 ? 4 : thickeningScore(thickening);

interface ScoredSegment {
  segment: number;
  score: MotionScore | null;
  suspected: MotionScore | null;
}

const isScored = (one: unknown): one is ScoredSegment =>
  typeof one === 'object' && one !== null && 'segment' in one && 'score' in one;

/** Returns every segment of a study. A section that was not assessed has no scores. */
export function wallCases(
  walls: readonly SegmentTruth[],
  { sections }: Pick<Result, 'sections'>,
): WallCase[] {
  const data = sections.find(({ id }) => id === 'wall-motion')?.data ?? {};
  const said = Array.isArray(data.segments) ? data.segments.filter(isScored) : [];
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

interface WallAgreement {
  segments: number;
  reduced: number;
  scored: number;
  exact: number;
  withinOne: number;
  /** Number of truly reduced segments that were scored as normal. */
  missed: number;
  /** Number of truly normal segments that were scored as reduced. */
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

/** Renders the agreement for each level as the Markdown table in `docs/echo.md`. */
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

/** One study: the phantom's truth and the product's result. */
export interface StudyCase {
  seed: number;
  truth: StudyTruth;
  said: readonly { key: ConceptKey; value: number | null; quality: string; note: string | null }[];
  walls: readonly WallCase[];
}

export function studyCase(
  seed: number,
  { truth, walls }: Pick<SimulatedStudy, 'truth' | 'walls'>,
  result: Result,
): StudyCase {
  const said = result.measurements.map(({ concept, value, quality, note }) => ({
    key: concept.key as ConceptKey,
    value,
    quality,
    note: note ?? null,
  }));
  return { seed, truth, said, walls: wallCases(walls, result) };
}

/** Agreement for one quantity over all studies, in the unit of its concept. */
interface QuantityAgreement {
  key: ConceptKey;
  studies: number;
  /** Number of values that a user could not use because they were not found or not accepted. */
  withheld: number;
  meanAbsoluteError: number | null;
  bias: number | null;
  centile95: number | null;
  largest: number | null;
}

/**
 * Returns the agreement for each quantity that a perfect reader could measure, over the studies
 * that have it.
 */
export function studyAgreement(cases: readonly StudyCase[]): QuantityAgreement[] {
  const keys = [...new Set(cases.flatMap(({ truth }) => Object.keys(truth) as ConceptKey[]))];
  return keys.map((key) => {
    const errors = errorsOf(cases, key);
    const given = errors.flatMap(({ error }) => error ?? []);
    const sizes = given.map(Math.abs).toSorted((a, b) => a - b);
    const of = (value: number | undefined) => (value === undefined ? null : round(value, 2));
    return {
      key,
      studies: errors.length,
      withheld: errors.length - given.length,
      meanAbsoluteError: of(given.length > 0 ? mean(sizes) : undefined),
      bias: of(given.length > 0 ? mean(given) : undefined),
      centile95: of(sizes[Math.ceil(0.95 * sizes.length) - 1]),
      largest: of(sizes.at(-1)),
    };
  });
}

/**
 * Returns, for each study with a true value, the true value, the measured value and the error
 * (measured minus true). Measured value and error are null if the product withheld the value.
 */
export function errorsOf(cases: readonly StudyCase[], key: ConceptKey) {
  return cases.flatMap(({ seed, truth, said }) => {
    const reference = truth[key];
    if (reference === undefined || !Number.isFinite(reference)) return [];
    const own = said.find((one) => one.key === key && one.quality === 'accepted');
    const value = own?.value ?? null;
    const reason = said.find((one) => one.key === key)?.note ?? 'not measured';
    return [{ seed, reference, value, error: value === null ? null : value - reference, reason }];
  });
}

/** Renders the agreement as the Markdown table in `docs/echo.md`. */
export function agreementTable(rows: readonly QuantityAgreement[]): string {
  const figure = (value: number | null) => (value === null ? '' : String(value));
  const lines = rows.map(
    ({ key, studies, withheld, meanAbsoluteError, bias, centile95, largest }) => {
      const { label, unit } = CONCEPTS[key];
      const errors = [meanAbsoluteError, bias, centile95, largest].map(figure);
      return `| ${[`${label} (${unitText(unit)})`, studies, withheld, ...errors].join(' | ')} |`;
    },
  );
  return [
    '| quantity | studies | withheld | mean error | bias | 95th centile | largest |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

/**
 * Returns the number of studies without pericardial fluid, and the number of these in which the
 * product reports fluid.
 */
export function inventedFluid(cases: readonly StudyCase[]): { without: number; invented: number } {
  const without = cases.filter(({ truth }) => truth['effusion-depth'] === undefined);
  const invented = without.filter(({ said }) =>
    said.some(({ key, quality }) => key === 'effusion-depth' && quality === 'accepted'),
  );
  return { without: without.length, invented: invented.length };
}
