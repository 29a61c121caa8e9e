import type { ConceptKey, MethodKey } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { strokeVolume } from '../formulas/doppler.ts';
import { continuityArea, mitralAreaByHalfTime } from '../formulas/valves.ts';
import { calculated, type Values, withValues } from '../values.ts';

/** What `valveFlows` calculates. */
export const VALVE_FLOWS = [
  'av-area',
  'av-area-vmax',
  'av-area-index',
  'av-area-vmax-index',
  'velocity-index',
  'lvot-stroke-volume',
  'lvot-stroke-index',
  'mv-area-half-time',
] as const satisfies readonly ConceptKey[];

const divided = (one = 0, other = 1) => one / other;

type Formula = readonly [MethodKey, readonly ConceptKey[], (...inputs: number[]) => number];

/** In the order in which the section shows them (reference 11.1, 11.5). */
const FORMULAS: Readonly<Record<(typeof VALVE_FLOWS)[number], Formula>> = {
  'av-area': ['continuity-equation', ['lvot-diameter', 'lvot-vti', 'av-vti'], continuityArea],
  'av-area-vmax': [
    'continuity-equation',
    ['lvot-diameter', 'lvot-vmax', 'av-vmax'],
    continuityArea,
  ],
  'av-area-index': ['per-surface-area', ['av-area', 'body-surface-area'], divided],
  'av-area-vmax-index': ['per-surface-area', ['av-area-vmax', 'body-surface-area'], divided],
  'velocity-index': ['ratio-of-values', ['lvot-vti', 'av-vti'], divided],
  'lvot-stroke-volume': ['outflow-area-times-vti', ['lvot-diameter', 'lvot-vti'], strokeVolume],
  'lvot-stroke-index': ['per-surface-area', ['lvot-stroke-volume', 'body-surface-area'], divided],
  'mv-area-half-time': ['half-time-constant', ['mv-half-time'], mitralAreaByHalfTime],
};

/** Continuity equation, stroke volume and their indices, each from what was measured. */
export function valveFlows(given: Values, section: string): Measurement[] {
  const found: Measurement[] = [];
  for (const key of VALVE_FLOWS) {
    const [method, from, value] = FORMULAS[key];
    const one = calculated(withValues(given, found), key, { section, method, from, value });
    if (one) found.push(one);
  }
  return found;
}
