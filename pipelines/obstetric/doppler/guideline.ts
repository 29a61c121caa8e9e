import type { ObstetricChart } from '../../concepts/obstetric.ts';
import { centileOf } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { BeatVelocities } from './evidence.ts';

/**
 * Range of fetal heart rates for which the charts are valid, beats per minute. Outside it the
 * indices change (obstetric 13, pitfalls).
 */
export const CHARTED_RATE = { slowest: 110, fastest: 160 } as const;

/**
 * Multiples of the median MCA-PSV at or above which anaemia is suspected, by degree (Mari 2000).
 */
export const ANAEMIA_MOM = { mild: 1.29, moderate: 1.5, severe: 1.55 } as const;

/** RI at which end-diastolic flow is absent; above it, the flow is reversed (obstetric 13.1). */
export const RI_WITHOUT_FLOW = 1;

/**
 * Age in days from which an umbilical artery is expected to have end-diastolic flow. Earlier,
 * absent flow is usual (obstetric 13.3).
 */
export const FLOW_EXPECTED_FROM = 16 * 7;

/**
 * Value below which a CPR is commonly considered low at any age (Gramellini 1992). Reported in
 * addition to the centile.
 */
export const LOW_CPR = 1.08;

/** Maximum angle in degrees at which MCA-PSV needs no correction (obstetric 13.2). */
export const MCA_ANGLE = 15;

const Z_5 = -1.6448536269514722;
const Z_95 = 1.6448536269514722;

/**
 * Maximum velocity or Doppler shift below which the wall filter is allowed to remove flow. If the
 * filter removes faster flow as well, missing flow is not called absent. The filter should be at
 * most 60 Hz (obstetric 13.2), which is 2.3 cm/s at 2 MHz; the limit adds a tolerance for the
 * trace.
 */
export const WALL_FILTER_LIMIT = { cmPerSecond: 3, hertz: 80 } as const;

export type EndDiastolicFlow =
  | 'forward'
  | 'intermittent-absent'
  | 'absent'
  | 'reversed'
  | 'not-assessable';

/**
 * Returns the end-diastolic flow of an umbilical artery (obstetric 13.3); null if there are no
 * beats.
 * - `reversed`: the flow is reversed in more than half of the beats.
 * - `absent`: it is absent or reversed in more than half of the beats.
 * - `intermittent-absent`: it is absent or reversed in some beats, but in no more than half.
 * - `forward`: it is neither absent nor reversed in any beat.
 */
export function endDiastolicFlow(beats: readonly BeatVelocities[]): EndDiastolicFlow | null {
  if (beats.length === 0) return null;
  const share = (flows: readonly BeatVelocities['endFlow'][]) =>
    beats.filter(({ endFlow }) => flows.includes(endFlow)).length / beats.length;
  if (share(['reversed']) > 0.5) return 'reversed';
  const without = share(['absent', 'reversed']);
  if (without > 0.5) return 'absent';
  return without > 0 ? 'intermittent-absent' : 'forward';
}

/**
 * Returns true if end-diastolic flow in an umbilical artery is missing or cannot be assessed, but at
 * an early age, when it is often missing (obstetric 13.3). False if the age is unknown.
 */
export const isUsualFlow = (flow: EndDiastolicFlow | null, gaDays: number | null): boolean =>
  gaDays !== null &&
  gaDays < FLOW_EXPECTED_FROM &&
  (flow === 'absent' || flow === 'intermittent-absent' || flow === 'not-assessable');

/**
 * A-wave of a ductus venosus. It is not assessable if the wall filter may hide a positive a-wave
 * (obstetric 13.7).
 */
export type AWave = 'positive' | 'absent' | 'reversed' | 'not-assessable';

/**
 * Returns the a-wave of a ductus venosus from the lowest velocity in the majority of beats; null if
 * there are no beats.
 */
export function aWave(
  beats: readonly BeatVelocities[],
  hiddenBelow: number,
): Exclude<AWave, 'not-assessable'> | null {
  if (beats.length === 0) return null;
  const reversed = beats.filter(({ lowest }) => lowest <= -hiddenBelow).length;
  const low = beats.filter(({ lowest }) => lowest < hiddenBelow).length;
  if (reversed * 2 > beats.length) return 'reversed';
  return low * 2 > beats.length ? 'absent' : 'positive';
}

