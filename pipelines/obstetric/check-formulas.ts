import {
  type CheckFormula,
  known,
  member,
  ofNumbers,
  type VectorInputs,
} from '../contract/vector-inputs.ts';
import { perimeter } from '../measure/ellipse.ts';
import { centileOf, zOf } from '../measure/statistics.ts';
import { dueDateByAge, dueDateByLmp } from '../result/estimated-due-date.ts';
import {
  deepestPocketCategory,
  fluidIndex,
  fluidIndexCategory,
  mooreCayleFluidIndex,
} from './amniotic-fluid/guideline.ts';
import {
  ageByCerebellum,
  type BrainStructure,
  brainStructureAt,
  ventricleCategory,
} from './anomaly-screen/guideline.ts';
import * as biometry from './biometry/formulas.ts';
import * as doppler from './doppler/guideline.ts';
import * as early from './early-pregnancy/guideline.ts';
import {
  cardiothoracicAreaRatio,
  cardiothoracicCircumferenceRatio,
} from './fetal-heart/guideline.ts';
import {
  INTERGROWTH_WEIGHT_2017,
  INTERGROWTH_WEIGHT_2020,
  type IntergrowthMeasure,
  intergrowthSize,
  intergrowthSizeAt,
  intergrowthSizeZ,
  intergrowthWeightAt,
  intergrowthWeightZ,
  type WeightStandard,
} from './growth/charts.ts';
import { restrictionForm, sizeCategory, twinDiscordance } from './growth/guideline.ts';
import {
  fmf2018WeightCentile,
  HADLOCK_1991_TABLE_RATIOS,
  hadlock1984Size,
  hadlock1991Median,
  hadlock1991Z,
  type WhoMeasure,
  whoCentile,
  whoQuantile,
} from './growth/other-charts.ts';
import { headDirection, stationByAngle } from './labor-progress/guideline.ts';
import { expectedNuchalTranslucency, nuchalTranslucencyMoM } from './nt/guideline.ts';
import { placentaCategory } from './placenta/guideline.ts';

const centile = (z: number | null): number | null => (z === null ? null : centileOf(z));

const EFW_VARIANTS: Readonly<Record<string, biometry.WeightFormula>> = {
  'HC+AC+FL (1985)': 'hadlock-hc-ac-fl',
  'BPD+AC+FL (1985)': 'hadlock-bpd-ac-fl',
  'BPD+HC+AC+FL (1985)': 'hadlock-bpd-hc-ac-fl',
  'AC+FL (1985)': 'hadlock-ac-fl',
  'BPD+AC (1984)': 'hadlock-bpd-ac',
  'HC+AC (1984)': 'hadlock-hc-ac',
  'AC (1984)': 'hadlock-ac',
  'Shepard BPD+AC (1982)': 'shepard-bpd-ac',
  'INTERGROWTH HC+AC (2017)': 'intergrowth-hc-ac',
};

/**
 * Returns lengths in cm. A length that the test vector lacks becomes NaN, so every result that
 * depends on it is also NaN.
 */
function biometryCm(inputs: VectorInputs): biometry.BiometryCm {
  const length = (name: string) => inputs.optionalNumber(name) ?? Number.NaN;
  return {
    bpd: length('bpdCm'),
    hc: length('hcCm'),
    ac: length('acCm'),
    fl: length('flCm'),
  };
}

const MEASURES = { hc: 1, bpd: 1, ofd: 1, ac: 1, fl: 1 } as const;
const measure = (inputs: VectorInputs): IntergrowthMeasure =>
  member(MEASURES, inputs.text('measure').toLowerCase());

const BIOMETRY = { bpd: 1, hc: 1, ac: 1, fl: 1 } as const;
const WHO_MEASURES = { ac: 1, bpd: 1, efw: 1, fl: 1, hc: 1, hl: 1 } as const;
const whoMeasure = (inputs: VectorInputs): WhoMeasure =>
  member(WHO_MEASURES, inputs.text('measure').toLowerCase());
const WHO_SEX: Readonly<Record<string, WhoMeasure>> = {
  any: 'efw',
  female: 'efw-female',
  male: 'efw-male',
};

function hadlock1991Spread(name: string) {
  if (name.startsWith('abstract')) return 'abstract';
  return name.startsWith('log') ? 'logarithmic' : 'table';
}

