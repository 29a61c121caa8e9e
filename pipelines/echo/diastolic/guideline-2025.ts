import { rounded } from '../../measure/rounding.ts';
import type {
  Criterion,
  CriterionName,
  FibrillationPressure,
  Presence2025,
  Result2025,
} from '../../result/render/echo/diastolic.ts';
import { anyMet } from '../shared/grading.ts';

/**
 * Inputs for grading diastolic function in sinus rhythm according to ASE 2025 (echo 10.5). All
 * limits except that of the LA volume index are inclusive. The flow chart was reconstructed from
 * public implementations. They disagree on branch c, for which the convention in echo 10.5 is used.
 */
export interface Diastolic2025 {
  /** cm/s */
  septal: number | null;
  lateral: number | null;
  /** E in cm/s */
  early: number | null;
  /** E/A */
  ratio: number | null;
  /**
   * E/e'; null if it was not measured or was withheld. If absent, it is calculated from E and e'.
   */
  averageRatio?: number | null;
  septalRatio?: number | null;
  lateralRatio?: number | null;
  /** TR Vmax, m/s */
  jet: number | null;
  /** PASP, mmHg */
  systolicPressure: number | null;
  /** ml/m2 */
  atrialIndex: number | null;
  veinRatio: number | null;
  /** Reservoir strain, per cent. */
  reservoirStrain: number | null;
  /** ms */
  relaxationTime: number | null;
}

const LIMITS_2025 = {
  septal: 6,
  lateral: 7,
  average: 6.5,
  averageRatio: 14,
  septalRatio: 15,
  lateralRatio: 13,
  jet: 2.8,
  systolicPressure: 35,
  restrictive: 2,
  impaired: 0.8,
  veinRatio: 0.67,
  reservoirStrain: 18,
  atrialIndex: 34,
  relaxationTime: 70,
} as const;

const test = (value: number | null, decimals: number, isMet: (shown: number) => boolean) =>
  value === null ? null : isMet(rounded(value, decimals));
const atMost = (value: number | null, limit: number, decimals: number) =>
  test(value, decimals, (shown) => shown <= limit);
const atLeast = (value: number | null, limit: number, decimals: number) =>
  test(value, decimals, (shown) => shown >= limit);

/**
 * Returns E/e': the early mitral velocity over the mean of the given annular velocities (septal,
 * lateral or both), all in cm/s (echo 10.1).
 */
export const earlyOverAnnular = (early: number, ...annular: readonly number[]) =>
  early / (annular.reduce((sum, velocity) => sum + velocity, 0) / annular.length);

function annularRatio(early: number | null, ...annular: readonly (number | null)[]) {
  const known = annular.filter((velocity) => velocity !== null);
  return early === null || known.length < annular.length ? null : earlyOverAnnular(early, ...known);
}

interface PrimaryVariables {
  reducedVelocity: boolean | null;
  raisedRatio: boolean | null;
  raisedPressure: boolean | null;
}

export function primaryVariables(inputs: Diastolic2025): PrimaryVariables {
  const { septal, lateral, early } = inputs;
  const average = septal === null || lateral === null ? null : (septal + lateral) / 2;
  const {
    averageRatio = annularRatio(early, septal, lateral),
    septalRatio = annularRatio(early, septal),
    lateralRatio = annularRatio(early, lateral),
  } = inputs;
  return {
    reducedVelocity: anyMet(
      atMost(septal, LIMITS_2025.septal, 1),
      atMost(lateral, LIMITS_2025.lateral, 1),
      atMost(average, LIMITS_2025.average, 1),
    ),
    raisedRatio: anyMet(
      atLeast(averageRatio, LIMITS_2025.averageRatio, 1),
      atLeast(septalRatio, LIMITS_2025.septalRatio, 1),
      atLeast(lateralRatio, LIMITS_2025.lateralRatio, 1),
    ),
    raisedPressure: anyMet(
      atLeast(inputs.jet, LIMITS_2025.jet, 1),
      atLeast(inputs.systolicPressure, LIMITS_2025.systolicPressure, 0),
    ),
  };
}

function secondStep(inputs: Diastolic2025): Criterion[] {
  const enlarged = test(inputs.atrialIndex, 0, (index) => index > LIMITS_2025.atrialIndex);
  return [
    { name: 'vein-ratio-to-0.67', met: atMost(inputs.veinRatio, LIMITS_2025.veinRatio, 2) },
    { name: 'lars-to-18', met: atMost(inputs.reservoirStrain, LIMITS_2025.reservoirStrain, 0) },
    { name: 'lavi-above-34', met: enlarged },
    { name: 'ivrt-to-70', met: atMost(inputs.relaxationTime, LIMITS_2025.relaxationTime, 0) },
  ];
}

