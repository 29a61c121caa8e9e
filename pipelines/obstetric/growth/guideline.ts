import type { Need, SizeCategory } from '../../result/render/obstetric/growth.ts';

/**
 * Centiles at which the category changes. A centile of exactly 10 or 90 is still appropriate for
 * age.
 */
export const SIZE_CUTOFFS = { severelySmall: 3, small: 10, large: 90, severelyLarge: 97 } as const;

/**
 * Returns the category of an unrounded weight centile. An AC below the 3rd centile alone is enough for
 * `sga-severe` (Delphi 2016, Gordijn et al., UOG 48:333-339; ISUOG 2020, Lees et al., UOG
 * 56:298-312).
 */
export function sizeCategory(efwCentile: number, acCentile: number | null = null): SizeCategory {
  const { severelySmall, small, large, severelyLarge } = SIZE_CUTOFFS;
  if (efwCentile < severelySmall || (acCentile ?? small) < severelySmall) return 'sga-severe';
  if (efwCentile < small) return 'sga';
  if (efwCentile > severelyLarge) return 'lga-severe';
  return efwCentile > large ? 'lga' : 'aga';
}

/** Weights in g from which macrosomia is reported, higher first (ACOG Practice Bulletin 216). */
export const MACROSOMIA_GRAMS = [4500, 4000] as const;

/**
 * Limits of twin weight discordance in %. At or above `reported`, the discordance is reported
 * (ISUOG twin guideline); at or above `selective`, it is a criterion for selective growth
 * restriction (Khalil et al., UOG 2019;53:47-54).
 */
export const TWIN_DISCORDANCE = { reported: 20, selective: 25 } as const;

/** Returns the weight difference between two twins in % of the larger weight. */
export function twinDiscordance(largerGrams: number, smallerGrams: number): number {
  return (100 * (largerGrams - smallerGrams)) / largerGrams;
}

/**
 * Values that determine, by the Delphi consensus, whether a singleton without an anomaly is
 * growth-restricted: Gordijn et al., UOG 2016;48:333-339. Null means that the value was not
 * available.
 */
export interface RestrictionEvidence {
  gaWeeks: number;
  efwCentile: number | null;
  acCentile: number | null;
  uaPiCentile: number | null;
  utaPiCentile: number | null;
  cprCentile: number | null;
  endDiastolicFlow: 'forward' | 'intermittent-absent' | 'absent' | 'reversed' | null;
  /** Fall of the EFW or AC centile since a scan at least 14 days earlier, on the same chart. */
  centileFall: number | null;
}

export type RestrictionForm =
  | 'early-fgr'
  | 'late-fgr'
  | 'sga-not-fgr'
  | 'sga-doppler-needed'
  | 'none'
  | 'not-assessable';

/** Age, in exact weeks, from which the late form applies; before it, the early form applies. */
export const LATE_FORM_WEEKS = 32;

/** A fall of more than this many centile points counts as crossing more than two quartiles. */
export const CENTILE_CROSSING = 50;

const CUTOFF = { solitary: 3, small: 10, highPi: 95, lowCpr: 5 } as const;

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
  // Absent or reversed flow is treated as a UA-PI far above the 95th centile (obstetric 17).
  const doppler =
    below(evidence.cprCentile, CUTOFF.lowCpr) ||
    above(evidence.uaPiCentile, CUTOFF.highPi) ||
    flow === 'absent' ||
    flow === 'reversed';
  const crossing = above(evidence.centileFall, CENTILE_CROSSING);
  return [small, crossing, doppler].filter(Boolean).length >= 2;
}

/**
 * Returns true if every Doppler criterion of the form was available. If the UA-PI is known, the
 * end-diastolic flow need not be, because absent or reversed flow would raise the UA-PI far above
 * the 95th centile.
 */
function dopplerComplete(evidence: RestrictionEvidence, early: boolean): boolean {
  if (evidence.uaPiCentile === null) return false;
  return early ? evidence.utaPiCentile !== null : evidence.cprCentile !== null;
}

