import { rounded } from '../../measure/rounding.ts';
import type { MyocardialSign } from '../../result/render/echo/diastolic.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import { type GradedQuantity, SEXES, type Sex } from '../shared/grading.ts';

/**
 * End-diastolic wall thickness, mm, at or above which each statement is made (CM23, HCM24; echo
 * 14.1).
 */
const WALL = { family: 13, criterion: 15, massive: 30 } as const;

const WALL_STATEMENTS = [
  'below criterion',
  'criterion only in first-degree relatives or genotype-positive',
  'meets wall-thickness criterion',
  'meets wall-thickness criterion, massive',
] as const;
export type WallStatement = (typeof WALL_STATEMENTS)[number];

/**
 * Returns true if the wall is thick enough to meet the criterion in every patient, not only in a
 * relative.
 */
export const meetsCriterion = (wall: WallStatement) =>
  wall === 'meets wall-thickness criterion' || wall === 'meets wall-thickness criterion, massive';

/**
 * Returns the statement for an adult's wall thickness, in mm. `family` is true if the patient is a
 * first-degree relative or genotype-positive, and null if this is not known.
 */
export function wallStatement(thickness: number, family: boolean | null): WallStatement {
  const shown = rounded(thickness, 0);
  if (shown >= WALL.massive) return 'meets wall-thickness criterion, massive';
  if (shown >= WALL.criterion) return 'meets wall-thickness criterion';
  if (shown < WALL.family) return 'below criterion';
  return family
    ? 'meets wall-thickness criterion'
    : 'criterion only in first-degree relatives or genotype-positive';
}

/**
 * Ratio of septum to posterior wall at or above which hypertrophy counts as asymmetric (echo 14.1).
 */
const ASYMMETRY = { from: 1.3, inHypertension: 1.5 } as const;

/**
 * Returns how certain it is that the hypertrophy is asymmetric; null if it is not asymmetric.
 * `without-hypertension`: the ratio is between the two limits, which is asymmetric only in a
 * patient without hypertension. The blood pressure is not known.
 */
export function asymmetryOf(
  septum: number,
  posterior: number,
): 'certain' | 'without-hypertension' | null {
  const ratio = rounded(septum / posterior, 2);
  if (ratio < ASYMMETRY.from) return null;
  return ratio < ASYMMETRY.inHypertension ? 'without-hypertension' : 'certain';
}

/**
 * LVOT gradients, mmHg: an obstruction is reported at or above `from`, and treatment is considered
 * at or above `treatment`.
 */
export const OBSTRUCTION = { from: 30, treatment: 50 } as const;

const OBSTRUCTIONS = [
  'obstructive at rest',
  'non-obstructive at rest, provocation not done',
  'provocable (labile) obstruction',
  'non-obstructive',
  'obstruction with provocation, rest not measured',
] as const;
type ObstructionRow = (typeof OBSTRUCTIONS)[number];
export type Obstruction = ObstructionRow | `${ObstructionRow}, at or above 50 mmHg`;

/**
 * Returns the category of outflow obstruction from the gradients at rest and on provocation, in
 * mmHg (echo 14.1).
 */
export function obstructionCategory(rest: number, provoked: number | null): Obstruction {
  const atRest = rounded(rest, 0);
  const raised = provoked === null ? null : rounded(provoked, 0);
  const category =
    atRest >= OBSTRUCTION.from
      ? 'obstructive at rest'
      : raised === null
        ? 'non-obstructive at rest, provocation not done'
        : raised >= OBSTRUCTION.from
          ? 'provocable (labile) obstruction'
          : 'non-obstructive';
  return withTreatment(category, Math.max(atRest, raised ?? 0));
}

const withTreatment = (category: ObstructionRow, most: number): Obstruction =>
  most >= OBSTRUCTION.treatment ? `${category}, at or above 50 mmHg` : category;

/**
 * Returns the category if only the provoked gradient, in mmHg, is known. The obstruction may then
 * be present at rest as well. Returns null for a gradient below the limit, because the category
 * then depends on the gradient at rest. The published table always requires the gradient at rest,
 * so this category is a convention of this project.
 */
export function provokedObstruction(provoked: number): Obstruction | null {
  const shown = rounded(provoked, 0);
  if (shown < OBSTRUCTION.from) return null;
  return withTreatment('obstruction with provocation, rest not measured', shown);
}

const CONVENTIONS: ReadonlySet<Obstruction> = new Set<Obstruction>([
  'non-obstructive at rest, provocation not done',
  'obstruction with provocation, rest not measured',
  'obstruction with provocation, rest not measured, at or above 50 mmHg',
]);

/**
 * Returns true if a category is a convention of this project ([C], echo 14.1) and not part of the
 * societies' tables.
 */