type AnaemiaBand = 'no-signal' | 'mild' | 'moderate-to-severe' | 'severe';

/** Returns the anaemia band for an MCA-PSV in multiples of the median (obstetric 13.4). */
export function anaemiaBand(mom: number): AnaemiaBand {
  if (mom >= ANAEMIA_MOM.severe) return 'severe';
  if (mom >= ANAEMIA_MOM.moderate) return 'moderate-to-severe';
  return mom >= ANAEMIA_MOM.mild ? 'mild' : 'no-signal';
}

/** Returns true if the summary category reports an anaemia flag for a band. */
export const isAnaemiaFlag = (band: AnaemiaBand): boolean =>
  band === 'moderate-to-severe' || band === 'severe';

type Reference = NonNullable<Measurement['reference']>;

function referenceBy(
  chart: ObstetricChart,
  z: number | null,
  at: (z: number) => number | null,
): Reference | null {
  if (z === null) return null;
  return { low: at(Z_5), high: at(Z_95), centile: centileOf(z), z_score: z, chart };
}

/**
 * Returns the z-score and centile of an umbilical artery PI on the INTERGROWTH-21st chart. At ages
 * that only the FMF chart covers, the FMF chart is used. Null at ages outside both charts.
 */
export function umbilicalReference(gaDays: number, pi: number): Reference | null {
  const weeks = gaDays / 7;
  return (
    referenceBy('intergrowth-2020-umbilical-artery', umbilicalZ('pi', weeks, pi), (z) =>
      umbilicalAt('pi', weeks, z),
    ) ?? ciobanuReference('ua-pi', gaDays, pi)
  );
}

/** Returns the z-score and centile of an index on the FMF chart; null outside the chart. */
export function ciobanuReference(
  index: CiobanuIndex,
  gaDays: number,
  value: number,
): Reference | null {
  return referenceBy('fmf-2019-doppler', ciobanuZ(index, gaDays, value), (z) =>
    ciobanuAt(index, gaDays, z),
  );
}

/**
 * Returns the z-score and centile of the mean PI of both uterine arteries; null outside the chart.
 */
export function uterineReference(gaDays: number, meanPi: number): Reference | null {
  return referenceBy('gomez-2008-uterine-artery', uterinePiZ(gaDays, meanPi), (z) =>
    uterinePiAt(gaDays, z),
  );
}

/**
 * Returns L below the 5th centile, H above the 95th, and N between them. The unrounded centile is
 * used.
 */
export function rank({ centile }: Reference): 'L' | 'N' | 'H' {
  if (centile === null) return 'N';
  return centile < 5 ? 'L' : centile > 95 ? 'H' : 'N';
}

/** Results from which the summary category is determined; null means not assessed. */
export interface DopplerState {
  flow: EndDiastolicFlow | null;
  /** True if absent or reversed flow is suspected on a trace too poor for a category. */
  suspected: boolean;
  umbilicalPi: 'L' | 'N' | 'H' | null;
  cerebralPi: 'L' | 'N' | 'H' | null;
  cpr: 'L' | 'N' | 'H' | null;
  aWave: AWave | null;
  anaemia: AnaemiaBand | null;
  /**
   * True if a value may be abnormal, because its interval includes a cut-off of the summary.
   */
  atCutOff: boolean;
}

/**
 * Summary categories, most severe first. `not-assessed` comes before `normal`: if one of several
 * fetuses was not assessed, their combined summary cannot be normal.
 */
export const DOPPLER_SUMMARIES = [
  'redf',
  'aedf',
  'dv-abnormal',
  'abnormal-ua',
  'redistribution',
  'anaemia-flag',
  'not-assessed',
  'normal',
] as const;
export type DopplerSummary = (typeof DOPPLER_SUMMARIES)[number];

/**
 * Returns the summary category, which is that of the most severe result (obstetric 13.8). It is
 * normal only if the umbilical artery was assessed, because normal flow to the brain does not
 * exclude placental disease.
 */