const ELEVATED_2025: ReadonlySet<Result2025> = new Set<Result2025>([
  'grade-2',
  'grade-3',
  'elevated-lap-ungraded',
]);
export const isElevated2025 = (result: Result2025) => ELEVATED_2025.has(result);

function elevated(ratio: number | null): Result2025 {
  if (ratio === null) return 'elevated-lap-ungraded';
  return rounded(ratio, 2) >= LIMITS_2025.restrictive ? 'grade-3' : 'grade-2';
}

/**
 * Number of primary variables. A result needs at least two of them. If one is missing, the result
 * is marked as limited (echo 10.5).
 */
const PRIMARIES_2025 = 3;

const knownPrimaries = (inputs: Diastolic2025) =>
  Object.values(primaryVariables(inputs)).filter((met) => met !== null);

/**
 * Returns the branch of the algorithm. Branches a, b and c lead directly to a result, and branch d
 * leads to step 2. Null if fewer than two primary variables are known.
 */
function branchOf(inputs: Diastolic2025): 'a' | 'b' | 'c' | 'd' | null {
  const known = knownPrimaries(inputs);
  const abnormal = known.filter((met) => met).length;
  if (known.length < 2) return null;
  if (abnormal === 0) return 'a';
  if (abnormal === PRIMARIES_2025) return 'b';
  const relaxation = abnormal === 1 && primaryVariables(inputs).reducedVelocity === true;
  const impaired = atMost(inputs.ratio, LIMITS_2025.impaired, 2) === true;
  return known.length === PRIMARIES_2025 && relaxation && impaired ? 'c' : 'd';
}

/**
 * Returns LA pressure and grade, or `insufficient-data` if fewer than two of the three primary
 * variables are known.
 */
export function algorithm2025(inputs: Diastolic2025): Result2025 {
  switch (branchOf(inputs)) {
    case null:
      return 'insufficient-data';
    case 'a':
      return 'normal-lap-ungraded';
    case 'b':
      return elevated(inputs.ratio);
    case 'c':
      return 'grade-1';
    case 'd': {
      const markers = secondStep(inputs).filter(({ met }) => met !== null);
      if (markers.some(({ met }) => met)) return elevated(inputs.ratio);
      if (markers.length === 0) return 'indeterminate';
      return primaryVariables(inputs).reducedVelocity === true
        ? 'normal-lap-grade-1'
        : 'normal-lap-ungraded';
    }
  }
}

export const isLimited2025 = (inputs: Diastolic2025) =>
  knownPrimaries(inputs).length === PRIMARIES_2025 - 1;

/**
 * Returns the positive step 2 markers that disagree with a result reached without step 2 (branch
 * c).
 */
export function discordant(inputs: Diastolic2025): CriterionName[] {
  if (branchOf(inputs) !== 'c') return [];
  return secondStep(inputs).flatMap(({ name, met }) => (met ? [name] : []));
}

export function criteria2025(inputs: Diastolic2025): Criterion[] {
  const { reducedVelocity, raisedRatio, raisedPressure } = primaryVariables(inputs);
  const branch = branchOf(inputs);
  const relaxed = reducedVelocity === true && raisedRatio === false && raisedPressure === false;
  const graded = isElevated2025(algorithm2025(inputs));
  return [
    { name: 'reduced-e-prime', met: reducedVelocity },
    { name: 'raised-ratio', met: raisedRatio },
    { name: 'raised-tr-or-pasp', met: raisedPressure },
    ...(relaxed
      ? [{ name: 'e-to-a-to-0.8' as const, met: atMost(inputs.ratio, LIMITS_2025.impaired, 2) }]
      : []),
    ...(branch === 'd' ? secondStep(inputs) : []),
    ...(graded
      ? [{ name: 'e-to-a-from-2' as const, met: atLeast(inputs.ratio, LIMITS_2025.restrictive, 2) }]
      : []),
  ];
}

/**
 * Number of positive signs needed for dysfunction, apart from e': one if e' is reduced, otherwise
 * two.
 */
const NEEDED = { reduced: 1, preserved: 2 } as const;

/** Returns the signs of dysfunction according to ASE 2025, with e' first (echo 10.5). */
export function presenceCriteria2025(inputs: Diastolic2025): [Criterion, ...Criterion[]] {
  const { reducedVelocity, raisedRatio } = primaryVariables(inputs);
  const { impaired, restrictive, atrialIndex, reservoirStrain } = LIMITS_2025;
  return [
    { name: 'reduced-e-prime', met: reducedVelocity },
    { name: 'raised-ratio', met: raisedRatio },
    { name: 'lars-to-18', met: test(inputs.reservoirStrain, 0, (v) => v <= reservoirStrain) },
    {
      name: 'e-to-a-to-0.8-or-from-2',
      met: test(inputs.ratio, 2, (v) => v <= impaired || v >= restrictive),
    },
    { name: 'lavi-above-34', met: test(inputs.atrialIndex, 0, (v) => v > atrialIndex) },
  ];
}