export const isConvention = (obstruction: Obstruction) => CONVENTIONS.has(obstruction);

/**
 * Product of RWT and E/e' below which amyloidosis is unlikely in a population screened for it
 * (AMYLI).
 */
export const AMYLI_RULE_OUT = 2.22;

const DILATED_PATTERNS = [
  'dilated LV with systolic dysfunction',
  'non-dilated LV dysfunction',
  'no dilated pattern',
] as const;

/**
 * Limits of the EF, per cent: the LV counts as dysfunctional below `ef`, and device therapy is
 * considered up to `device` (CM23).
 */
export const DYSFUNCTION = { ef: 50, device: 35 } as const;

const OPEN_PATTERNS = [
  'LV dysfunction, size unknown',
  'LV dysfunction, not dilated by diameter; volume index not measured',
  'LV dysfunction, not dilated by volume index; diameter not measured',
  'LV dysfunction; whether the LV is dilated depends on the sex, which is not known',
] as const;

export type DilatedPattern = (typeof DILATED_PATTERNS)[number] | (typeof OPEN_PATTERNS)[number];

export const isPublished = (pattern: DilatedPattern) =>
  DILATED_PATTERNS.some((one) => one === pattern);

/**
 * Returns the pattern for the size of the LV. One measure above its limit is enough for dilatation,
 * but both are needed to exclude it (echo 14.3).
 */
function sizePattern(sex: Sex, diameter: number | null, volumeIndex: number | null) {
  if (diameter === null && volumeIndex === null) return OPEN_PATTERNS[0];
  const { diastolicDiameter, edvIndex } = LEFT_VENTRICLE;
  const wide = diameter !== null && rounded(diameter, 1) > diastolicDiameter[sex].normal[1];
  const large = volumeIndex !== null && rounded(volumeIndex, 0) > edvIndex[sex].normal[1];
  if (wide || large) return DILATED_PATTERNS[0];
  if (volumeIndex === null) return OPEN_PATTERNS[1];
  return diameter === null ? OPEN_PATTERNS[2] : DILATED_PATTERNS[1];
}

/**
 * Returns the pattern for an EF in per cent, a diameter in cm and a volume index in ml/m² (echo
 * 14.3). If a required quantity is missing, the result states which. If the sex is not known, a
 * pattern is returned only if the limits of both sexes lead to it.
 */
export function dilatedPattern(
  sex: Sex | null,
  ef: number,
  diameter: number | null,
  volumeIndex: number | null,
): DilatedPattern {
  if (rounded(ef, 0) >= DYSFUNCTION.ef) return 'no dilated pattern';
  const patterns = (sex ? [sex] : SEXES).map((one) => sizePattern(one, diameter, volumeIndex));
  const [first, second = first] = patterns;
  return first && first === second ? first : OPEN_PATTERNS[3];
}

/**
 * Filling is restrictive if E/A is at or above `ratio` and the deceleration time, in ms, is below
 * `deceleration` (echo 14.3).
 */
export const RESTRICTIVE = { ratio: 2, deceleration: 150 } as const;

interface MyocardialQuantities {
  sex: Sex | null;
  /** g/m2 */
  massIndex: number | null;
  /** Range of the mass index, which depends on how the mass was measured. */
  massRange: GradedQuantity;
  /** Thickest wall at end-diastole, cm. */
  wall: number | null;
  scoreIndex: number | null;
  /** True if a segment was scored above 1. */
  abnormalSegment: boolean;
}

/** Wall motion score index of a ventricle in which every segment moves normally (echo 9). */
const NORMAL_INDEX = 1;

const upperMass = (sex: Sex | null, range: GradedQuantity): number =>
  Math.max(...(sex ? [sex] : SEXES).map((one) => range[one].normal[1]));

/**
 * Returns the signs of myocardial disease according to D16: LVH, cardiomyopathy, ischaemia,
 * infarction, abnormal wall motion (echo 10.4). An empty list means that no measured value shows a
 * sign. It does not exclude disease.
 */
export function myocardialDisease(quantities: MyocardialQuantities): MyocardialSign[] {
  const { sex, massIndex, massRange, wall, scoreIndex, abnormalSegment } = quantities;
  return [
    massIndex !== null &&
      rounded(massIndex, massRange.decimals) > upperMass(sex, massRange) &&
      ('mass-index' as const),
    wall !== null && rounded(10 * wall, 0) >= WALL.criterion && ('thick-wall' as const),
    scoreIndex !== null && rounded(scoreIndex, 2) > NORMAL_INDEX && ('score-index' as const),
    abnormalSegment && ('abnormal-segment' as const),
  ].filter((sign) => sign !== false);
}