export function dopplerSummary(state: DopplerState): DopplerSummary {
  if (state.flow === 'reversed') return 'redf';
  if (state.flow === 'absent') return 'aedf';
  if (state.aWave === 'absent' || state.aWave === 'reversed') return 'dv-abnormal';
  if (state.umbilicalPi === 'H' || state.flow === 'intermittent-absent') return 'abnormal-ua';
  if (state.cerebralPi === 'L' || state.cpr === 'L') return 'redistribution';
  if (state.anaemia !== null && isAnaemiaFlag(state.anaemia)) return 'anaemia-flag';
  const open =
    state.suspected ||
    state.atCutOff ||
    state.flow === 'not-assessable' ||
    state.aWave === 'not-assessable';
  const judged = state.umbilicalPi !== null && !open;
  return judged ? 'normal' : 'not-assessed';
}

const { exp, log, log10, sqrt } = Math;

/**
 * Returns the pulsatility index from velocities in cm/s. TAMX is the time average of the maximum
 * velocity, not of the mean velocity.
 */
export function pulsatilityIndex(psv: number, edv: number, tamx: number): number {
  return (psv - edv) / tamx;
}

/**
 * Returns Pourcelot's resistance index. It is 1 if end-diastolic flow is absent, and above 1 if it
 * is reversed.
 */
export function resistanceIndex(psv: number, edv: number): number {
  return (psv - edv) / psv;
}

/** Returns the S/D ratio; null if there is no forward end-diastolic flow. */
export function systolicDiastolicRatio(psv: number, edv: number): number | null {
  return edv > 0 ? psv / edv : null;
}

/**
 * Returns the cerebroplacental ratio: MCA-PI / UA-PI from the same scan. Its inverse is the
 * umbilicocerebral ratio.
 */
export function cerebroplacentalRatio(mcaPi: number, uaPi: number): number {
  return mcaPi / uaPi;
}

export type UmbilicalIndex = 'pi' | 'ri' | 'sd';

interface ExponentialNormal {
  g: number;
  m(ga: number): number;
  s(ga: number): number;
}

/** INTERGROWTH-21st, Drukker et al., AJOG 2020;222:602.e1-15, for exact weeks from 24 to 40. */
const DRUKKER_2020: Readonly<Record<UmbilicalIndex, ExponentialNormal>> = {
  pi: {
    g: -0.0768617,
    m: (ga) => 1.02944 + 77.7456 * ga ** -2 - 0.000004455 * ga ** 3,
    s: (ga) => -0.00645693 + 254.885 * log(ga) * ga ** -2 - 715.949 * ga ** -2,
  },
  ri: {
    g: 0.0172944,
    m: (ga) => 0.674914 + 25.3909 * ga ** -2 - 0.0000022523 * ga ** 3,
    s: (ga) => 0.0375921 + 60.7614 * log(ga) * ga ** -2 - 183.336 * ga ** -2,
  },
  sd: {
    g: -0.2752483,
    m: (ga) => 2.60358 + 445.991 * ga ** -2 - 0.0000108754 * ga ** 3,
    s: (ga) => -0.503202 + 1268.37 * log(ga) * ga ** -2 - 3417.37 * ga ** -2,
  },
};

const drukkerRange = (gaWeeks: number) => gaWeeks >= 24 && gaWeeks <= 40;

/**
 * Returns the value at a z-score; null outside the chart, or where the model diverges (1 + g z ≤
 * 0).
 */
export function umbilicalAt(index: UmbilicalIndex, gaWeeks: number, z: number): number | null {
  const { g, m, s } = DRUKKER_2020[index];
  const base = 1 + g * z;
  if (!drukkerRange(gaWeeks) || base <= 0) return null;
  return m(gaWeeks) + (s(gaWeeks) * log(base)) / g;
}

/** Returns the z-score of a value; null outside the chart. */
export function umbilicalZ(index: UmbilicalIndex, gaWeeks: number, value: number): number | null {
  const { g, m, s } = DRUKKER_2020[index];
  if (!drukkerRange(gaWeeks)) return null;
  return (exp(((value - m(gaWeeks)) * g) / s(gaWeeks)) - 1) / g;
}

export type CiobanuIndex = 'ua-pi' | 'mca-pi' | 'cpr';

/**
 * FMF, Ciobanu et al., UOG 2019;53:465-472: log10 of the median and its SD, by gestational age in
 * days. The median of UA-PI is linear on the raw scale; the other two medians are polynomials on
 * the log scale.
 */
