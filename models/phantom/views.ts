import type { PhantomView } from './view.ts';
import { cerebellum, lateralVentricle } from './views/brain-structures.ts';
import { cervix } from './views/cervix.ts';
import { earlyPregnancy } from './views/early-pregnancy.ts';
import { amnioticFluid, fluidSweep } from './views/fluid.ts';
import { fourChamber } from './views/four-chamber.ts';
import { fetalHeartMMode } from './views/m-mode.ts';
import { crlSagittal, midsagittal } from './views/midsagittal.ts';
import { placenta, placentaEdge } from './views/placenta.ts';
import {
  ductusVenosus,
  leftUterineArtery,
  middleCerebralArtery,
  rightUterineArtery,
  umbilicalArtery,
} from './views/spectrum.ts';
import { presentationSweep } from './views/sweep.ts';
import { transperineal } from './views/transperineal.ts';

/** Every view other than the biometry planes. To add a view, add one file and one line here. */
export const VIEWS: readonly PhantomView[] = [
  cervix,
  placentaEdge,
  placenta,
  amnioticFluid,
  fluidSweep,
  earlyPregnancy,
  midsagittal,
  crlSagittal,
  transperineal,
  umbilicalArtery,
  middleCerebralArtery,
  leftUterineArtery,
  rightUterineArtery,
  ductusVenosus,
  presentationSweep,
  fourChamber,
  fetalHeartMMode,
  cerebellum,
  lateralVentricle,
];