/**
 * Returns whether diastolic function is abnormal, regardless of LA pressure (D25; echo 10.5). The
 * result is indeterminate if it depends on signs that were not measured.
 */
export function presence2025(inputs: Diastolic2025): Presence2025 {
  const [velocity, ...signs] = presenceCriteria2025(inputs);
  if (velocity.met === null) return 'insufficient-data';
  const needed = velocity.met ? NEEDED.reduced : NEEDED.preserved;
  const positive = signs.filter((sign) => sign.met === true).length;
  const unknown = signs.filter((sign) => sign.met === null).length;
  if (positive >= needed) return 'dysfunction';
  return positive + unknown < needed ? 'no-dysfunction' : 'indeterminate';
}

/**
 * Returns supplemental signs of raised LA pressure, which are used if no step 2 marker was
 * measured. The L wave, Ar-A and the Valsalva manoeuvre are not assessed, because they are not
 * measured. Velocities are in m/s, pressures in mmHg.
 */
export function supplementalSigns2025(inputs: {
  regurgitationEnd: number | null;
  diastolicPressure: number | null;
}): Criterion[] {
  return [
    {
      name: 'pr-end-from-2',
      met: test(inputs.regurgitationEnd, 1, (v) => v >= 2),
    },
    { name: 'padp-from-16', met: test(inputs.diastolicPressure, 0, (p) => p >= 16) },
  ];
}

/**
 * Inputs of the algorithm for LA pressure in atrial fibrillation (D25; echo 10.6). E is in cm/s, TR
 * in m/s, DT in ms.
 */
export interface FibrillationInputs
  extends Pick<
    Diastolic2025,
    'early' | 'jet' | 'systolicPressure' | 'reservoirStrain' | 'veinRatio'
  > {
  septalRatio: number | null;
  deceleration: number | null;
}

export function fibrillationCriteria(inputs: FibrillationInputs): Criterion[] {
  return [
    { name: 'e-from-100', met: test(inputs.early, 0, (v) => v >= 100) },
    { name: 'septal-ratio-above-11', met: test(inputs.septalRatio, 1, (r) => r > 11) },
    {
      name: 'tr-above-2.8-or-pasp-above-35',
      met: anyMet(
        test(inputs.jet, 1, (v) => v > 2.8),
        test(inputs.systolicPressure, 0, (p) => p > 35),
      ),
    },
    { name: 'dt-to-160', met: test(inputs.deceleration, 0, (t) => t <= 160) },
  ];
}

/**
 * If this many criteria are positive, the reservoir strain and the pulmonary vein decide the
 * result.
 */
const NOT_DECIDED = 2;

const countOf = (criteria: readonly Criterion[], wanted: boolean | null) =>
  criteria.filter(({ met }) => met === wanted).length;

/**
 * Returns the markers that are needed if exactly two of the four criteria are positive, and an
 * empty list otherwise.
 */
export function fibrillationMarkers(inputs: FibrillationInputs): Criterion[] {
  if (countOf(fibrillationCriteria(inputs), true) !== NOT_DECIDED) return [];
  return [
    { name: 'lars-below-18', met: test(inputs.reservoirStrain, 0, (s) => s < 18) },
    { name: 'vein-ratio-below-1', met: test(inputs.veinRatio, 2, (r) => r < 1) },
  ];
}

/**
 * Returns the LA pressure in atrial fibrillation from four criteria. A criterion that was not
 * measured is neither positive nor negative.
 * - Insufficient data: more than two criteria were not measured, or fewer than two are positive but
 *   the unmeasured ones could raise their number to two.
 * - Elevated: three or more are positive, or two are positive and so is the reservoir strain or the
 *   pulmonary vein.
 * - Indeterminate: two are positive, but neither the reservoir strain nor the pulmonary vein is.
 * - Normal: at most one is positive.
 */
export function fibrillationPressure(inputs: FibrillationInputs): FibrillationPressure {
  const criteria = fibrillationCriteria(inputs);
  const [positive, unknown] = [countOf(criteria, true), countOf(criteria, null)];
  if (unknown > 2) return 'insufficient-data';
  if (positive > NOT_DECIDED) return 'elevated-lap';
  if (positive < NOT_DECIDED)
    return positive + unknown < NOT_DECIDED ? 'normal-lap' : 'insufficient-data';
  return fibrillationMarkers(inputs).some(({ met }) => met) ? 'elevated-lap' : 'indeterminate';
}
