import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isConfirmed } from '../../result/measured.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';

/**
 * Plausible ranges. A value outside its range is attributed to a wrong contour or calibration and
 * is withheld (echo 3).
 */
export const PLAUSIBLE: Readonly<Partial<Record<EchoConcept, readonly [number, number]>>> = {
  lvef: [5, 90],
  'lvef-biplane': [5, 90],
  'lvef-4c': [5, 90],
  'lvef-2c': [5, 90],
  'lvef-3d': [5, 90],
  'lvef-teichholz': [5, 90],
  'lvef-networks': [5, 90],
  'lvedv-biplane': [25, 500],
  'lvedv-4c': [25, 500],
  'lvedv-2c': [25, 500],
  'lv-ed-area-4c': [12, 80],
  'lv-length-4c': [5, 12],
  'lv-length-2c': [5, 12],
  'la-area-4c': [6, 60],
  'la-area-2c': [6, 60],
  'rv-ed-area': [5, 60],
  'body-surface-area': [1, 3.2],
  lvidd: [2, 10],
  // Up to 5 cm, because a septum above 4 cm occurs in massive hypertrophy (echo 14.1).
  ivsd: [0.5, 5],
  lvpwd: [0.3, 5],
  'lv-mass': [30, 900],
  'la-volume-biplane': [10, 400],
  'la-volume-area-length': [10, 400],
  tapse: [3, 45],
  'rv-s-prime': [2, 30],
  // A change of 5 % or less means that the outline does not follow the heart.
  'rv-fac': [5.1, 80],
  'rv-basal': [15, 90],
  // The limits combine the narrowest plausible RV with the widest plausible LV, and vice versa.
  'rv-to-lv': [0.17, 3.6],
  'rv-to-lv-area': [0.1, 3.6],
  'gls-end-systolic': [-30, -5],
  'gls-end-systolic-4c': [-30, -5],
  'gls-end-systolic-2c': [-30, -5],
  'gls-end-systolic-3c': [-30, -5],
  'gls-peak-systolic': [-30, -5],
  'gls-peak-systolic-4c': [-30, -5],
  'gls-peak-systolic-2c': [-30, -5],
  'gls-peak-systolic-3c': [-30, -5],
  'gls-peak': [-30, -5],
  'gls-peak-4c': [-30, -5],
  'gls-peak-2c': [-30, -5],
  'gls-peak-3c': [-30, -5],
  'wall-motion-score-index': [1, 4],
  'mitral-e': [10, 250],
  'mitral-a': [10, 250],
  'e-prime-septal': [1, 25],
  'e-prime-lateral': [1, 25],
  'deceleration-time': [50, 500],
  ivrt: [20, 200],
  'e-to-e-prime': [2, 60],
  'e-to-e-prime-septal': [2, 60],
  'e-to-e-prime-lateral': [2, 60],
  'lvot-diameter': [1.4, 3],
  'lvot-vti': [8, 40],
  'av-vmax': [0.7, 7],
  'velocity-index': [0.1, 1.2],
  'av-area': [0.3, 6],
  'av-area-vmax': [0.3, 6],
  // The ranges up to the next comment exclude noise that was mistaken for a signal on real screens.
  // They are choices of this project ([C]).
  'tr-vmax': [1.5, 6],
  'mitral-a-duration': [60, 250],
  'ivc-diameter': [3, 45],
  'ivc-collapse': [0, 100],
  'rvot-acceleration': [30, 220],
  // These wide ranges only exclude values caused by noise or a wrong scale ([C]).
  'lvesv-biplane': [5, 450],
  'lvesv-4c': [5, 450],
  'lvesv-2c': [5, 450],
  'lv-ed-area-2c': [12, 80],
  'lv-ed-area-3c': [12, 80],
  'lv-es-area-4c': [4, 75],
  'lv-es-area-2c': [4, 75],
  'lv-es-area-3c': [4, 75],
  'rv-es-area': [2, 55],
  'rv-mid': [10, 80],
  'la-volume-4c': [10, 400],
  'la-volume-2c': [10, 400],
  'la-length-4c': [2, 10],
  'la-length-2c': [2, 10],
  'la-diameter': [1.5, 9],
  lvids: [1, 9],
  'lvot-vmax': [0.3, 5],
  'pv-vmax': [0.3, 6],
  'mr-vmax': [1.5, 8],
  'ar-vmax': [1.5, 7],
  'pr-vmax': [0.5, 5],
  'av-mean-gradient': [1, 130],
  'rvot-vti': [4, 40],
  'pulmonary-vein-s': [10, 150],
  'pulmonary-vein-d': [10, 150],
  's-prime-septal': [1, 25],
  's-prime-lateral': [1, 25],
  'a-prime-septal': [1, 25],
  'a-prime-lateral': [1, 25],
  'aortic-root': [10, 90],
  rvsp: [10, 160],
  'ra-area': [6, 60],
  'pa-diameter': [10, 70],
  'effusion-depth': [0, 80],
  'lvot-gradient-rest': [0, 250],
  'lvot-gradient-provoked': [0, 250],
  // Machines calculate the volume and fraction from a difference of stroke volumes. If it is not
  // positive, the stroke volumes are wrong, and nothing is known about the regurgitation ([C]).
  'ar-volume': [1, 300],
  'mr-volume': [1, 300],
  'ar-fraction': [1, 100],
  'mr-fraction': [1, 100],
  'ar-orifice': [0.01, 3],
  'mr-orifice': [0.01, 3],
  // These wide ranges exclude values in another unit ([C]).
  'ar-half-time': [20, 1500],
  'ar-vena-contracta': [0.05, 3],
  'ar-jet-width': [1, 100],
  'tr-vena-contracta': [0.5, 50],
  'mv-area-planimetry': [0.2, 10],
  'mv-area-half-time': [0.2, 12],
  'mv-half-time': [20, 1100],
  'mv-mean-gradient': [0.2, 50],
  'mv-vti': [3, 150],
  'av-vti': [5, 250],
  'ra-pressure': [0, 40],
  'ivc-least-diameter': [0, 45],
  'pr-end-velocity': [0.1, 4],
  'rv-wall': [1, 30],
  rimp: [0.05, 2],
  'e-to-a': [0.1, 10],
  'lvedv-index': [10, 300],
  'lvesv-index': [3, 280],
  'lv-mass-index': [15, 450],
  'la-volume-index': [5, 250],
  'la-volume-index-area-length': [5, 250],
};

