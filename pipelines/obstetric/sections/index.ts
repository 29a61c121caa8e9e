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
import { nt } from './nt.ts';
import { placenta } from './placenta.ts';
import { planes } from './planes.ts';
import { presentation } from './presentation.ts';

/**
 * The sections of us/obstetric/interpret in the order of the result (service.md 2.6); the report
 * follows. Each sees the measurements of those before it.
 */
export const SECTIONS: readonly ObstetricSection[] = [
  planes,
  biometry,
  growth,
  amnioticFluid,
  placenta,
  earlyPregnancy,
  nt,
  fetalHeart,
  anomalyScreen,
  cervix,
  laborProgress,
  presentation,
  doppler,
];
