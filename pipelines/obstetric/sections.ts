import { amnioticFluid } from './amniotic-fluid/section.ts';
import { anomalyScreen } from './anomaly-screen/section.ts';
import { biometry } from './biometry/section.ts';
import { cervix } from './cervix/section.ts';
import { doppler } from './doppler/section.ts';
import { earlyPregnancy } from './early-pregnancy/section.ts';
import type { ObstetricEvidence } from './evidence.ts';
import { fetalHeart } from './fetal-heart/section.ts';
import { growth } from './growth/section.ts';
import { laborProgress } from './labor-progress/section.ts';
import { nt } from './nt/section.ts';
import { placenta } from './placenta/section.ts';
import { planes } from './planes/section.ts';
import { presentation } from './presentation/section.ts';
import type { ObstetricSection } from './shared/section.ts';

/**
 * Sections of us/obstetric/interpret in the order of the result (api 2.6). The report is added
 * after them. They run in this order too, except that those with `concludes` run last.
 */
export const SECTIONS: readonly ObstetricSection<ObstetricEvidence>[] = [
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
