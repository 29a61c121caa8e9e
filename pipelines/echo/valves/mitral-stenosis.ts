import { rounded } from '../../measure/rounding.ts';
import {
  isNormalMitralArea,
  mitralStenosis2020,
  STENOTIC_GRADIENT,
} from '../guidelines/mitral-stenosis.ts';
import type { Values } from '../values.ts';

export interface MitralStenosis {
  grade: ReturnType<typeof mitralStenosis2020> | null;
  /** What the grade must be read with, or why there is none. */
  statement: string | null;
}

const UNGRADED: MitralStenosis = { grade: null, statement: null };

const NORMAL =
  'No mitral stenosis is graded from a valve area of 4 cm² on, by convention, as the tables have no upper end';
const WITH_REGURGITATION =
  'Mitral stenosis was not graded by half-time, which does not hold with significant AR';
const BY_HALF_TIME =
  'The mitral valve area by half-time does not hold with significant AR, after commissurotomy, with a stiff LV or mitral annular calcification, which were not all excluded';

/**
 * By planimetry; by half-time only beside a gradient that speaks for stenosis, and without
 * significant AR, which shortens it (reference 11.5).
 */
export function mitralStenosis(values: Values, significantAr: boolean): MitralStenosis {
  const planimetry = values.number('mv-area-planimetry');
  if (planimetry !== null) {
    return isNormalMitralArea(planimetry)
      ? { grade: null, statement: NORMAL }
      : { grade: mitralStenosis2020(planimetry), statement: null };
  }
  const halfTime = values.number('mv-area-half-time');
  const gradient = values.number('mv-mean-gradient');
  const speaks = gradient !== null && rounded(gradient, 0) >= STENOTIC_GRADIENT;
  if (halfTime === null || !speaks) return UNGRADED;
  if (significantAr) return { grade: null, statement: WITH_REGURGITATION };
  if (isNormalMitralArea(halfTime)) return { grade: null, statement: NORMAL };
  return { grade: mitralStenosis2020(halfTime), statement: BY_HALF_TIME };
}