/**
 * Checks that a test vector uses logarithmic interpolation, the only kind implemented for WHO and
 * Mari.
 * @throws if it uses another kind.
 */
function interpolatedInLog(inputs: VectorInputs): void {
  const way = inputs.optionalText('interpolation');
  if (way !== null && !/^(ln|log)/i.test(way)) throw new Error(`unknown interpolation "${way}"`);
}

const FLOWS = { forward: 1, absent: 1, reversed: 1 } as const;

function delphi(i: VectorInputs): string {
  const flow = i.optionalText('uaEdf');
  return restrictionForm({
    gaWeeks: i.number('gaWeeks'),
    efwCentile: i.optionalNumber('efwCentile'),
    acCentile: i.optionalNumber('acCentile'),
    uaPiCentile: i.optionalNumber('uaPiCentile'),
    utaPiCentile: i.optionalNumber('utaPiCentile'),
    cprCentile: i.optionalNumber('cprCentile'),
    endDiastolicFlow: flow === null ? null : member(FLOWS, flow),
    centileFall: i.optionalNumber('centileFall'),
  });
}

const weightZ = (standard: WeightStandard, i: VectorInputs) =>
  intergrowthWeightZ(standard, i.number('gaWeeks'), i.number('efwG'));

/** Checks of biometry, dating by biometry and growth (obstetric 2 and 3). */
const GROWTH_CHECKS: Readonly<Record<string, CheckFormula>> = {
  intergrowth_fetal_centile_to_value: (i) =>
    intergrowthSizeAt(measure(i), i.number('gaWeeks'), zOf(i.number('centile'))),
  ig_mean_sd: (i) => {
    const size = intergrowthSize(measure(i), i.number('gaWeeks'));
    return size && (i.text('what') === 'mean' ? size.mean : size.sd);
  },
  ig_sd_mm: (i) => intergrowthSize(measure(i), i.number('gaWeeks'))?.sd ?? null,
  ig_zscore: (i) => intergrowthSizeZ(measure(i), i.number('gaWeeks'), i.number('valueMm')),
  ig_centile: (i) =>
    centile(intergrowthSizeZ(measure(i), i.number('gaWeeks'), i.number('valueMm'))),
  intergrowth_efw2017_centile_to_grams: (i) =>
    intergrowthWeightAt(INTERGROWTH_WEIGHT_2017, i.number('gaWeeks'), zOf(i.number('centile'))),
  intergrowth_efw2020_hadlock_centile_to_grams: (i) =>
    intergrowthWeightAt(INTERGROWTH_WEIGHT_2020, i.number('gaWeeks'), zOf(i.number('centile'))),
  ig_efw2017_zscore: (i) => weightZ(INTERGROWTH_WEIGHT_2017, i),
  ig_efw2017_centile: (i) => centile(weightZ(INTERGROWTH_WEIGHT_2017, i)),
  ig_efw2020_zscore: (i) => weightZ(INTERGROWTH_WEIGHT_2020, i),
  ig_efw2020_centile: (i) => centile(weightZ(INTERGROWTH_WEIGHT_2020, i)),
  hadlock1991_median_grams: ofNumbers(hadlock1991Median, 'gaWeeks'),
  hadlock1991_table_centile_to_grams: (i) => {
    const spread = i.optionalText('spread') ?? 'table';
    if (!spread.startsWith('table')) throw new Error(`unknown spread "${spread}"`);
    const median = hadlock1991Median(i.number('gaWeeks'));
    const ratio = HADLOCK_1991_TABLE_RATIOS[i.number('centile')];
    return median && ratio ? median * ratio : null;
  },
  hadlock1991_centile: (i) =>
    centile(
      hadlock1991Z(i.number('gaWeeks'), i.number('efwG'), hadlock1991Spread(i.text('spread'))),
    ),
  fmf2018_efw_centile: ofNumbers(fmf2018WeightCentile, 'gaDays', 'efwG'),
  who_quantile: (i) => whoQuantile(whoMeasure(i), i.number('gaWeeks'), i.number('quantile')),
  who_efw_quantile_grams: (i) =>
    whoQuantile(known(WHO_SEX, i.text('sex')), i.number('gaWeeks'), i.number('centile') / 100),
  who_centile_log_interp: (i) => {
    interpolatedInLog(i);
    return whoCentile(whoMeasure(i), i.number('gaWeeks'), i.number('value'))?.centile ?? null;
  },
  efw_grams: (i) => biometry.WEIGHT_FORMULAS[known(EFW_VARIANTS, i.text('variant'))](biometryCm(i)),
  hadlock1984_ga_weeks: (i) =>
    biometry.HADLOCK_1984_AGE[
      member(biometry.HADLOCK_1984_AGE, i.text('combo').toLowerCase().replaceAll('+', '-'))
    ](biometryCm(i)),
  hadlock1984_size_cm: (i) =>
    hadlock1984Size(member(BIOMETRY, i.text('measure').toLowerCase()), i.number('gaWeeks')),
  ig_ga_hc_fl_days: ofNumbers(biometry.intergrowthAgeByHcFl, 'hcMm', 'flMm'),
  ig_ga_hc_days: ofNumbers(biometry.intergrowthAgeByHc, 'hcMm'),
  hc_ellipse_ramanujan_mm: (i) => perimeter(i.number('d1Mm') / 2, i.number('d2Mm') / 2),
  circumference_mean_diameter_mm: ofNumbers(biometry.circumferenceOfDiameters, 'd1Mm', 'd2Mm'),
  ac_from_diameters_mm: ofNumbers(biometry.circumferenceOfDiameters, 'apadMm', 'tadMm'),
  hc_hadlock_bpd_oi_ofd_mm: ofNumbers(
    biometry.headCircumferenceOuterInner,
    'bpdOuterInnerMm',
    'ofdMm',
  ),
  cephalic_index_pct: ofNumbers(biometry.cephalicIndex, 'bpdMm', 'ofdMm'),
  hc_ac_expected_ratio: ofNumbers(biometry.expectedHeadAbdomenRatio, 'gaWeeks'),
  edd_from_ga: (i) => dueDateByAge(i.text('examDate'), i.number('gaDays')),
  edd_from_lmp: (i) => dueDateByLmp(i.text('lmp')),
  size_category: (i) => sizeCategory(i.number('efwCentile'), i.optionalNumber('acCentile')),
  delphi_fgr: delphi,
  twin_discordance_pct: ofNumbers(twinDiscordance, 'efwLargeG', 'efwSmallG'),
};

