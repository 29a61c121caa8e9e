import { ln, type MeasurementConcept, own, sct } from '../coding.ts';
import { dcm, quantity } from './quantity.ts';

const LV = sct('87878005', 'Left ventricle');

/** Strain, wall motion and diastolic function. */
export const MYOCARDIAL_FUNCTION = {
  'gls-end-systolic': quantity(
    'GLS, end-systolic, mean of three views',
    'GLS',
    '%',
    1,
    dcm('130686', 'LV End-systolic GLS Multiview Mean (Endocardial)'),
  ),
  'gls-end-systolic-4c': quantity(
    'GLS, end-systolic, A4C',
    'GLS (A4C)',
    '%',
    1,
    dcm('130687', 'LV End-systolic GLS 4CH (Endocardial)'),
  ),
  'gls-end-systolic-2c': quantity(
    'GLS, end-systolic, A2C',
    'GLS (A2C)',
    '%',
    1,
    dcm('130688', 'LV End-systolic GLS 2CH (Endocardial)'),
  ),
  'gls-end-systolic-3c': quantity(
    'GLS, end-systolic, A3C',
    'GLS (A3C)',
    '%',
    1,
    dcm('130689', 'LV End-systolic GLS ALAX (Endocardial)'),
  ),
  'gls-peak-systolic': quantity(
    'GLS, peak systolic, mean of three views',
    'GLS (peak systolic)',
    '%',
    1,
    dcm('130690', 'LV Peak Systolic GLS Multiview Mean (Endocardial)'),
  ),
  'mechanical-dispersion': quantity(
    'LV mechanical dispersion',
    'dispersion',
    'ms',
    0,
    dcm('130698', 'LV End-systolic Mechanical Dispersion'),
  ),
  'wall-motion-score-index': quantity(
    'Wall motion score index',
    'WMSI',
    '1',
    2,
    dcm('125202', 'LV Wall Motion Score Index'),
    LV,
  ),
  'mitral-e': quantity('Mitral E', 'E', 'cm/s', 0, ln('80070-6', 'Mitral valve E-wave Vmax')),
  'mitral-a': quantity('Mitral A', 'A', 'cm/s', 0, ln('80066-4', 'Mitral valve A-wave Vmax')),
  'e-to-a': quantity('E/A', 'E/A', '1', 2, ln('18038-0', 'Mitral Valve E to A Ratio')),
  'deceleration-time': quantity(
    'Mitral deceleration time',
    'DT',
    'ms',
    0,
    ln('78191-4', 'Mitral valve deceleration time'),
  ),
  'e-prime-septal': quantity(
    "Septal e'",
    "septal e'",
    'cm/s',
    1,
    ln('79911-4', 'Mitral septal e-prime Vmax'),
  ),
  'e-prime-lateral': quantity(
    "Lateral e'",
    "lateral e'",
    'cm/s',
    1,
    ln('80054-0', 'Mitral lateral e-prime Vmax'),
  ),
  'e-to-e-prime': quantity("Average E/e'", "E/e'", '1', 1, own('average-e-to-e-prime')),
  'e-to-e-prime-septal': quantity("Septal E/e'", "septal E/e'", '1', 1, own('septal-e-to-e-prime')),
  'e-to-e-prime-lateral': quantity(
    "Lateral E/e'",
    "lateral E/e'",
    '1',
    1,
    own('lateral-e-to-e-prime'),
  ),
  ivrt: quantity(
    'Isovolumic relaxation time',
    'IVRT',
    'ms',
    0,
    ln('18071-1', 'Left ventricular isovolumic relaxation time by Doppler'),
  ),
  'pulmonary-vein-s': quantity(
    'Pulmonary vein S',
    'PV S',
    'cm/s',
    0,
    ln('79917-1', 'Pulmonary vein S-wave Vmax'),
  ),
  'pulmonary-vein-d': quantity(
    'Pulmonary vein D',
    'PV D',
    'cm/s',
    0,
    ln('79916-3', 'Pulmonary vein D-wave Vmax'),
  ),
  'pulmonary-vein-ratio': quantity(
    'Pulmonary vein S/D',
    'PV S/D',
    '1',
    2,
    own('pulmonary-vein-s-to-d'),
  ),
} as const satisfies Record<string, MeasurementConcept>;
