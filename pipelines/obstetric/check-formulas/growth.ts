import {
  type CheckFormula,
  known,
  member,
  type VectorInputs,
} from '../../contract/vector-inputs.ts';
import { perimeter } from '../../measure/ellipse.ts';
import { centileOf, zOf } from '../../measure/statistics.ts';
import {
  type BiometryCm,
  HADLOCK_1984_AGE,
  intergrowthAgeByHc,
  intergrowthAgeByHcFl,
} from '../charts/biometry-dating.ts';
import { dueDateByAge, dueDateByLmp } from '../charts/dates.ts';
import { restrictionForm } from '../charts/growth-restriction.ts';
import { hadlock1984Size } from '../charts/hadlock-size.ts';
import {
  type IntergrowthMeasure,
  intergrowthSize,
  intergrowthSizeAt,
  intergrowthSizeZ,
} from '../charts/intergrowth-size.ts';
import {
  INTERGROWTH_WEIGHT_2017,
  INTERGROWTH_WEIGHT_2020,
  intergrowthWeightAt,
  intergrowthWeightZ,
} from '../charts/intergrowth-weight.ts';
import {
  cephalicIndex,
  circumferenceOfDiameters,
  expectedHeadAbdomenRatio,
  headCircumferenceOuterInner,
} from '../charts/ratios.ts';
import { sizeCategory, twinDiscordance } from '../charts/size-category.ts';
import {
  fmf2018WeightCentile,
  HADLOCK_1991_TABLE_RATIOS,
  hadlock1991Median,
  hadlock1991Z,
} from '../charts/weight-charts.ts';
import { WEIGHT_FORMULAS, type WeightFormula } from '../charts/weight-formulas.ts';
import { type WhoMeasure, whoCentile, whoQuantile } from '../charts/who.ts';

const centile = (z: number | null): number | null => (z === null ? null : centileOf(z));

const EFW_VARIANTS: Readonly<Record<string, WeightFormula>> = {
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

/** Lengths in cm; one that the vector leaves out is NaN and shows in any result that needs it. */
function biometryCm(inputs: VectorInputs): BiometryCm {
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

/** Biometry, dating by biometry and growth (obstetric reference 2 and 3). */
export const GROWTH_CHECKS: Readonly<Record<string, CheckFormula>> = {
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
  ig_efw2017_zscore: (i) =>
    intergrowthWeightZ(INTERGROWTH_WEIGHT_2017, i.number('gaWeeks'), i.number('efwG')),
  ig_efw2017_centile: (i) =>
    centile(intergrowthWeightZ(INTERGROWTH_WEIGHT_2017, i.number('gaWeeks'), i.number('efwG'))),
  ig_efw2020_zscore: (i) =>
    intergrowthWeightZ(INTERGROWTH_WEIGHT_2020, i.number('gaWeeks'), i.number('efwG')),
  ig_efw2020_centile: (i) =>
    centile(intergrowthWeightZ(INTERGROWTH_WEIGHT_2020, i.number('gaWeeks'), i.number('efwG'))),
  hadlock1991_median_grams: (i) => hadlock1991Median(i.number('gaWeeks')),
  hadlock1991_table_centile_to_grams: (i) => {
    const median = hadlock1991Median(i.number('gaWeeks'));
    const ratio = HADLOCK_1991_TABLE_RATIOS[i.number('centile')];
    return median && ratio ? median * ratio : null;
  },
  hadlock1991_centile: (i) =>
    centile(
      hadlock1991Z(i.number('gaWeeks'), i.number('efwG'), hadlock1991Spread(i.text('spread'))),
    ),
  fmf2018_efw_centile: (i) => fmf2018WeightCentile(i.number('gaDays'), i.number('efwG')),
  who_quantile: (i) => whoQuantile(whoMeasure(i), i.number('gaWeeks'), i.number('quantile')),
  who_efw_quantile_grams: (i) =>
    whoQuantile(known(WHO_SEX, i.text('sex')), i.number('gaWeeks'), i.number('centile') / 100),
  who_centile_log_interp: (i) =>
    whoCentile(whoMeasure(i), i.number('gaWeeks'), i.number('value'))?.centile ?? null,
  efw_grams: (i) => WEIGHT_FORMULAS[known(EFW_VARIANTS, i.text('variant'))](biometryCm(i)),
  hadlock1984_ga_weeks: (i) =>
    HADLOCK_1984_AGE[member(HADLOCK_1984_AGE, i.text('combo').toLowerCase().replaceAll('+', '-'))](
      biometryCm(i),
    ),
  hadlock1984_size_cm: (i) =>
    hadlock1984Size(member(BIOMETRY, i.text('measure').toLowerCase()), i.number('gaWeeks')),
  ig_ga_hc_fl_days: (i) => intergrowthAgeByHcFl(i.number('hcMm'), i.number('flMm')),
  ig_ga_hc_days: (i) => intergrowthAgeByHc(i.number('hcMm')),
  hc_ellipse_ramanujan_mm: (i) => perimeter(i.number('d1Mm') / 2, i.number('d2Mm') / 2),
  circumference_mean_diameter_mm: (i) =>
    circumferenceOfDiameters(i.number('d1Mm'), i.number('d2Mm')),
  ac_from_diameters_mm: (i) => circumferenceOfDiameters(i.number('apadMm'), i.number('tadMm')),
  hc_hadlock_bpd_oi_ofd_mm: (i) =>
    headCircumferenceOuterInner(i.number('bpdOuterInnerMm'), i.number('ofdMm')),
  cephalic_index_pct: (i) => cephalicIndex(i.number('bpdMm'), i.number('ofdMm')),
  hc_ac_expected_ratio: (i) => expectedHeadAbdomenRatio(i.number('gaWeeks')),
  edd_from_ga: (i) => dueDateByAge(i.text('examDate'), i.number('gaDays')),
  edd_from_lmp: (i) => dueDateByLmp(i.text('lmp')),
  size_category: (i) => sizeCategory(i.number('efwCentile'), i.optionalNumber('acCentile')),
  delphi_fgr: delphi,
  twin_discordance_pct: (i) => twinDiscordance(i.number('efwLargeG'), i.number('efwSmallG')),
};
