import { rounded } from '../formulas/rounding.ts';
import { LEFT_VENTRICLE } from './left-ventricle.ts';
import type { Sex } from './partition.ts';

/** Greatest end-diastolic wall, mm (CM23, HCM24; reference 14.1). */
export const WALL = { family: 13, criterion: 15, massive: 30 } as const;

export const WALL_STATEMENTS = [
  'below criterion',
  'criterion only in first-degree relatives or genotype-positive',
  'meets wall-thickness criterion',
  'meets wall-thickness criterion, massive',
] as const;

/** Of an adult; `family`: a first-degree relative or genotype-positive, null when not known. */
export function wallStatement(
  thickness: number,
  family: boolean | null,
): (typeof WALL_STATEMENTS)[number] {
  const shown = rounded(thickness, 0);
  if (shown >= WALL.massive) return 'meets wall-thickness criterion, massive';
  if (shown >= WALL.criterion) return 'meets wall-thickness criterion';
  if (shown < WALL.family) return 'below criterion';
  return family
    ? 'meets wall-thickness criterion'
    : 'criterion only in first-degree relatives or genotype-positive';
}

/** Septum over posterior wall from which hypertrophy is asymmetric. */
export const ASYMMETRY = 1.3;

/** LVOT gradients, mmHg: obstruction, and where treatment is considered. */
export const OBSTRUCTION = { from: 30, treatment: 50 } as const;

/** Category of outflow obstruction from the gradients at rest and provoked (reference 14.1). */
export function obstructionCategory(rest: number, provoked: number | null): string {
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
  const most = Math.max(atRest, raised ?? 0);
  return most >= OBSTRUCTION.treatment ? `${category}, at or above 50 mmHg` : category;
}

/** RWT times E/e' below which amyloid is unlikely in a population screened for it (AMYLI). */
export const AMYLI_RULE_OUT = 2.22;

export const DILATED_PATTERNS = [
  'dilated LV with systolic dysfunction',
  'non-dilated LV dysfunction',
  'no dilated pattern',
] as const;

/** EF below which LV dysfunction is one; and in the device-therapy range (CM23). */
export const DYSFUNCTION = { ef: 50, device: 35 } as const;

/** Diameter in cm, volume index in ml/m2; null where not known (reference 14.3). */
export function dilatedPattern(
  sex: Sex,
  ef: number,
  diameter: number | null,
  volumeIndex: number | null,
): (typeof DILATED_PATTERNS)[number] | 'LV dysfunction, size unknown' {
  if (rounded(ef, 0) >= DYSFUNCTION.ef) return 'no dilated pattern';
  if (diameter === null && volumeIndex === null) return 'LV dysfunction, size unknown';
  const { diastolicDiameter, edvIndex } = LEFT_VENTRICLE;
  const wide = diameter !== null && rounded(diameter, 1) > diastolicDiameter[sex].normal[1];
  const large = volumeIndex !== null && rounded(volumeIndex, 0) > edvIndex[sex].normal[1];
  return wide || large ? 'dilated LV with systolic dysfunction' : 'non-dilated LV dysfunction';
}

/** E/A and DT, ms, of restrictive filling (reference 14.3). */
export const RESTRICTIVE = { ratio: 2, deceleration: 150 } as const;
