import type { CheckFormula } from '../../contract/vector-inputs.ts';
import { DICOM_CHECKS } from './dicom.ts';
import { FLOW_CHECKS } from './flow.ts';
import { LEFT_HEART_CHECKS } from './left-heart.ts';
import { RIGHT_HEART_CHECKS } from './right-heart.ts';

/** Formula name of `echo-checks.json` → the function of this project that it checks. */
export const ECHO_CHECKS: Readonly<Record<string, CheckFormula>> = {
  ...DICOM_CHECKS,
  ...LEFT_HEART_CHECKS,
  ...FLOW_CHECKS,
  ...RIGHT_HEART_CHECKS,
};