const UMBILICAL: Readonly<Record<string, doppler.UmbilicalIndex>> = {
  PI: 'pi',
  RI: 'ri',
  'S/D': 'sd',
  SD: 'sd',
};
const CIOBANU: Readonly<Record<string, doppler.CiobanuIndex>> = {
  'UA-PI': 'ua-pi',
  'MCA-PI': 'mca-pi',
  CPR: 'cpr',
};
const umbilicalCentile =
  (index: doppler.UmbilicalIndex): CheckFormula =>
  (i) =>
    doppler.umbilicalAt(index, i.number('gaWeeks'), zOf(i.number('centile')));

const brainCentile =
  (structure: BrainStructure): CheckFormula =>
  (i) =>
    brainStructureAt(structure, i.number('gaWeeks'), zOf(i.number('centile')));

function dopplerIndex(i: VectorInputs): number | null {
  const psv = i.number('psv');
  const edv = i.number('edv');
  const tamx = i.optionalNumber('tamx');
  switch (i.text('out')) {
    case 'PI':
      return doppler.pulsatilityIndex(psv, edv, tamx ?? Number.NaN);
    case 'RI':
      return doppler.resistanceIndex(psv, edv);
    case 'S/D':
    case 'SD':
      return doppler.systolicDiastolicRatio(psv, edv);
    default:
      throw new Error(`unknown index "${i.text('out')}"`);
  }
}

