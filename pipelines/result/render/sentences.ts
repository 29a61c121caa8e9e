import type { SentenceTable } from '../statement.ts';
import { CARDIOMYOPATHY_SENTENCES } from './echo/cardiomyopathy.ts';
import { CATEGORY_SENTENCES } from './echo/categories.ts';
import { DIASTOLIC_SENTENCES } from './echo/diastolic.ts';
import { FOCUSED_SENTENCES } from './echo/focused.ts';
import { ECHO_IMPRESSION } from './echo/impression-sentences.ts';
import { LA_VOLUME_SENTENCES } from './echo/la-volume.ts';
import { LV_SIZE_SENTENCES } from './echo/lv-size.ts';
import { LV_STRAIN_SENTENCES } from './echo/lv-strain.ts';
import { LVEF_SENTENCES } from './echo/lvef.ts';
import { EFFUSION_SENTENCES } from './echo/pericardial-effusion.ts';
import { PULMONARY_HYPERTENSION_SENTENCES } from './echo/pulmonary-hypertension.ts';
import { RV_FUNCTION_SENTENCES } from './echo/rv-function.ts';
import { SEGMENT_CHAMBERS_SENTENCES } from './echo/segment-chambers.ts';
import { ECHO_REMARKS, ECHO_SENTENCES } from './echo/shared.ts';
import { VALVES_SENTENCES } from './echo/valves.ts';
import { VIEWS_SENTENCES } from './echo/views.ts';
import { WALL_MOTION_SENTENCES } from './echo/wall-motion.ts';
import { FLUID_REMARKS, FLUID_SENTENCES } from './obstetric/amniotic-fluid.ts';
import { SCREEN_SENTENCES } from './obstetric/anomaly-screen.ts';
import { BIOMETRY_REMARKS, BIOMETRY_SENTENCES } from './obstetric/biometry.ts';
import { CERVIX_REMARKS, CERVIX_SENTENCES } from './obstetric/cervix.ts';
import { DOPPLER_REMARKS, DOPPLER_SENTENCES } from './obstetric/doppler.ts';
import { EARLY_REMARKS, EARLY_SENTENCES } from './obstetric/early-pregnancy.ts';
import { HEART_REMARKS, HEART_SENTENCES } from './obstetric/fetal-heart.ts';
import { GROWTH_REMARKS, GROWTH_SENTENCES } from './obstetric/growth.ts';
import { OBSTETRIC_IMPRESSION } from './obstetric/impression.ts';
import { LABOR_REMARKS, LABOR_SENTENCES } from './obstetric/labor-progress.ts';
import { NT_REMARKS, NT_SENTENCES } from './obstetric/nt.ts';
import { PLACENTA_REMARKS, PLACENTA_SENTENCES } from './obstetric/placenta.ts';
import { PLANE_SENTENCES } from './obstetric/planes.ts';
import { PRESENTATION_SENTENCES } from './obstetric/presentation.ts';
import { OBSTETRIC_REMARKS, OBSTETRIC_SENTENCES } from './obstetric/shared.ts';
import { MEASUREMENT_REMARKS } from './remarks.ts';
import { SHARED_SENTENCES } from './shared.ts';

/**
 * Sentence tables of all topics. A new topic adds its table here; a second language would need a
 * second list.
 */
export const TABLES: readonly SentenceTable[] = [
  SHARED_SENTENCES,
  MEASUREMENT_REMARKS,
  ECHO_SENTENCES,
  ECHO_REMARKS,
  ECHO_IMPRESSION,
  CATEGORY_SENTENCES,
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
  FLUID_SENTENCES,
  FLUID_REMARKS,
  SCREEN_SENTENCES,
  BIOMETRY_SENTENCES,
  BIOMETRY_REMARKS,
  CERVIX_SENTENCES,
  CERVIX_REMARKS,
  DOPPLER_SENTENCES,
  DOPPLER_REMARKS,
  EARLY_SENTENCES,
  EARLY_REMARKS,
  HEART_SENTENCES,
  HEART_REMARKS,
  GROWTH_SENTENCES,
  GROWTH_REMARKS,
  LABOR_SENTENCES,
  LABOR_REMARKS,
  NT_SENTENCES,
  NT_REMARKS,
  PLACENTA_SENTENCES,
  PLACENTA_REMARKS,
  PLANE_SENTENCES,
  PRESENTATION_SENTENCES,
  OBSTETRIC_SENTENCES,
  OBSTETRIC_REMARKS,
  OBSTETRIC_IMPRESSION,
];

export const SENTENCES: SentenceTable = Object.assign({}, ...TABLES);
