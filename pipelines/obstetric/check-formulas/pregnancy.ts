import { type CheckFormula, known, type VectorInputs } from '../../contract/vector-inputs.ts';
import { zOf } from '../../measure/statistics.ts';
import {
  deepestPocketCategory,
  fluidIndex,
  fluidIndexCategory,
  mooreCayleFluidIndex,
} from '../charts/amniotic-fluid.ts';
import {
  ageByCerebellum,
  type BrainStructure,
  brainStructureAt,
  ventricleCategory,
} from '../charts/brain-structures.ts';
import {
  hadlock1992Age,
  intergrowthAgeByCrl,
  intergrowthCrlAt,
  robinson1975Age,
  verburg2008Age,
} from '../charts/crl-dating.ts';
import {
  acharyaSystolicDiastolicAt,
  type CiobanuIndex,
  cerebroplacentalRatio,
  ciobanuAt,
  mcaPeakMedian,
  mcaPeakMoMClosedForm,
  pulsatilityIndex,
  resistanceIndex,
  systolicDiastolicRatio,
  type UmbilicalIndex,
  umbilicalAt,
  umbilicalZ,
  uterinePiAt,
} from '../charts/doppler-charts.ts';
import { meanSacDiameter, viability } from '../charts/early-pregnancy.ts';
import {
  cardiothoracicAreaRatio,
  cardiothoracicCircumferenceRatio,
} from '../charts/fetal-heart.ts';
import { headDirection, stationByAngle } from '../charts/labor-progress.ts';
import {
  expectedNuchalTranslucency,
  nuchalTranslucencyMoM,
} from '../charts/nuchal-translucency.ts';
import { placentaCategory } from '../charts/placenta.ts';

const UMBILICAL: Readonly<Record<string, UmbilicalIndex>> = { PI: 'pi', RI: 'ri', 'S/D': 'sd' };
const CIOBANU: Readonly<Record<string, CiobanuIndex>> = {
  'UA-PI': 'ua-pi',
  'MCA-PI': 'mca-pi',
  CPR: 'cpr',
};
const umbilicalCentile =
  (index: UmbilicalIndex): CheckFormula =>
  (i) =>
    umbilicalAt(index, i.number('gaWeeks'), zOf(i.number('centile')));

const brainCentile =
  (structure: BrainStructure): CheckFormula =>
  (i) =>
    brainStructureAt(structure, i.number('gaWeeks'), zOf(i.number('centile')));

function dopplerIndex(i: VectorInputs): number | null {
  const psv = i.number('psv');
  const edv = i.number('edv');
  switch (i.text('out')) {
    case 'PI':
      return pulsatilityIndex(psv, edv, i.number('tamx'));
    case 'RI':
      return resistanceIndex(psv, edv);
    case 'S/D':
      return systolicDiastolicRatio(psv, edv);
    default:
      throw new Error(`unknown index "${i.text('out')}"`);
  }
}

/** Early pregnancy, anatomy, fluid, placenta, Doppler and labour (reference 4 to 13). */
export const PREGNANCY_CHECKS: Readonly<Record<string, CheckFormula>> = {
  robinson1975_ga_days: (i) => robinson1975Age(i.number('crlMm')),
  hadlock1992_ga_weeks: (i) => hadlock1992Age(i.number('crlMm')),
  verburg2008_ga_from_crl_weeks: (i) => verburg2008Age(i.number('crlMm')),
  intergrowth_ga_from_crl_days: (i) => intergrowthAgeByCrl(i.number('crlMm')),
  ig_ga_from_crl_days: (i) => intergrowthAgeByCrl(i.number('crlMm')),
  intergrowth_crl_for_ga_centile_to_mm: (i) =>
    intergrowthCrlAt(i.number('gaDays'), i.number('centile')),
  intergrowth_ua_pi_centile_to_value: umbilicalCentile('pi'),
  intergrowth_ua_ri_centile_to_value: umbilicalCentile('ri'),
  intergrowth_ua_sd_centile_to_value: umbilicalCentile('sd'),
  intergrowth_ua_zscore: (i) =>
    umbilicalZ(known(UMBILICAL, i.text('index')), i.number('gaWeeks'), i.number('value')),
  ciobanu2019_centile_to_value: (i) =>
    ciobanuAt(known(CIOBANU, i.text('index')), i.number('gaDays'), zOf(i.number('centile'))),
  gomez2008_uta_pi_centile_to_value: (i) =>
    uterinePiAt(i.number('gaDays'), zOf(i.number('centile'))),
  acharya2005_ua_sd_centile_to_value: (i) =>
    acharyaSystolicDiastolicAt(i.number('gaWeeks'), zOf(i.number('centile'))),
  mari2000_mca_psv_median_table_cm_s: (i) => mcaPeakMedian(i.number('gaWeeks')),
  mca_psv_mom_closed_form: (i) => mcaPeakMoMClosedForm(i.number('gaWeeks'), i.number('psvCmS')),
  doppler_indices: dopplerIndex,
  cpr: (i) => cerebroplacentalRatio(i.number('mcaPi'), i.number('uaPi')),
  umbilicocerebral_ratio: (i) => 1 / cerebroplacentalRatio(i.number('mcaPi'), i.number('uaPi')),
  intergrowth_tcd_centile_to_mm: brainCentile('cerebellum'),
  intergrowth_posterior_ventricle_centile_to_mm: brainCentile('posterior-horn'),
  intergrowth_anterior_ventricle_centile_to_mm: brainCentile('anterior-horn'),
  intergrowth_cisterna_magna_centile_to_mm: brainCentile('cisterna-magna'),
  intergrowth_parieto_occipital_fissure_centile_to_mm: brainCentile('parieto-occipital-fissure'),
  intergrowth_sylvian_fissure_centile_to_mm: brainCentile('sylvian-fissure'),
  ig_ga_from_tcd_days: (i) => ageByCerebellum(i.number('tcdMm')),
  ventriculomegaly_category: (i) => ventricleCategory(i.number('atrialWidthMm')),
  msd_mm: (i) => meanSacDiameter(i.number('l'), i.number('w'), i.number('h')),
  viability_sru2012: (i) =>
    viability({
      crl: i.optionalNumber('crlMm'),
      msd: i.optionalNumber('msdMm'),
      embryo: i.optionalFlag('embryo'),
      cardiacActivity: i.optionalFlag('cardiacActivity'),
    }),
  nt_expected_median_mm: (i) => expectedNuchalTranslucency(i.number('crlMm')),
  nt_mom: (i) => nuchalTranslucencyMoM(i.number('crlMm'), i.number('ntMm')),
  afi_cm: (i) => fluidIndex([i.number('q1'), i.number('q2'), i.number('q3'), i.number('q4')]),
  afi_category: (i) => fluidIndexCategory(i.number('afiCm')),
  dvp_category: (i) => deepestPocketCategory(i.number('dvpCm')),
  moore_cayle_afi_centile_mm: (i) =>
    mooreCayleFluidIndex(i.number('gaWeeks'), i.number('centile') === 5 ? 5 : 95),
  placenta_os_category: (i) => placentaCategory(i.number('edgeToOsMm'), i.number('gaWeeks')),
  aop_to_station_cm: (i) => stationByAngle(i.number('aopDeg')),
  head_direction_category: (i) => headDirection(i.number('angleDeg')),
  ctr_area: (i) => cardiothoracicAreaRatio(i.number('heartAreaCm2'), i.number('thoraxAreaCm2')),
  ctr_circumference: (i) =>
    cardiothoracicCircumferenceRatio(i.number('heartCircMm'), i.number('thoraxCircMm')),
};
