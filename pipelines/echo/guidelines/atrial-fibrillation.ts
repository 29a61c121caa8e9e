import { rounded } from '../../measure/rounding.ts';
import { any, type Criterion } from './criterion.ts';

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

export function fibrillationCriteria(inputs: FibrillationInputs): Criterion[] {
  return [
    { name: 'E >= 100 cm/s', met: test(inputs.early, 0, (v) => v >= 100) },
    { name: "septal E/e' > 11", met: test(inputs.septalRatio, 1, (r) => r > 11) },
    {
      name: 'TR Vmax > 2.8 m/s or PASP > 35 mmHg',
      met: any(
        test(inputs.jet, 1, (v) => v > 2.8),
        test(inputs.systolicPressure, 0, (p) => p > 35),
      ),
    },
    { name: 'DT <= 160 ms', met: test(inputs.deceleration, 0, (t) => t <= 160) },
  ];
}

/** Positive criteria that leave the decision to the atrium and the pulmonary vein. */
const OPEN = 2;

const countOf = (criteria: readonly Criterion[], wanted: boolean | null) =>
  criteria.filter(({ met }) => met === wanted).length;

/** What decides where two of the four criteria are positive; empty where it is not asked for. */
export function fibrillationMarkers(inputs: FibrillationInputs): Criterion[] {
  if (countOf(fibrillationCriteria(inputs), true) !== OPEN) return [];
  return [
    { name: 'LARS < 18 %', met: test(inputs.reservoirStrain, 0, (s) => s < 18) },
    { name: 'PV S/D < 1', met: test(inputs.veinRatio, 2, (r) => r < 1) },
  ];
}

/**
 * Of four criteria: up to one positive is normal, three are elevated. Two are decided by the reservoir
 * strain or the pulmonary vein, else indeterminate. A missing criterion counts for neither side: where
 * it could lift the count to two, the data do not suffice.
 */
export function fibrillationPressure(
  inputs: FibrillationInputs,
): 'normal LAP' | 'elevated LAP' | 'indeterminate' | 'insufficient data' {
  const criteria = fibrillationCriteria(inputs);
  const [positive, unknown] = [countOf(criteria, true), countOf(criteria, null)];
  if (unknown > 2) return 'insufficient data';
  if (positive > OPEN) return 'elevated LAP';
  if (positive < OPEN) return positive + unknown < OPEN ? 'normal LAP' : 'insufficient data';
  return fibrillationMarkers(inputs).some(({ met }) => met) ? 'elevated LAP' : 'indeterminate';
}
