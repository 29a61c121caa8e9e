import { rounded } from '../../measure/rounding.ts';
import { WALL } from './cardiomyopathy.ts';
import { LEFT_VENTRICLE } from './left-ventricle.ts';
import type { Sex } from './partition.ts';

/** Null: not known. */
export interface MyocardialQuantities {
  sex: Sex | null;
  /** g/m2 */
  massIndex: number | null;
  /** Thickest wall at end-diastole, cm. */
  wall: number | null;
  scoreIndex: number | null;
  /** A segment that was scored above 1. */
  abnormalSegment: boolean;
}

/** Score index of a ventricle in which every segment moves normally (reference 9). */
const NORMAL_INDEX = 1;

/** Without a sex only what is above the range of both is above it. */
function upperMass(sex: Sex | null): number {
  const { male, female } = LEFT_VENTRICLE.massIndex;
  return sex ? LEFT_VENTRICLE.massIndex[sex].normal[1] : Math.max(male.normal[1], female.normal[1]);
}

/**
 * Signs of myocardial disease in the sense of D16: LVH, cardiomyopathy, ischaemia, infarction,
 * abnormal wall motion (reference 10.4). Empty: none among what was measured, which excludes none.
 */
export function myocardialDisease(quantities: MyocardialQuantities): string[] {
  const { sex, massIndex, wall, scoreIndex, abnormalSegment } = quantities;
  return [
    massIndex !== null &&
      rounded(massIndex, LEFT_VENTRICLE.massIndex.decimals) > upperMass(sex) &&
      'LV mass index above its range',
    wall !== null &&
      rounded(10 * wall, 0) >= WALL.criterion &&
      `wall of at least ${WALL.criterion} mm`,
    scoreIndex !== null &&
      rounded(scoreIndex, 2) > NORMAL_INDEX &&
      'wall motion score index raised',
    abnormalSegment && 'abnormal wall motion of a segment',
  ].filter((sign) => sign !== false);
}
