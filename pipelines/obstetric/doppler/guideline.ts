import type { ObstetricChart } from '../../concepts/obstetric-charts.ts';
import type { BeatVelocities } from '../../measure/doppler/arterial-flow.ts';
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

/** Rates outside of it change the indices: no chart holds (obstetric 13, pitfalls). */
export const CHARTED_RATE = { slowest: 110, fastest: 160 } as const;

/** Multiples of the median MCA-PSV from which anaemia is suspected (Mari 2000). */
export const ANAEMIA_MOM = { mild: 1.29, moderate: 1.5, severe: 1.55 } as const;

/** RI at which end-diastolic flow is absent, above which it is reversed (obstetric 13.1). */
export const RI_WITHOUT_FLOW = 1;

/** A CPR below it is low at any age in common use (Gramellini 1992), beside the centile. */
export const LOW_CPR = 1.08;

/** The angle, degrees, up to which MCA-PSV needs no correction (obstetric 13.2). */
export const MCA_ANGLE = 15;

const Z_5 = -1.6448536269514722;
const Z_95 = 1.6448536269514722;

/**
 * Flow that disappears above it is hidden by the wall filter, not absent: at most 60 Hz are right
 * (obstetric 13.2), which is 2.3 cm/s at 2 MHz; with room for the trace.
 */
export const WALL_FILTER_LIMIT = { cmPerSecond: 3, hertz: 80 } as const;

export type EndDiastolicFlow =
  | 'forward'
  | 'intermittent-absent'
  | 'absent'
  | 'reversed'
  | 'not-assessable';

/**
 * End-diastolic flow of an umbilical artery by most of its beats: absent or reversed in more than
 * half of them (obstetric 13.3). Null without beats.
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

/** Not assessable: the wall filter may hide what would be positive (obstetric 13.7). */
export type AWave = 'positive' | 'absent' | 'reversed' | 'not-assessable';

/** The a-wave of a ductus venosus by the trough of most of its beats; null without beats. */
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

/** The band of an MCA-PSV in multiples of the median (obstetric 13.4). */
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

/** PI of an umbilical artery: INTERGROWTH-21st, and outside its weeks the FMF chart. */
export function umbilicalReference(gaDays: number, pi: number): Reference | null {
  const weeks = gaDays / 7;
  return (
    referenceBy('intergrowth-2020-umbilical-artery', umbilicalZ('pi', weeks, pi), (z) =>
      umbilicalAt('pi', weeks, z),
    ) ?? ciobanuReference('ua-pi', gaDays, pi)
  );
}

/** MCA-PI or CPR by the FMF chart. */
export function ciobanuReference(
  index: CiobanuIndex,
  gaDays: number,
  value: number,
): Reference | null {
  return referenceBy('fmf-2019-doppler', ciobanuZ(index, gaDays, value), (z) =>
    ciobanuAt(index, gaDays, z),
  );
}

/** Mean PI of both uterine arteries. */
export function uterineReference(gaDays: number, meanPi: number): Reference | null {
  return referenceBy('gomez-2008-uterine-artery', uterinePiZ(gaDays, meanPi), (z) =>
    uterinePiAt(gaDays, z),
  );
}

/** Below the 5th, above the 95th centile, or between; by the unrounded centile. */
export function rank({ centile }: Reference): 'L' | 'N' | 'H' {
  if (centile === null) return 'N';
  return centile < 5 ? 'L' : centile > 95 ? 'H' : 'N';
}

/** What the summary category is drawn from; null: not assessed. */
export interface DopplerState {
  flow: EndDiastolicFlow | null;
  /** Lost flow is suspected on a trace that allows no category. */
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
 * The gravest of what was found (obstetric 13.8). Normal only where the umbilical artery was
 * judged: a brain that is well supplied says nothing of the placenta.
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
