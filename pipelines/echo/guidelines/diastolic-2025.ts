import { rounded } from '../../measure/rounding.ts';
import { any, type Criterion } from './criterion.ts';

/**
 * Diastolic function by ASE 2025, sinus rhythm (reference 10.5): inclusive limits, unlike 2016. The
 * figure was reconstructed from public implementations; on branch c the sources differ and the
 * convention of the reference is followed.
 */
export interface Diastolic2025 {
  /** cm/s */
  septal: number | null;
  lateral: number | null;
  /** E in cm/s */
  early: number | null;
  /** E/A */
  ratio: number | null;
  /** E/e' where the machine gives it; else it follows from E and e'. */
  averageRatio?: number | null;
  septalRatio?: number | null;
  lateralRatio?: number | null;
  /** TR Vmax, m/s */
  jet: number | null;
  /** PASP, mmHg */
  systolicPressure: number | null;
  /** ml/m2 */
  atrialIndex: number | null;
  /** Pulmonary vein S/D. */
  veinRatio: number | null;
  /** Reservoir strain, per cent. */
  reservoirStrain: number | null;
  /** ms */
  relaxationTime: number | null;
}

export const LIMITS_2025 = {
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

const atMost = (value: number | null, limit: number, decimals: number) =>
  value === null ? null : rounded(value, decimals) <= limit;
const atLeast = (value: number | null, limit: number, decimals: number) =>
  value === null ? null : rounded(value, decimals) >= limit;

const quotient = (one: number | null, other: number | null) =>
  one === null || other === null ? null : one / other;

export interface PrimaryVariables {
  reducedVelocity: boolean | null;
  raisedRatio: boolean | null;
  raisedPressure: boolean | null;
}

export function primaryVariables(inputs: Diastolic2025): PrimaryVariables {
  const { septal, lateral, early } = inputs;
  const average = septal === null || lateral === null ? null : (septal + lateral) / 2;
  return {
    reducedVelocity: any(
      atMost(septal, LIMITS_2025.septal, 1),
      atMost(lateral, LIMITS_2025.lateral, 1),
      atMost(average, LIMITS_2025.average, 1),
    ),
    raisedRatio: any(
      atLeast(inputs.averageRatio ?? quotient(early, average), LIMITS_2025.averageRatio, 1),
      atLeast(inputs.septalRatio ?? quotient(early, septal), LIMITS_2025.septalRatio, 1),
      atLeast(inputs.lateralRatio ?? quotient(early, lateral), LIMITS_2025.lateralRatio, 1),
    ),
    raisedPressure: any(
      atLeast(inputs.jet, LIMITS_2025.jet, 1),
      atLeast(inputs.systolicPressure, LIMITS_2025.systolicPressure, 0),
    ),
  };
}

/** Step 2: each marker that was measured, and whether it is positive. */
export function secondStep(inputs: Diastolic2025): Criterion[] {
  const enlarged =
    inputs.atrialIndex === null ? null : rounded(inputs.atrialIndex, 0) > LIMITS_2025.atrialIndex;
  return [
    { name: 'PV S/D <= 0.67', met: atMost(inputs.veinRatio, LIMITS_2025.veinRatio, 2) },
    { name: 'LARS <= 18 %', met: atMost(inputs.reservoirStrain, LIMITS_2025.reservoirStrain, 0) },
    { name: 'LAVi > 34 ml/m²', met: enlarged },
    { name: 'IVRT <= 70 ms', met: atMost(inputs.relaxationTime, LIMITS_2025.relaxationTime, 0) },
  ];
}

export const RESULTS_2025 = [
  'normal LAP, no diastolic dysfunction grade',
  'grade 1, normal LAP',
  'normal LAP, grade 1',
  'grade 2, elevated LAP',
  'grade 3, elevated LAP',
  'LAP elevated, grade undetermined (no E/A)',
  'indeterminate',
  'insufficient data',
] as const;
export type Result2025 = (typeof RESULTS_2025)[number];

function elevated(ratio: number | null): Result2025 {
  if (ratio === null) return 'LAP elevated, grade undetermined (no E/A)';
  return rounded(ratio, 2) >= LIMITS_2025.restrictive
    ? 'grade 3, elevated LAP'
    : 'grade 2, elevated LAP';
}

/** Primary variables of which at least two are needed, and all for a full answer (reference 10.5). */
export const PRIMARIES_2025 = 3;

const knownPrimaries = (inputs: Diastolic2025) =>
  Object.values(primaryVariables(inputs)).filter((met) => met !== null);

/** Branches a, b and c, that answer at once; d, that asks for step 2; null: too little is known. */
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

/** LA pressure and grade; `insufficient data` below two of the three primary variables. */
export function algorithm2025(inputs: Diastolic2025): Result2025 {
  switch (branchOf(inputs)) {
    case null:
      return 'insufficient data';
    case 'a':
      return 'normal LAP, no diastolic dysfunction grade';
    case 'b':
      return elevated(inputs.ratio);
    case 'c':
      return 'grade 1, normal LAP';
    case 'd': {
      const markers = secondStep(inputs).filter(({ met }) => met !== null);
      if (markers.some(({ met }) => met)) return elevated(inputs.ratio);
      if (markers.length === 0) return 'indeterminate';
      return primaryVariables(inputs).reducedVelocity === true
        ? 'normal LAP, grade 1'
        : 'normal LAP, no diastolic dysfunction grade';
    }
  }
}

/** Whether only two of the primary variables were known to a result that was given. */
export const isLimited2025 = (inputs: Diastolic2025) =>
  knownPrimaries(inputs).length === PRIMARIES_2025 - 1;

/** Markers of step 2 that disagree with a grade given at once (branch c). */
export function discordant(inputs: Diastolic2025): string[] {
  if (branchOf(inputs) !== 'c') return [];
  return secondStep(inputs).flatMap(({ name, met }) => (met ? [name] : []));
}

/** The criteria that the algorithm came to, and none that it did not need. */
export function criteria2025(inputs: Diastolic2025): Criterion[] {
  const { reducedVelocity, raisedRatio, raisedPressure } = primaryVariables(inputs);
  const branch = branchOf(inputs);
  const relaxed = reducedVelocity === true && raisedRatio === false && raisedPressure === false;
  const graded = /elevated/i.test(algorithm2025(inputs));
  return [
    { name: "reduced e'", met: reducedVelocity },
    { name: "raised E/e'", met: raisedRatio },
    { name: 'raised TR Vmax or PASP', met: raisedPressure },
    ...(relaxed
      ? [{ name: 'E/A <= 0.8', met: atMost(inputs.ratio, LIMITS_2025.impaired, 2) }]
      : []),
    ...(branch === 'd' ? secondStep(inputs) : []),
    ...(graded
      ? [{ name: 'E/A >= 2', met: atLeast(inputs.ratio, LIMITS_2025.restrictive, 2) }]
      : []),
  ];
}
