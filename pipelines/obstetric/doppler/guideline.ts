import type { ObstetricChart } from '../../concepts/obstetric-charts.ts';
import type { BeatVelocities } from '../../measure/doppler/waveform.ts';
import { centileOf } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  type CiobanuIndex,
  ciobanuAt,
  ciobanuZ,
  umbilicalAt,
  umbilicalZ,
  uterinePiAt,
  uterinePiZ,
} from './charts.ts';

/**
 * Range of fetal heart rates, beats per minute: outside it the indices change, and no chart applies
 * (obstetric 13, pitfalls).
 */
export const CHARTED_RATE = { slowest: 110, fastest: 160 } as const;

/** Multiples of the median MCA-PSV from which anaemia is suspected (Mari 2000). */
export const ANAEMIA_MOM = { mild: 1.29, moderate: 1.5, severe: 1.55 } as const;

/** RI at which end-diastolic flow is absent; above it, the flow is reversed (obstetric 13.1). */
export const RI_WITHOUT_FLOW = 1;

/**
 * A CPR below this is commonly called low at any age (Gramellini 1992); it is reported beside the
 * centile.
 */
export const LOW_CPR = 1.08;

/** Largest angle in degrees at which MCA-PSV needs no correction (obstetric 13.2). */
export const MCA_ANGLE = 15;

const Z_5 = -1.6448536269514722;
const Z_95 = 1.6448536269514722;

/**
 * Flow that disappears above this limit is hidden by the wall filter, not absent. The filter should
 * be at most 60 Hz (obstetric 13.2), which is 2.3 cm/s at 2 MHz; the limit adds room for the trace.
 */
export const WALL_FILTER_LIMIT = { cmPerSecond: 3, hertz: 80 } as const;

export type EndDiastolicFlow =
  | 'forward'
  | 'intermittent-absent'
  | 'absent'
  | 'reversed'
  | 'not-assessable';

/**
 * End-diastolic flow of an umbilical artery: absent or reversed where more than half of the beats
 * are (obstetric 13.3), intermittently absent where fewer are. Null without beats.
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
 * The a-wave. It is not assessable where the wall filter may hide a positive one (obstetric 13.7).
 */
export type AWave = 'positive' | 'absent' | 'reversed' | 'not-assessable';

/** The a-wave of a ductus venosus, from the lowest velocity of most beats; null without beats. */
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

export type AnaemiaBand = 'no-signal' | 'mild' | 'moderate-to-severe' | 'severe';

/** The anaemia band for an MCA-PSV in multiples of the median (obstetric 13.4). */
export function anaemiaBand(mom: number): AnaemiaBand {
  if (mom >= ANAEMIA_MOM.severe) return 'severe';
  if (mom >= ANAEMIA_MOM.moderate) return 'moderate-to-severe';
  return mom >= ANAEMIA_MOM.mild ? 'mild' : 'no-signal';
}

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
 * The place of an umbilical artery PI on the INTERGROWTH-21st chart, or outside its weeks on the
 * FMF chart; null outside both.
 */
export function umbilicalReference(gaDays: number, pi: number): Reference | null {
  const weeks = gaDays / 7;
  return (
    referenceBy('intergrowth-2020-umbilical-artery', umbilicalZ('pi', weeks, pi), (z) =>
      umbilicalAt('pi', weeks, z),
    ) ?? ciobanuReference('ua-pi', gaDays, pi)
  );
}

/** The place of an index on the FMF chart; null outside the chart. */
export function ciobanuReference(
  index: CiobanuIndex,
  gaDays: number,
  value: number,
): Reference | null {
  return referenceBy('fmf-2019-doppler', ciobanuZ(index, gaDays, value), (z) =>
    ciobanuAt(index, gaDays, z),
  );
}

/** The place of the mean PI of both uterine arteries on its chart; null outside the chart. */
export function uterineReference(gaDays: number, meanPi: number): Reference | null {
  return referenceBy('gomez-2008-uterine-artery', uterinePiZ(gaDays, meanPi), (z) =>
    uterinePiAt(gaDays, z),
  );
}

/** L below the 5th centile, H above the 95th, N between; compared without rounding. */
export function rank({ centile }: Reference): 'L' | 'N' | 'H' {
  if (centile === null) return 'N';
  return centile < 5 ? 'L' : centile > 95 ? 'H' : 'N';
}

/** What the summary category is based on; null means not assessed. */
export interface DopplerState {
  flow: EndDiastolicFlow | null;
  /** Whether lost flow is suspected on a trace too poor for a category. */
  suspected: boolean;
  umbilicalPi: 'L' | 'N' | 'H' | null;
  cerebralPi: 'L' | 'N' | 'H' | null;
  cpr: 'L' | 'N' | 'H' | null;
  aWave: AWave | null;
  anaemia: AnaemiaBand | null;
}

export type DopplerSummary =
  | 'redf'
  | 'aedf'
  | 'dv-abnormal'
  | 'abnormal-ua'
  | 'redistribution'
  | 'anaemia-flag'
  | 'normal'
  | 'not-assessed';

/**
 * The summary category: the gravest result (obstetric 13.8). It is normal only if the umbilical
 * artery was judged, since good flow to the brain says nothing about the placenta.
 */
export function dopplerSummary(state: DopplerState): DopplerSummary {
  if (state.flow === 'reversed') return 'redf';
  if (state.flow === 'absent') return 'aedf';
  if (state.aWave === 'absent' || state.aWave === 'reversed') return 'dv-abnormal';
  if (state.umbilicalPi === 'H' || state.flow === 'intermittent-absent') return 'abnormal-ua';
  if (state.cerebralPi === 'L' || state.cpr === 'L') return 'redistribution';
  if (state.anaemia === 'moderate-to-severe' || state.anaemia === 'severe') return 'anaemia-flag';
  const open =
    state.suspected || state.flow === 'not-assessable' || state.aWave === 'not-assessable';
  const judged = state.umbilicalPi !== null && !open;
  return judged ? 'normal' : 'not-assessed';
}
