/**
 * Fetal growth restriction of a singleton without anomaly: Delphi consensus, Gordijn et al., UOG
 * 2016;48:333-339. What is null was not available.
 */
export interface RestrictionEvidence {
  gaWeeks: number;
  efwCentile: number | null;
  acCentile: number | null;
  uaPiCentile: number | null;
  utaPiCentile: number | null;
  cprCentile: number | null;
  endDiastolicFlow: 'forward' | 'absent' | 'reversed' | null;
  /** Fall of the EFW or AC centile since a scan at least 14 days before, same chart. */
  centileFall: number | null;
}

export type RestrictionForm =
  | 'early-fgr'
  | 'late-fgr'
  | 'sga-not-fgr'
  | 'sga-doppler-needed'
  | 'none'
  | 'not-assessable';

/** Boundary of the early and the late form, in exact weeks. */
export const LATE_FORM_WEEKS = 32;

const CUTOFF = { solitary: 3, small: 10, highPi: 95, lowCpr: 5, crossing: 50 } as const;

const below = (centile: number | null, limit: number) => centile !== null && centile < limit;
const above = (centile: number | null, limit: number) => centile !== null && centile > limit;

function isEarlyRestriction(evidence: RestrictionEvidence, small: boolean): boolean {
  const flow = evidence.endDiastolicFlow;
  const doppler =
    above(evidence.utaPiCentile, CUTOFF.highPi) || above(evidence.uaPiCentile, CUTOFF.highPi);
  return flow === 'absent' || flow === 'reversed' || (small && doppler);
}

function isLateRestriction(evidence: RestrictionEvidence, small: boolean): boolean {
  const flow = evidence.endDiastolicFlow;
  // Absent or reversed flow means a UA-PI far above the 95th centile (obstetric reference 17).
  const doppler =
    below(evidence.cprCentile, CUTOFF.lowCpr) ||
    above(evidence.uaPiCentile, CUTOFF.highPi) ||
    flow === 'absent' ||
    flow === 'reversed';
  const crossing = above(evidence.centileFall, CUTOFF.crossing);
  return [small, crossing, doppler].filter(Boolean).length >= 2;
}

/**
 * Whether every Doppler criterion of the form was available. A UA-PI that is not high tells the
 * flow, too: with absent or reversed flow it is far above the 95th centile.
 */
function dopplerComplete(evidence: RestrictionEvidence, early: boolean): boolean {
  if (evidence.uaPiCentile === null) return false;
  return early ? evidence.utaPiCentile !== null : evidence.cprCentile !== null;
}

/** The Delphi form; `not-assessable` without a centile of weight or AC. */
export function restrictionForm(evidence: RestrictionEvidence): RestrictionForm {
  const { efwCentile, acCentile, gaWeeks } = evidence;
  if (efwCentile === null && acCentile === null) return 'not-assessable';
  const early = gaWeeks < LATE_FORM_WEEKS;
  const solitary = below(efwCentile, CUTOFF.solitary) || below(acCentile, CUTOFF.solitary);
  const small = below(efwCentile, CUTOFF.small) || below(acCentile, CUTOFF.small);
  const restricted = early
    ? isEarlyRestriction(evidence, small)
    : isLateRestriction(evidence, small);
  if (solitary || restricted) return early ? 'early-fgr' : 'late-fgr';
  if (!small) return 'none';
  return dopplerComplete(evidence, early) ? 'sga-not-fgr' : 'sga-doppler-needed';
}