/** Returns true if a Doppler or growth-rate criterion is met that is not sufficient on its own. */
function hasOtherCriterion(evidence: RestrictionEvidence, early: boolean): boolean {
  const highPi = above(evidence.uaPiCentile, CUTOFF.highPi);
  if (early) return highPi || above(evidence.utaPiCentile, CUTOFF.highPi);
  const flow = evidence.endDiastolicFlow;
  return (
    highPi ||
    flow === 'absent' ||
    flow === 'reversed' ||
    below(evidence.cprCentile, CUTOFF.lowCpr) ||
    above(evidence.centileFall, CENTILE_CROSSING)
  );
}

/**
 * Returns the form of growth restriction by the Delphi consensus. `none` means that weight and AC
 * are known and not small, and no other criterion is met (obstetric 3.9). A fetus whose known values
 * are not small is `not-assessable` if weight or AC is missing, or if another criterion is met.
 */
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
  if (!small) {
    const known = efwCentile !== null && acCentile !== null;
    return known && !hasOtherCriterion(evidence, early) ? 'none' : 'not-assessable';
  }
  return dopplerComplete(evidence, early) ? 'sga-not-fgr' : 'sga-doppler-needed';
}

/**
 * One criterion of the definition, and whether it is met; `value` is null if it was not available.
 */
export interface RestrictionCriterion {
  name: string;
  /** Kind of `value`: a centile, a fall in centile points, or a word for the flow. */
  kind: 'centile' | 'fall' | 'flow';
  /** Data needed to determine the criterion. */
  needs: Need;
  value: number | string | null;
  met: boolean;
}

/**
 * Returns the criteria of the form that applies at this age: sizes, with the lower cut-off first,
 * then Doppler and growth.
 */
export function restrictionCriteria(evidence: RestrictionEvidence): RestrictionCriterion[] {
  const { efwCentile, acCentile, uaPiCentile, utaPiCentile, cprCentile, centileFall } = evidence;
  const flow = evidence.endDiastolicFlow;
  const sizes = [
    ['EFW', 'efw', efwCentile],
    ['AC', 'ac', acCentile],
  ] as const;
  const size = (limit: number): RestrictionCriterion[] =>
    sizes.map(([name, needs, centile]) => ({
      name: `${name} below centile ${limit}`,
      kind: 'centile',
      needs,
      value: centile,
      met: below(centile, limit),
    }));
  const doppler = 'umbilical-doppler';
  const early = evidence.gaWeeks < LATE_FORM_WEEKS;
  // In the late form, absent or reversed flow is not a separate criterion, because it counts as a
  // PI far above the cut-off.
  const asPi = early ? '' : `, which counts as a PI above centile ${CUTOFF.highPi}`;
  return [
    ...size(CUTOFF.solitary),
    ...size(CUTOFF.small),
    {
      name: `absent or reversed umbilical end-diastolic flow${asPi}`,
      kind: 'flow',
      needs: doppler,
      value: flow,
      met: flow === 'absent' || flow === 'reversed',
    },
    {
      name: `umbilical artery PI above centile ${CUTOFF.highPi}`,
      kind: 'centile',
      needs: doppler,
      value: uaPiCentile,
      met: above(uaPiCentile, CUTOFF.highPi),
    },
    ...(early
      ? [
          {
            name: `uterine artery PI above centile ${CUTOFF.highPi}`,
            kind: 'centile' as const,
            needs: 'uterine-doppler' as const,
            value: utaPiCentile,
            met: above(utaPiCentile, CUTOFF.highPi),
          },
        ]
      : [
          {
            name: `cerebroplacental ratio below centile ${CUTOFF.lowCpr}`,
            kind: 'centile' as const,
            needs: 'cerebroplacental-ratio' as const,
            value: cprCentile,
            met: below(cprCentile, CUTOFF.lowCpr),
          },
          {
            name: `AC or EFW fallen by more than ${CENTILE_CROSSING} centile points`,
            kind: 'fall' as const,
            needs: 'earlier-scan' as const,
            value: centileFall,
            met: above(centileFall, CENTILE_CROSSING),
          },
        ]),
  ];
}