const CIOBANU_2019: Readonly<
  Record<CiobanuIndex, { median(d: number): number; sd(d: number): number }>
> = {
  'ua-pi': {
    median: (d) => log10(1.6473 - 0.003005 * d),
    sd: (d) => 0.08713 - 0.0002936 * d + 0.0000009355 * d ** 2,
  },
  'mca-pi': {
    median: (d) => 0.3117 - 0.0071 * d + 0.00006345 * d ** 2 - 0.0000001443 * d ** 3,
    sd: (d) => 0.1708 - 0.001199 * d + 0.000003211 * d ** 2,
  },
  cpr: {
    median: (d) => -0.3564 + 0.0003969 * d + 0.00003199 * d ** 2 - 0.00000009266 * d ** 3,
    sd: (d) => 0.1948 - 0.00122 * d + 0.000003262 * d ** 2,
  },
};

/** Returns the value at a z-score for an age of 20+0 to 41+6; null outside the chart. */
export function ciobanuAt(index: CiobanuIndex, gaDays: number, z: number): number | null {
  if (gaDays < 140 || gaDays > 293) return null;
  const { median, sd } = CIOBANU_2019[index];
  return 10 ** (median(gaDays) + z * sd(gaDays));
}

function ciobanuZ(index: CiobanuIndex, gaDays: number, value: number): number | null {
  if (gaDays < 140 || gaDays > 293) return null;
  const { median, sd } = CIOBANU_2019[index];
  return (log10(value) - median(gaDays)) / sd(gaDays);
}

/** Returns the mean and SD of ln(PI): Gomez et al., UOG 2008;32:128-132, from 11+0 to 41+0. */
function gomez(gaDays: number): { mean: number; sd: number } | null {
  if (gaDays < 77 || gaDays > 287) return null;
  return {
    mean: 1.39 - 0.012 * gaDays + 0.0000198 * gaDays ** 2,
    sd: 0.272 - 0.000259 * gaDays,
  };
}

/** Returns the mean PI of both uterine arteries at a z-score; null outside the chart. */
export function uterinePiAt(gaDays: number, z: number): number | null {
  const model = gomez(gaDays);
  return model && exp(model.mean + z * model.sd);
}

function uterinePiZ(gaDays: number, meanPi: number): number | null {
  const model = gomez(gaDays);
  return model && (log(meanPi) - model.mean) / model.sd;
}

/**
 * Returns the S/D ratio at a z-score for the umbilical artery in a free loop: Acharya et al., AJOG
 * 2005;192:937-944, 19 to 41 weeks. Null at other ages.
 */
export function acharyaSystolicDiastolicAt(gaWeeks: number, z: number): number | null {
  if (gaWeeks < 19 || gaWeeks > 41) return null;
  const lnGa = log(gaWeeks);
  const variance = 0.4851 - 0.2678 * lnGa + 0.04115 * lnGa ** 2;
  return exp(4.16676 - 0.9188 * lnGa + z * sqrt(variance));
}

/** Median MCA-PSV in cm/s for every second week from 18 on: Mari et al., NEJM 2000;342:9-14. */
const MARI_2000 = [23.2, 25.5, 27.9, 30.7, 33.6, 36.9, 40.5, 44.4, 48.7, 53.5, 58.7, 64.4] as const;
const MARI_FROM_WEEK = 18;
const MARI_STEP = 2;

/**
 * Returns the median MCA-PSV in cm/s from 18 to 40 weeks; null at other ages. ln(median) is
 * interpolated between the printed weeks.
 */
export function mcaPeakMedian(gaWeeks: number): number | null {
  const position = (gaWeeks - MARI_FROM_WEEK) / MARI_STEP;
  const index = Math.min(Math.floor(position), MARI_2000.length - 2);
  const lower = MARI_2000[index];
  const upper = MARI_2000[index + 1];
  if (position < 0 || position > MARI_2000.length - 1 || !lower || !upper) return null;
  return lower * (upper / lower) ** (position - index);
}

/**
 * Returns the multiple of the median from the rounded closed-form equation in Mari 2000. The
 * medians by the equation are 0.5 to 1.6 % below those in the table.
 */
export function mcaPeakMoMClosedForm(gaWeeks: number, psv: number): number {
  return psv / exp(2.31 + 0.046 * gaWeeks);
}
