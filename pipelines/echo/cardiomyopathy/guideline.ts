import { rounded } from '../../measure/rounding.ts';
import type {
  DilatedPattern,
  Obstruction,
  WallStatement,
} from '../../result/render/echo/cardiomyopathy.ts';
import type { MyocardialSign } from '../../result/render/echo/diastolic.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import { type GradedQuantity, SEXES, type Sex } from '../shared/grading.ts';

/**
 * End-diastolic wall thickness, mm, at or above which each statement is made (CM23, HCM24; echo
 * 14.1).
 */
const WALL = { family: 13, criterion: 15, massive: 30 } as const;

/**
 * Returns true if the wall is thick enough to meet the criterion in every patient, not only in a
 * relative.
 */
export const meetsCriterion = (wall: WallStatement) =>
  wall === 'meets-criterion' || wall === 'massive';

/**
 * Returns the statement for an adult's wall thickness, in mm. `family` is true if the patient is a
 * first-degree relative or genotype-positive, and null if this is not known.
 */
export function wallStatement(thickness: number, family: boolean | null): WallStatement {
  const shown = rounded(thickness, 0);
  if (shown >= WALL.massive) return 'massive';
  if (shown >= WALL.criterion) return 'meets-criterion';
  if (shown < WALL.family) return 'below-criterion';
  return family ? 'meets-criterion' : 'criterion-in-relatives';
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

/**
 * Returns the category of outflow obstruction from the gradients at rest and on provocation, in
 * mmHg (echo 14.1).
 */
export function obstructionCategory(rest: number, provoked: number | null): Obstruction {
  const atRest = rounded(rest, 0);
  const raised = provoked === null ? null : rounded(provoked, 0);
  const category =
    atRest >= OBSTRUCTION.from
      ? 'at-rest'
      : raised === null
        ? 'not-provoked'
        : raised >= OBSTRUCTION.from
          ? 'provocable'
          : 'none';
  return withTreatment(category, Math.max(atRest, raised ?? 0));
}

const withTreatment = (obstruction: Obstruction['obstruction'], most: number): Obstruction => ({
  obstruction,
  treatment: most >= OBSTRUCTION.treatment ? OBSTRUCTION.treatment : null,
});

/**
 * Returns the category if only the provoked gradient, in mmHg, is known. The obstruction may then
 * be present at rest as well. Returns null for a gradient below the limit, because the category
 * then depends on the gradient at rest. The published table always requires the gradient at rest,
 * so this category is a convention of this project.
 */
export function provokedObstruction(provoked: number): Obstruction | null {
  const shown = rounded(provoked, 0);
  if (shown < OBSTRUCTION.from) return null;
  return withTreatment('rest-not-measured', shown);
}

const CONVENTIONS: ReadonlySet<Obstruction['obstruction']> = new Set([
  'not-provoked',
  'rest-not-measured',
]);

/**
 * Returns true if a category is a convention of this project ([C], echo 14.1) and not part of the
 * societies' tables.
 */
export const isConvention = ({ obstruction }: Obstruction) => CONVENTIONS.has(obstruction);

/**
 * Product of RWT and E/e' below which amyloidosis is unlikely in a population screened for it
 * (AMYLI).
 */
export const AMYLI_RULE_OUT = 2.22;

/**
 * Limits of the EF, per cent: the LV counts as dysfunctional below `ef`, and device therapy is
 * considered up to `device` (CM23).
 */
export const DYSFUNCTION = { ef: 50, device: 35 } as const;

const PUBLISHED: ReadonlySet<DilatedPattern> = new Set(['dilated', 'non-dilated', 'none']);

/** Returns true if a pattern is determined and therefore one of the society's. */
export const isPublished = (pattern: DilatedPattern) => PUBLISHED.has(pattern);

/**
 * Returns the pattern for the size of the LV. One measure above its limit is enough for dilatation,
 * but both are needed to exclude it (echo 14.3).
 */
function sizePattern(
  sex: Sex,
  diameter: number | null,
  volumeIndex: number | null,
): DilatedPattern {
  if (diameter === null && volumeIndex === null) return 'size-unknown';
  const { diastolicDiameter, edvIndex } = LEFT_VENTRICLE;
  const wide = diameter !== null && rounded(diameter, 1) > diastolicDiameter[sex].normal[1];
  const large = volumeIndex !== null && rounded(volumeIndex, 0) > edvIndex[sex].normal[1];
  if (wide || large) return 'dilated';
  if (volumeIndex === null) return 'volume-index-missing';
  return diameter === null ? 'diameter-missing' : 'non-dilated';
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
  if (rounded(ef, 0) >= DYSFUNCTION.ef) return 'none';
  const patterns = (sex ? [sex] : SEXES).map((one) => sizePattern(one, diameter, volumeIndex));
  const [first, second = first] = patterns;
  return first && first === second ? first : 'sex-unknown';
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
