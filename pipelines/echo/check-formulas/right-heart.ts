import type { CheckFormula } from '../../contract/vector-inputs.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import {
  eccentricityIndex,
  meanPulmonaryByAcceleration,
  meanPulmonaryByShortAcceleration,
  meanPulmonaryBySystolic,
  performanceIndex,
  pressureBehindJet,
  vascularResistance,
} from '../formulas/right-heart.ts';
import { effusionGrade, respiratoryVariation } from '../guidelines/pericardium.ts';
import {
  atrialPressure,
  collapsibility,
  probability,
  type SignCategory,
} from '../guidelines/pulmonary-pressure.ts';
import { isBeyond, RV_FUNCTION, RV_SIZE } from '../guidelines/right-ventricle.ts';

const isCategory = (text: string): text is SignCategory => ['A', 'B', 'C'].includes(text);

const variation: CheckFormula = (i) =>
  respiratoryVariation(i.number('eExpirationCmS'), i.number('eInspirationCmS'));

/** Right heart, pulmonary pressure and pericardium (reference 7, 12, 13). */
export const RIGHT_HEART_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'rv.fac': (i) => fractionalChange(i.number('edaCm2'), i.number('esaCm2')),
  'rv.rimp': (i) => performanceIndex(i.number('tcoMs'), i.number('ejectionTimeMs')),
  'rv.lvEccentricityIndex': (i) =>
    eccentricityIndex(i.number('dParallelCm'), i.number('dPerpendicularCm')),
  'rv.basalDilated.ase2015': (i) => isBeyond(RV_SIZE.basal, i.number('rvBasalMm')),
  'rv.tapseAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.tapse, i.number('tapseMm')),
  'rv.sPrimeAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.sPrime, i.number('sPrimeCmS')),
  'rv.facAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.fac, i.number('facPercent')),
  'ra.pressureFromIvc': (i) => atrialPressure(i.number('ivcMm'), i.number('collapsePercent')),
  'ivc.collapsibility': (i) => collapsibility(i.number('maxMm'), i.number('minMm')),
  rvsp: (i) => pressureBehindJet(i.number('trvMS'), i.number('rapMmHg')),
  'pa.meanFromSystolic': (i) => meanPulmonaryBySystolic(i.number('spapMmHg')),
  'pa.meanFromAcceleration': (i) => meanPulmonaryByAcceleration(i.number('rvotAtMs')),
  'pa.meanFromAccelerationShort': (i) => meanPulmonaryByShortAcceleration(i.number('rvotAtMs')),
  'pa.meanFromPr': (i) => pressureBehindJet(i.number('prEarlyMS'), i.number('rapMmHg')),
  'pa.diastolicFromPr': (i) => pressureBehindJet(i.number('prEndMS'), i.number('rapMmHg')),
  'pvr.abbas': (i) => vascularResistance(i.number('trvMS'), i.number('rvotVtiCm')),
  tapseSpapRatio: (i) => i.number('tapseMm') / i.number('spapMmHg'),
  'ph.probability.esc2022': (i) =>
    probability(i.optionalNumber('trvMS'), i.texts('signCategoriesPresent').filter(isCategory)),
  'pericardium.effusionGrade': (i) => effusionGrade(i.number('maxDiastolicMm')),
  'tamponade.mitralVariation': variation,
  'tamponade.tricuspidVariation': variation,
};
