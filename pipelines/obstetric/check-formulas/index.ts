import type { CheckFormula } from '../../contract/vector-inputs.ts';
import { GROWTH_CHECKS } from './growth.ts';
import { PREGNANCY_CHECKS } from './pregnancy.ts';

/** Formula name of `obstetric-checks.json` → the function of this project that it checks. */
export const OBSTETRIC_CHECKS: Readonly<Record<string, CheckFormula>> = {
  ...GROWTH_CHECKS,
  ...PREGNANCY_CHECKS,
};
