import { rounded } from '../../measure/rounding.ts';
import { mitralAreaByHalfTime } from '../formulas/valves.ts';
import {
  isNormalMitralArea,
  mitralStenosis2020,
  STENOTIC_GRADIENT,
} from '../guidelines/mitral-stenosis.ts';
import type { Values } from '../values.ts';
import { isSignificant, regurgitations } from '../valves/regurgitation.ts';

/** MVA, cm2, up to which a half-time speaks for stenosis without a gradient (VHD20; reference 11.5). */
const STENOTIC_AREA = 1.5;

/** The section of the valves runs later: what it calculates is not yet among the values. */
function areaByHalfTime(values: Values): number | null {
  const halfTime = values.number('mv-half-time');
  const given = values.number('mv-area-half-time');
  return given ?? (halfTime === null ? null : mitralAreaByHalfTime(halfTime));
}

/** Any stenosis counts; a grade needs more than a doubt that forbids another (reference 11.5). */
function stenosis(values: Values): string | null {
  const planimetry = values.number('mv-area-planimetry');
  const byHalfTime = areaByHalfTime(values);
  const gradient = values.number('mv-mean-gradient');
  const steep = gradient !== null && rounded(gradient, 0) >= STENOTIC_GRADIENT;
  if (planimetry !== null) {
    return isNormalMitralArea(planimetry)
      ? null
      : `${mitralStenosis2020(planimetry)} by valve area`;
  }
  if (byHalfTime === null) {
    return steep
      ? `a mitral mean gradient of at least ${STENOTIC_GRADIENT} mmHg suggests stenosis`
      : null;
  }
  const speaks = steep || rounded(byHalfTime, 2) <= STENOTIC_AREA;
  return speaks && !isNormalMitralArea(byHalfTime)
    ? `${mitralStenosis2020(byHalfTime)} by half-time`
    : null;
}

/** "Significant" is read as moderate or more, or as quantities that contradict each other. */
function regurgitation(values: Values): string | null {
  const { MR } = regurgitations(values);
  return isSignificant(MR) ? `MR, ${MR}` : null;
}

/**
 * Disease of the mitral valve with which e' and E/e' are invalid and diastolic function has no
 * standard grade: any stenosis, significant regurgitation (D16, D25; reference 10.2). Empty: none
 * among what was measured, which excludes none.
 */
export function mitralDisease(values: Values): string[] {
  return [stenosis(values), regurgitation(values)].filter((found) => found !== null);
}
