import { cardiomyopathy } from './cardiomyopathy/section.ts';
import { DIASTOLIC_CONDITIONS } from './diastolic/conditions.ts';
import { diastolic } from './diastolic/section.ts';
import type { EchoEvidence } from './evidence.ts';
import { focused } from './focused/section.ts';
import { laVolume } from './la-volume/section.ts';
import { lvSize } from './lv-size/section.ts';
import { lvStrain } from './lv-strain/section.ts';
import { gradableEf, ungradedEf } from './lvef/judge.ts';
import { lvef } from './lvef/section.ts';
import { effusionOf } from './pericardial-effusion/judge.ts';
import { pericardialEffusion } from './pericardial-effusion/section.ts';
import { pulmonaryHypertension } from './pulmonary-hypertension/section.ts';
import { rvFunction } from './rv-function/section.ts';
import { segmentChambers } from './segment-chambers/section.ts';
import type { EchoSection } from './shared/section.ts';
import { valves } from './valves/section.ts';
import { views } from './views/section.ts';
import { wallMotion } from './wall-motion/section.ts';

/**
 * Sections of us/echo/interpret, in the order of the result (api 2.6). The report is added after
 * them.
 */
export const SECTIONS: readonly EchoSection<EchoEvidence>[] = [
  views,
  segmentChambers,
  lvef,
  lvSize,
  laVolume,
  rvFunction,
  lvStrain,
  wallMotion,
  diastolic(DIASTOLIC_CONDITIONS),
  valves,
  pulmonaryHypertension,
  pericardialEffusion,
  cardiomyopathy,
  focused<EchoEvidence>({ gradableEf, ungradedEf, effusionOf }),
];
