import { rounded } from '../../measure/rounding.ts';
import type { Criterion } from './criterion.ts';
import { type Diastolic2025, LIMITS_2025, primaryVariables } from './diastolic-2025.ts';

export const PRESENCE_2025 = [
  'diastolic dysfunction',
  'no diastolic dysfunction',
  'indeterminate',
  'insufficient data',
] as const;

/** Positive signs that make a dysfunction beside a reduced e', and beside a preserved one. */
const NEEDED = { reduced: 1, preserved: 2 } as const;

const met = (value: number | null, decimals: number, test: (shown: number) => boolean) =>
  value === null ? null : test(rounded(value, decimals));

/** The signs of dysfunction of ASE 2025, e' first (reference 10.5). */
export function presenceCriteria2025(inputs: Diastolic2025): [Criterion, ...Criterion[]] {
  const { reducedVelocity, raisedRatio } = primaryVariables(inputs);
  const { impaired, restrictive, atrialIndex, reservoirStrain } = LIMITS_2025;
  return [
    { name: "reduced e'", met: reducedVelocity },
    { name: "raised E/e'", met: raisedRatio },
    { name: 'LARS <= 18 %', met: met(inputs.reservoirStrain, 0, (v) => v <= reservoirStrain) },
    {
      name: 'E/A <= 0.8 or >= 2',
      met: met(inputs.ratio, 2, (v) => v <= impaired || v >= restrictive),
    },
    { name: 'LAVi > 34 ml/m²', met: met(inputs.atrialIndex, 0, (v) => v > atrialIndex) },
  ];
}

/**
 * Whether diastolic function is abnormal, apart from what LA pressure is (D25; reference 10.5). A
 * sign that was not measured may be positive: where that would decide, it is indeterminate.
 */
export function presence2025(inputs: Diastolic2025): (typeof PRESENCE_2025)[number] {
  const [velocity, ...signs] = presenceCriteria2025(inputs);
  if (velocity.met === null) return 'insufficient data';
  const needed = velocity.met ? NEEDED.reduced : NEEDED.preserved;
  const positive = signs.filter((sign) => sign.met === true).length;
  const unknown = signs.filter((sign) => sign.met === null).length;
  if (positive >= needed) return 'diastolic dysfunction';
  return positive + unknown < needed ? 'no diastolic dysfunction' : 'indeterminate';
}

/**
 * Signs that speak for a raised LA pressure where step 2 has no marker; L wave, Ar-A and Valsalva
 * are not among the values. Velocity in m/s, pressure in mmHg.
 */
export function supplementalSigns2025(inputs: {
  regurgitationEnd: number | null;
  diastolicPressure: number | null;
}): Criterion[] {
  return [
    {
      name: 'PR end-diastolic velocity >= 2 m/s',
      met: met(inputs.regurgitationEnd, 1, (v) => v >= 2),
    },
    { name: 'PADP >= 16 mmHg', met: met(inputs.diastolicPressure, 0, (p) => p >= 16) },
  ];
}
