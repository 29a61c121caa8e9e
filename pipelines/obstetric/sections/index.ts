import type { ObstetricSection } from '../section.ts';
import { amnioticFluid } from './amniotic-fluid.ts';
import { anomalyScreen } from './anomaly-screen.ts';
import { biometry } from './biometry.ts';
import { cervix } from './cervix.ts';
import { doppler } from './doppler.ts';
import { earlyPregnancy } from './early-pregnancy.ts';
import { fetalHeart } from './fetal-heart.ts';
import { growth } from './growth.ts';
import { laborProgress } from './labor-progress.ts';
import { notYet } from './not-yet.ts';
import { nt } from './nt.ts';
import { placenta } from './placenta.ts';
import { planes } from './planes.ts';
import { presentation } from './presentation.ts';

/** Order of the result (service.md 2.6); the report follows. */
const ORDER = [
  'planes',
  'biometry',
  'growth',
  'amniotic-fluid',
  'placenta',
  'early-pregnancy',
  'nt',
  'fetal-heart',
  'anomaly-screen',
  'cervix',
  'labor-progress',
  'presentation',
  'doppler',
];

const ASSESSED = [
  planes,
  biometry,
  growth,
  amnioticFluid,
  placenta,
  earlyPregnancy,
  anomalyScreen,
  cervix,
  nt,
  laborProgress,
  presentation,
  doppler,
  fetalHeart,
];

/** The sections of us/obstetric/interpret; each sees the measurements of those before it. */
export const SECTIONS: readonly ObstetricSection[] = [...ASSESSED, ...notYet].toSorted(
  (one, other) => ORDER.indexOf(one.id) - ORDER.indexOf(other.id),
);
