import type { SentenceTable } from '../../statement.ts';
import { FLUID_REMARKS, FLUID_SENTENCES } from './amniotic-fluid.ts';
import { SCREEN_SENTENCES } from './anomaly-screen.ts';
import { BIOMETRY_REMARKS, BIOMETRY_SENTENCES } from './biometry.ts';
import { CERVIX_REMARKS, CERVIX_SENTENCES } from './cervix.ts';
import { DOPPLER_REMARKS, DOPPLER_SENTENCES } from './doppler.ts';
import { EARLY_REMARKS, EARLY_SENTENCES } from './early-pregnancy.ts';
import { HEART_REMARKS, HEART_SENTENCES } from './fetal-heart.ts';
import { GROWTH_REMARKS, GROWTH_SENTENCES } from './growth.ts';
import { OBSTETRIC_IMPRESSION } from './impression.ts';
import { LABOR_REMARKS, LABOR_SENTENCES } from './labor-progress.ts';
import { NT_REMARKS, NT_SENTENCES } from './nt.ts';
import { PLACENTA_REMARKS, PLACENTA_SENTENCES } from './placenta.ts';
import { PLANE_SENTENCES } from './planes.ts';
import { PRESENTATION_SENTENCES } from './presentation.ts';
import { OBSTETRIC_REMARKS, OBSTETRIC_SENTENCES } from './shared.ts';

export const OBSTETRIC_TABLES: readonly SentenceTable[] = [
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
