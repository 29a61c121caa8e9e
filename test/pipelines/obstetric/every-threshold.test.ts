import { describe, expect, it } from 'vitest';
import {
  deepestPocketCategory,
  fluidIndexCategory,
} from '../../../pipelines/obstetric/amniotic-fluid/guideline.ts';
import { ventricleCategory } from '../../../pipelines/obstetric/anomaly-screen/guideline.ts';
import { headShape } from '../../../pipelines/obstetric/biometry/derive.ts';
import { cervixCategory, funnelShape } from '../../../pipelines/obstetric/cervix/guideline.ts';
import { anaemiaBand, rank } from '../../../pipelines/obstetric/doppler/guideline.ts';
import {
  nybergAge,
  suspiciousSigns,
  viability,
} from '../../../pipelines/obstetric/early-pregnancy/guideline.ts';
import {
  cardiacAxis,
  cardiacSize,
  embryonicRateBand,
  fetalRateBand,
} from '../../../pipelines/obstetric/fetal-heart/guideline.ts';
import {
  type RestrictionEvidence,
  restrictionForm,
  sizeCategory,
} from '../../../pipelines/obstetric/growth/guideline.ts';
import {
  descentBand,
  headDirection,
} from '../../../pipelines/obstetric/labor-progress/guideline.ts';
import {
  expectedNuchalTranslucency,
  nuchalCategory,
} from '../../../pipelines/obstetric/nt/guideline.ts';
import { lacunaeGrade, placentaCategory } from '../../../pipelines/obstetric/placenta/guideline.ts';
import { isPlausible } from '../../../pipelines/result/obstetric/limits.ts';

type Said = string | number | boolean | null;

/** A threshold, and the conclusions for a value just below, at or just above it. */
interface Threshold {
  of: string;
  at: number;
  /** Step to a value just below or just above the threshold. */
  by: number;
  said(value: number): Said;
  expected: readonly [below: Said, on: Said, above: Said];
}

const threshold = (
  of: string,
  at: number,
  expected: Threshold['expected'],
  said: Threshold['said'],
  by = 0.001,
): Threshold => ({ of, at, by, said, expected });

const nothing = { crl: null, msd: null, embryo: null, cardiacActivity: null };
const silent = (crl: number) => viability({ ...nothing, crl, cardiacActivity: false });
const empty = (msd: number) => viability({ ...nothing, msd, embryo: false });
const signs = { yolkSac: null, msd: null, crl: null, embryo: null, daysByLmp: null };

const restriction = (changes: Partial<RestrictionEvidence>) =>
  restrictionForm({
    gaWeeks: 36,
    efwCentile: 9,
    acCentile: null,
    uaPiCentile: 50,
    utaPiCentile: 50,
    cprCentile: 50,
    endDiastolicFlow: 'forward',
    centileFall: 0,
    ...changes,
  });
const early = (changes: Partial<RestrictionEvidence>) => restriction({ gaWeeks: 30, ...changes });

const reference = (centile: number) => ({
  low: null,
  high: null,
  centile,
  z_score: null,
  chart: '',
});

const DIAGNOSED = 'diagnostic-of-pregnancy-loss';
const SUSPECTED = 'suspicious-for-pregnancy-loss';