/** Checks of early pregnancy, anatomy, fluid, placenta, Doppler and labour (obstetric 4 to 13). */
const PREGNANCY_CHECKS: Readonly<Record<string, CheckFormula>> = {
  robinson1975_ga_days: ofNumbers(early.robinson1975Age, 'crlMm'),
  hadlock1992_ga_weeks: ofNumbers(early.hadlock1992Age, 'crlMm'),
  verburg2008_ga_from_crl_weeks: ofNumbers(early.verburg2008Age, 'crlMm'),
  intergrowth_ga_from_crl_days: ofNumbers(early.intergrowthAgeByCrl, 'crlMm'),
  ig_ga_from_crl_days: ofNumbers(early.intergrowthAgeByCrl, 'crlMm'),
  intergrowth_crl_for_ga_centile_to_mm: ofNumbers(early.intergrowthCrlAt, 'gaDays', 'centile'),
  intergrowth_ua_pi_centile_to_value: umbilicalCentile('pi'),
  intergrowth_ua_ri_centile_to_value: umbilicalCentile('ri'),
  intergrowth_ua_sd_centile_to_value: umbilicalCentile('sd'),
  intergrowth_ua_zscore: (i) =>
    doppler.umbilicalZ(known(UMBILICAL, i.text('index')), i.number('gaWeeks'), i.number('value')),
  ciobanu2019_centile_to_value: (i) =>
    doppler.ciobanuAt(
      known(CIOBANU, i.text('index')),
      i.number('gaDays'),
      zOf(i.number('centile')),
    ),
  gomez2008_uta_pi_centile_to_value: (i) =>
    doppler.uterinePiAt(i.number('gaDays'), zOf(i.number('centile'))),
  acharya2005_ua_sd_centile_to_value: (i) =>
    doppler.acharyaSystolicDiastolicAt(i.number('gaWeeks'), zOf(i.number('centile'))),
  mari2000_mca_psv_median_table_cm_s: (i) => {
    interpolatedInLog(i);
    return doppler.mcaPeakMedian(i.number('gaWeeks'));
  },
  mca_psv_mom_closed_form: ofNumbers(doppler.mcaPeakMoMClosedForm, 'gaWeeks', 'psvCmS'),
  doppler_indices: dopplerIndex,
  cpr: ofNumbers(doppler.cerebroplacentalRatio, 'mcaPi', 'uaPi'),
  umbilicocerebral_ratio: (i) =>
    1 / doppler.cerebroplacentalRatio(i.number('mcaPi'), i.number('uaPi')),
  intergrowth_tcd_centile_to_mm: brainCentile('cerebellum'),
  intergrowth_posterior_ventricle_centile_to_mm: brainCentile('posterior-horn'),
  intergrowth_anterior_ventricle_centile_to_mm: brainCentile('anterior-horn'),
  intergrowth_cisterna_magna_centile_to_mm: brainCentile('cisterna-magna'),
  intergrowth_parieto_occipital_fissure_centile_to_mm: brainCentile('parieto-occipital-fissure'),
  intergrowth_sylvian_fissure_centile_to_mm: brainCentile('sylvian-fissure'),
  ig_ga_from_tcd_days: ofNumbers(ageByCerebellum, 'tcdMm'),
  ventriculomegaly_category: ofNumbers(ventricleCategory, 'atrialWidthMm'),
  msd_mm: ofNumbers(early.meanSacDiameter, 'l', 'w', 'h'),
  viability_sru2012: (i) =>
    early.viability({
      crl: i.optionalNumber('crlMm'),
      msd: i.optionalNumber('msdMm'),
      embryo: i.optionalFlag('embryo'),
      cardiacActivity: i.optionalFlag('cardiacActivity'),
    }),
  nt_expected_median_mm: ofNumbers(expectedNuchalTranslucency, 'crlMm'),
  nt_mom: ofNumbers(nuchalTranslucencyMoM, 'crlMm', 'ntMm'),
  afi_cm: (i) => fluidIndex([i.number('q1'), i.number('q2'), i.number('q3'), i.number('q4')]),
  afi_category: ofNumbers(fluidIndexCategory, 'afiCm'),
  dvp_category: ofNumbers(deepestPocketCategory, 'dvpCm'),
  moore_cayle_afi_centile_mm: (i) =>
    mooreCayleFluidIndex(i.number('gaWeeks'), i.number('centile') === 5 ? 5 : 95),
  placenta_os_category: ofNumbers(placentaCategory, 'edgeToOsMm', 'gaWeeks'),
  aop_to_station_cm: ofNumbers(stationByAngle, 'aopDeg'),
  head_direction_category: ofNumbers(headDirection, 'angleDeg'),
  ctr_area: ofNumbers(cardiothoracicAreaRatio, 'heartAreaCm2', 'thoraxAreaCm2'),
  ctr_circumference: ofNumbers(cardiothoracicCircumferenceRatio, 'heartCircMm', 'thoraxCircMm'),
};

/** Maps each formula name in `obstetric-checks.json` to the function that it checks. */
export const OBSTETRIC_CHECKS: Readonly<Record<string, CheckFormula>> = {
  ...GROWTH_CHECKS,
  ...PREGNANCY_CHECKS,
};