/** Returns the plausible range of a quantity, in the unit of its concept; null if none is known. */
export function plausibleRange(key: string): { low: number; high: number } | null {
  const range = Object.hasOwn(PLAUSIBLE, key) ? PLAUSIBLE[key as EchoConcept] : undefined;
  return range ? { low: range[0], high: range[1] } : null;
}

export const withRemark = (measurement: Measurement, remark: Remark): Measurement => ({
  ...measurement,
  remarks: [...measurement.remarks, remark],
});

/**
 * Withholds the measurement as inadequate and adds the reason as its last remark. A value confirmed
 * by a person is not withheld.
 */
export const inadequate = (measurement: Measurement, reason: Remark): Measurement =>
  isConfirmed(measurement)
    ? measurement
    : { ...withRemark(measurement, reason), quality: 'inadequate', standing: 'withheld' };

/** Marks a value outside its plausible range as inadequate, with the reason. */
export function withPlausibility(measurement: Measurement, key: EchoConcept): Measurement {
  if (!Number.isFinite(measurement.value)) {
    return inadequate(measurement, remarkOfEcho('echo.not-finite', {}));
  }
  const range = PLAUSIBLE[key];
  if (!range) return measurement;
  const [low, high] = range;
  if (measurement.value >= low && measurement.value <= high) return measurement;
  return inadequate(measurement, remarkOfEcho('echo.implausible', { key, low, high }));
}
