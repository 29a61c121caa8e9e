import type { ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { format } from '../result/measurement.ts';

/** Values outside are errors of contour or calibration, and withheld (echo reference, "plausibility"). */
const PLAUSIBLE: Readonly<Partial<Record<ConceptKey, readonly [number, number]>>> = {
  lvef: [5, 90],
  'lvef-biplane': [5, 90],
  'lvef-4c': [5, 90],
  'lvef-2c': [5, 90],
  'lvef-3d': [5, 90],
  'lvef-teichholz': [5, 90],
  'lvedv-biplane': [25, 500],
  lvidd: [2, 10],
  ivsd: [0.3, 4],
  lvpwd: [0.3, 4],
  'lv-mass': [30, 900],
  'la-volume-biplane': [10, 400],
  'la-volume-area-length': [10, 400],
  tapse: [3, 45],
  'rv-s-prime': [2, 30],
  'rv-fac': [5, 80],
  'rv-basal': [15, 90],
  'gls-end-systolic': [-30, -5],
  'gls-peak-systolic': [-30, -5],
  'wall-motion-score-index': [1, 4],
  'mitral-e': [10, 250],
  'mitral-a': [10, 250],
  'e-prime-septal': [1, 25],
  'e-prime-lateral': [1, 25],
  'deceleration-time': [50, 500],
  ivrt: [20, 200],
  'e-to-e-prime': [2, 60],
  'lvot-diameter': [1.4, 3],
  'lvot-vti': [8, 40],
  'av-vmax': [0.7, 7],
  'velocity-index': [0.1, 1.2],
  'av-area': [0.3, 6],
  'tr-vmax': [1, 6],
  'ivc-diameter': [3, 45],
  'rvot-acceleration': [30, 220],
  rvsp: [10, 160],
  'ra-area': [6, 60],
  'pa-diameter': [10, 70],
  'effusion-depth': [0, 80],
};

/** A value outside of what can be believed is kept as inadequate, with the reason. */
export function withPlausibility(measurement: Measurement, key: ConceptKey): Measurement {
  const [low, high] = PLAUSIBLE[key] ?? [-Infinity, Infinity];
  if (measurement.value >= low && measurement.value <= high) return measurement;
  const reason = `outside the plausible ${low} to ${format(key, high)}; an error of measurement is likely`;
  const note = [measurement.note, reason].filter(Boolean).join('; ');
  return { ...measurement, quality: 'inadequate', note };
}
