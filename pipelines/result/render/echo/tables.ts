import type { SentenceTable } from '../../statement.ts';
import { CARDIOMYOPATHY_SENTENCES } from './cardiomyopathy.ts';
import { DIASTOLIC_SENTENCES } from './diastolic.ts';
import { FOCUSED_SENTENCES } from './focused.ts';
import { ECHO_IMPRESSION } from './impression-sentences.ts';
import { LA_VOLUME_SENTENCES } from './la-volume.ts';
import { LV_SIZE_SENTENCES } from './lv-size.ts';
import { LV_STRAIN_SENTENCES } from './lv-strain.ts';
import { LVEF_SENTENCES } from './lvef.ts';
import { EFFUSION_SENTENCES } from './pericardial-effusion.ts';
import { PULMONARY_HYPERTENSION_SENTENCES } from './pulmonary-hypertension.ts';
import { RV_FUNCTION_SENTENCES } from './rv-function.ts';
import { SEGMENT_CHAMBERS_SENTENCES } from './segment-chambers.ts';
import { ECHO_REMARKS, ECHO_SENTENCES } from './shared.ts';
import { VALVES_SENTENCES } from './valves.ts';
import { VIEWS_SENTENCES } from './views.ts';
import { WALL_MOTION_SENTENCES } from './wall-motion.ts';

export const ECHO_TABLES: readonly SentenceTable[] = [
  ECHO_SENTENCES,
  ECHO_REMARKS,
  ECHO_IMPRESSION,
  CARDIOMYOPATHY_SENTENCES,
  DIASTOLIC_SENTENCES,
  FOCUSED_SENTENCES,
  LA_VOLUME_SENTENCES,
  LV_SIZE_SENTENCES,
  LV_STRAIN_SENTENCES,
  LVEF_SENTENCES,
  EFFUSION_SENTENCES,
  PULMONARY_HYPERTENSION_SENTENCES,
  RV_FUNCTION_SENTENCES,
  SEGMENT_CHAMBERS_SENTENCES,
  VALVES_SENTENCES,
  VIEWS_SENTENCES,
  WALL_MOTION_SENTENCES,
];