const THRESHOLDS: readonly Threshold[] = [
  threshold('weight centile', 3, ['sga-severe', 'sga', 'sga'], (c) => sizeCategory(c)),
  threshold('weight centile', 10, ['sga', 'aga', 'aga'], (c) => sizeCategory(c)),
  threshold('weight centile', 90, ['aga', 'aga', 'lga'], (c) => sizeCategory(c)),
  threshold('weight centile', 97, ['lga', 'lga', 'lga-severe'], (c) => sizeCategory(c)),
  threshold('AC centile', 3, ['sga-severe', 'aga', 'aga'], (c) => sizeCategory(50, c)),
  threshold('cephalic index, %', 70, ['dolichocephaly', null, null], headShape),
  threshold('cephalic index, %', 86, [null, null, 'brachycephaly'], headShape),

  threshold('early form: EFW centile', 3, ['early-fgr', 'sga-not-fgr', 'sga-not-fgr'], (c) =>
    early({ efwCentile: c }),
  ),
  threshold('early form: AC centile', 3, ['early-fgr', 'sga-not-fgr', 'sga-not-fgr'], (c) =>
    early({ acCentile: c }),
  ),
  threshold('early form: EFW centile', 10, ['sga-not-fgr', 'none', 'none'], (c) =>
    early({ efwCentile: c, acCentile: 50 }),
  ),
  threshold('early form: UA-PI centile', 95, ['sga-not-fgr', 'sga-not-fgr', 'early-fgr'], (c) =>
    early({ uaPiCentile: c }),
  ),
  threshold('early form: UtA-PI centile', 95, ['sga-not-fgr', 'sga-not-fgr', 'early-fgr'], (c) =>
    early({ utaPiCentile: c }),
  ),
  threshold('late form: UA-PI centile', 95, ['sga-not-fgr', 'sga-not-fgr', 'late-fgr'], (c) =>
    restriction({ uaPiCentile: c }),
  ),
  threshold('late form: CPR centile', 5, ['late-fgr', 'sga-not-fgr', 'sga-not-fgr'], (c) =>
    restriction({ cprCentile: c }),
  ),
  threshold('late form: fall in points', 50, ['sga-not-fgr', 'sga-not-fgr', 'late-fgr'], (points) =>
    restriction({ centileFall: points }),
  ),
  threshold('weeks that part the forms', 32, ['early-fgr', 'late-fgr', 'late-fgr'], (gaWeeks) =>
    restriction({ gaWeeks, efwCentile: 2 }),
  ),

  threshold(
    'deepest pocket, cm',
    2,
    ['oligohydramnios', 'normal', 'normal'],
    deepestPocketCategory,
  ),
  threshold(
    'deepest pocket, cm',
    8,
    ['normal', 'polyhydramnios-mild', 'polyhydramnios-mild'],
    deepestPocketCategory,
  ),
  threshold(
    'deepest pocket, cm',
    12,
    ['polyhydramnios-mild', 'polyhydramnios-moderate', 'polyhydramnios-moderate'],
    deepestPocketCategory,
  ),
  threshold(
    'deepest pocket, cm',
    16,
    ['polyhydramnios-moderate', 'polyhydramnios-severe', 'polyhydramnios-severe'],
    deepestPocketCategory,
  ),
  threshold('AFI, cm', 5, ['oligohydramnios', 'oligohydramnios', 'normal'], fluidIndexCategory),
  threshold(
    'AFI, cm',
    24,
    ['normal', 'polyhydramnios-mild', 'polyhydramnios-mild'],
    fluidIndexCategory,
  ),
  threshold(
    'AFI, cm',
    30,
    ['polyhydramnios-mild', 'polyhydramnios-moderate', 'polyhydramnios-moderate'],
    fluidIndexCategory,
  ),
  threshold(
    'AFI, cm',
    35,
    ['polyhydramnios-moderate', 'polyhydramnios-severe', 'polyhydramnios-severe'],
    fluidIndexCategory,
  ),

  threshold('placental edge to os, mm', 0, ['praevia', 'praevia', 'low-lying'], (mm) =>
    placentaCategory(mm, 20),
  ),
  threshold('placental edge to os, mm', 20, ['low-lying', 'normal', 'normal'], (mm) =>
    placentaCategory(mm, 20),
  ),
  threshold('weeks of a placental category', 16, ['too-early', 'normal', 'normal'], (weeks) =>
    placentaCategory(40, weeks),
  ),
  threshold('lacunae', 1, [0, 1, 1], lacunaeGrade, 1),
  threshold('lacunae', 3, [1, 1, 2], lacunaeGrade, 1),
  threshold('lacunae', 6, [2, 2, 3], lacunaeGrade, 1),

  threshold('CRL without a heartbeat, mm', 7, [SUSPECTED, DIAGNOSED, DIAGNOSED], silent),
  threshold('empty sac, mm', 16, ['uncertain-viability', SUSPECTED, SUSPECTED], empty),
  threshold('empty sac, mm', 25, [SUSPECTED, DIAGNOSED, DIAGNOSED], empty),
  threshold(
    'yolk sac, mm',
    7,
    [false, false, true],
    (mm) => suspiciousSigns({ ...signs, yolkSac: mm }).largeYolkSac,
  ),
  threshold(
    'MSD above CRL, mm',
    5,
    [true, false, false],
    (mm) => suspiciousSigns({ ...signs, crl: 10, msd: 10 + mm }).smallSac,
  ),
  threshold(
    'days by LMP without an embryo',
    42,
    [false, true, true],
    (days) => suspiciousSigns({ ...signs, embryo: false, daysByLmp: days }).lateEmbryo,
    1,
  ),
  threshold('MSD that dates, mm', 25, [true, false, false], (mm) => nybergAge(mm) !== null),
  threshold('rate at 6+0', 90, ['slow', 'borderline', 'borderline'], (bpm) =>
    embryonicRateBand(42, bpm),
  ),
  threshold('rate at 6+0', 100, ['borderline', 'usual', 'usual'], (bpm) =>
    embryonicRateBand(42, bpm),
  ),
  threshold('rate at 7+0', 110, ['slow', 'borderline', 'borderline'], (bpm) =>
    embryonicRateBand(49, bpm),
  ),
  threshold('rate at 7+0', 120, ['borderline', 'usual', 'usual'], (bpm) =>
    embryonicRateBand(49, bpm),
  ),
  threshold('rate at 8+0', 120, ['slow', 'usual', 'usual'], (bpm) => embryonicRateBand(56, bpm)),
  threshold('rate at 8+0', 190, ['usual', 'usual', 'fast'], (bpm) => embryonicRateBand(56, bpm)),
  threshold('rate at 12+0', 120, ['slow', 'borderline', 'borderline'], (bpm) =>
    embryonicRateBand(84, bpm),
  ),
  threshold('rate at 12+0', 130, ['borderline', 'usual', 'usual'], (bpm) =>
    embryonicRateBand(84, bpm),
  ),
  threshold('rate at 12+0', 175, ['usual', 'usual', 'fast'], (bpm) => embryonicRateBand(84, bpm)),
  threshold(
    'last day of the first band',
    44,
    ['usual', 'usual', 'slow'],
    (day) => embryonicRateBand(day, 105),
    1,
  ),
  threshold(
    'last day with a band before 11 weeks',
    69,
    ['usual', 'usual', null],
    (day) => embryonicRateBand(day, 150),
    1,
  ),
  threshold(
    'first day of the band from 11 weeks',
    77,
    [null, 'usual', 'usual'],
    (day) => embryonicRateBand(day, 150),
    1,
  ),
  threshold(
    'first day of the fetal band',
    98,
    ['fast', 'tachycardia', 'tachycardia'],
    (day) => fetalRateBand(day, 185),
    1,
  ),
  threshold('rate at 20+0', 110, ['slow', 'normal', 'normal'], (bpm) => fetalRateBand(140, bpm)),
  threshold('rate at 20+0', 160, ['normal', 'normal', 'fast'], (bpm) => fetalRateBand(140, bpm)),
  threshold('rate at 20+0', 180, ['fast', 'fast', 'tachycardia'], (bpm) => fetalRateBand(140, bpm)),

  threshold('NT, mm, without CRL', 3.5, [null, 'high', 'high'], (mm) => nuchalCategory(mm, null)),
  threshold('NT, mm, at CRL 45', 2.1, ['normal', 'increased', 'increased'], (mm) =>
    nuchalCategory(mm, 45),
  ),
  threshold('NT, mm, at CRL 84', 2.7, ['normal', 'increased', 'increased'], (mm) =>
    nuchalCategory(mm, 84),
  ),
  threshold(
    'CRL of an NT, mm',
    45,
    [false, true, true],
    (crl) => expectedNuchalTranslucency(crl) !== null,
  ),
  threshold(
    'CRL of an NT, mm',
    84,
    [true, true, false],
    (crl) => expectedNuchalTranslucency(crl) !== null,
  ),

  threshold('heart to thorax, area', 0.25, ['small', 'normal', 'normal'], cardiacSize),
  threshold('heart to thorax, area', 0.35, ['normal', 'normal', 'large'], cardiacSize),
  threshold('cardiac axis, degrees', 0, ['right-sided', 'small', 'small'], cardiacAxis),
  threshold('cardiac axis, degrees', 25, ['small', 'normal', 'normal'], cardiacAxis),
  threshold('cardiac axis, degrees', 65, ['normal', 'normal', 'large'], cardiacAxis),

  threshold('atrium, mm', 10, ['normal', 'mild', 'mild'], ventricleCategory),
  threshold('atrium, mm', 13, ['mild', 'moderate', 'moderate'], ventricleCategory),
  threshold('atrium, mm', 15, ['moderate', 'moderate', 'severe'], ventricleCategory),

  threshold('cervix, mm', 10, ['extremely-short', 'extremely-short', 'very-short'], cervixCategory),
  threshold('cervix, mm', 15, ['very-short', 'very-short', 'short'], cervixCategory),
  threshold('cervix, mm', 25, ['short', 'short', 'normal'], cervixCategory),
  threshold('cervix, mm', 30, ['normal', 'long', 'long'], cervixCategory),
  threshold('fullness of a funnel', 0.43, ['Y', 'V', 'V'], funnelShape),
  threshold('fullness of a funnel', 0.63, ['V', 'V', 'U'], funnelShape),

  threshold('angle of progression', 110, ['high', 'intermediate', 'intermediate'], descentBand),
  threshold('angle of progression', 120, ['intermediate', 'low-or-mid', 'low-or-mid'], descentBand),
  threshold(
    'angle of progression',
    145,
    ['low-or-mid', 'deeply-engaged', 'deeply-engaged'],
    descentBand,
  ),
  threshold(
    'direction of the head, degrees',
    0,
    ['down', 'horizontal', 'horizontal'],
    headDirection,
  ),
  threshold(
    'direction of the head, degrees',
    30,
    ['horizontal', 'horizontal', 'up'],
    headDirection,
  ),

  threshold('MCA-PSV, MoM', 1.29, ['no-signal', 'mild', 'mild'], anaemiaBand),
  threshold('MCA-PSV, MoM', 1.5, ['mild', 'moderate-to-severe', 'moderate-to-severe'], anaemiaBand),
  threshold('MCA-PSV, MoM', 1.55, ['moderate-to-severe', 'severe', 'severe'], anaemiaBand),
  threshold('Doppler centile', 5, ['L', 'N', 'N'], (c) => rank(reference(c))),
  threshold('Doppler centile', 95, ['N', 'N', 'H'], (c) => rank(reference(c))),

  ...(
    [
      ['bpd', 8, 115],
      ['ofd', 10, 145],
      ['hc', 30, 410],
      ['ac', 30, 450],
      ['tad', 8, 150],
      ['apad', 8, 150],
      ['fl', 4, 90],
      ['crl', 1, 110],
      ['mean-sac-diameter', 1, 80],
      ['yolk-sac', 0.5, 20],
      ['efw', 50, 6500],
      ['deepest-vertical-pocket', 0, 250],
      ['amniotic-fluid-index', 0, 600],
      ['cervical-length', 0, 80],
      ['placenta-to-os', -80, 200],
      ['fetal-heart-rate', 40, 260],
      ['umbilical-artery-pi', 0.1, 10],
      ['middle-cerebral-artery-psv', 5, 200],
      ['cardiothoracic-area-ratio', 0.05, 0.9],
      ['cardiothoracic-circumference-ratio', 0.22, 0.95],
      ['angle-of-progression', 50, 200],
      ['ga-by-sac', 28, 301],
    ] as const
  ).flatMap(([key, low, high]) => [
    threshold(`lower limit of ${key}`, low, [false, true, true], (v) => isPlausible(key, v)),
    threshold(`upper limit of ${key}`, high, [true, true, false], (v) => isPlausible(key, v)),
  ]),
  ...(
    [
      ['umbilical-artery-sd', 1],
      ['head-symphysis-distance', 0],
    ] as const
  ).map(([key, low]) =>
    threshold(`lower limit of ${key}`, low, [false, true, true], (v) => isPlausible(key, v)),
  ),
];

describe('every threshold, just below, at and just above it', () => {
  it.each(THRESHOLDS.map((one) => [one.of, one.at, one] as const))('%s %f', (_, at, one) => {
    const said = [at - one.by, at, at + one.by].map((value) => one.said(value));
    expect(said).toEqual(one.expected);
  });
});
