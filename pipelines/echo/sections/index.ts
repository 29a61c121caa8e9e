import type { EchoSection } from '../section.ts';
import { cardiomyopathy } from './cardiomyopathy.ts';
import { diastolic } from './diastolic.ts';
import { focused } from './focused.ts';
import { laVolume } from './la-volume.ts';
import { lvSize } from './lv-size.ts';
import { lvStrain } from './lv-strain.ts';
import { lvef } from './lvef.ts';
import { pericardialEffusion } from './pericardial-effusion.ts';
import { pulmonaryHypertension } from './pulmonary-hypertension.ts';
import { rvFunction } from './rv-function.ts';
import { segmentChambers } from './segment-chambers.ts';
import { valves } from './valves.ts';
import { views } from './views.ts';
import { wallMotion } from './wall-motion.ts';

/** The sections of us/echo/interpret in the order of service.md 2.6; the report follows. */
export const SECTIONS: readonly EchoSection[] = [
  views,
  segmentChambers,
  lvef,
  lvSize,
  laVolume,
  rvFunction,
  lvStrain,
  wallMotion,
  diastolic,
  valves,
  pulmonaryHypertension,
  pericardialEffusion,
  cardiomyopathy,
  focused,
];
