import { rounded } from '../formulas/rounding.ts';

/** LA pressure in atrial fibrillation (D25; reference 10.6). E and e' in cm/s, TR in m/s, DT in ms. */
export interface FibrillationInputs {
  early: number | null;
  septalRatio: number | null;
  jet: number | null;
  systolicPressure: number | null;
  deceleration: number | null;
  reservoirStrain: number | null;
  veinRatio: number | null;
}

const test = (value: number | null, decimals: number, met: (shown: number) => boolean) =>
  value === null ? null : met(rounded(value, decimals));

export function fibrillationCriteria(inputs: FibrillationInputs) {
  const jet = test(inputs.jet, 1, (v) => v > 2.8);
  const pressure = test(inputs.systolicPressure, 0, (p) => p > 35);
  return [
    { name: 'E >= 100 cm/s', met: test(inputs.early, 0, (v) => v >= 100) },
    { name: "septal E/e' > 11", met: test(inputs.septalRatio, 1, (r) => r > 11) },
    {
      name: 'TR Vmax > 2.8 m/s or PASP > 35 mmHg',
      met: jet === null && pressure === null ? null : jet === true || pressure === true,
    },
    { name: 'DT <= 160 ms', met: test(inputs.deceleration, 0, (t) => t <= 160) },
  ];
}

/**
 * Of four criteria: up to one positive is normal, three are elevated. Two are decided by the reservoir
 * strain or the pulmonary vein, else indeterminate. A missing criterion counts for neither side.
 */
export function fibrillationPressure(
  inputs: FibrillationInputs,
): 'normal LAP' | 'elevated LAP' | 'indeterminate' | 'insufficient data' {
  const criteria = fibrillationCriteria(inputs);
  const positive = criteria.filter(({ met }) => met === true).length;
  const unknown = criteria.filter(({ met }) => met === null).length;
  if (unknown > 2) return 'insufficient data';
  if (positive >= 3) return 'elevated LAP';
  if (positive + unknown <= 1) return 'normal LAP';
  if (positive + unknown >= 3 && positive < 2) return 'insufficient data';
  const strain = test(inputs.reservoirStrain, 0, (s) => s < 18);
  const vein = test(inputs.veinRatio, 2, (r) => r < 1);
  return strain === true || vein === true ? 'elevated LAP' : 'indeterminate';
}
