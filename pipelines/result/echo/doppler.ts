import { ln, type MeasurementConcept, own } from '../coding.ts';
import { millimetres, quantity } from './quantity.ts';

/** What spectral Doppler and M-mode give beside the quantities that sections grade. */
export const DOPPLER = {
  'mitral-a-duration': quantity(
    'Mitral A duration',
    'A duration',
    'ms',
    0,
    ln('80065-6', 'Mitral valve A-wave duration'),
  ),
  'mv-vti': quantity('Mitral valve VTI', 'MV VTI', 'cm', 1, ln('79914-8', 'Mitral valve VTI')),
  'mr-vmax': quantity(
    'MR peak velocity',
    'MR Vmax',
    'm/s',
    1,
    ln('80062-3', 'Mitral regurgitation Vmax'),
  ),
  'ar-vmax': quantity(
    'AR peak velocity',
    'AR Vmax',
    'm/s',
    1,
    ln('79949-4', 'Aortic regurgitation Vmax'),
  ),
  'rvot-vti': quantity(
    'RVOT VTI',
    'RVOT VTI',
    'cm',
    1,
    ln('80089-6', 'Right ventricular outflow tract VTI'),
  ),
  'pv-vmax': quantity(
    'Pulmonary valve peak velocity',
    'PV Vmax',
    'm/s',
    1,
    ln('79920-5', 'Pulmonic valve Vmax'),
  ),
  'pr-end-velocity': quantity(
    'PR end-diastolic velocity',
    'PR end-diastolic',
    'm/s',
    1,
    ln('79918-9', 'Pulmonic regurgitation end diastolic velocity'),
  ),
  'a-prime-septal': quantity("Septal a'", "septal a'", 'cm/s', 1, own('septal-a-prime')),
  'a-prime-lateral': quantity("Lateral a'", "lateral a'", 'cm/s', 1, own('lateral-a-prime')),
  's-prime-septal': quantity("Septal S'", "septal S'", 'cm/s', 1, own('septal-s-prime')),
  's-prime-lateral': quantity("Lateral S'", "lateral S'", 'cm/s', 1, own('lateral-s-prime')),
  'rv-e-prime': quantity(
    "Tricuspid annular e'",
    "tricuspid e'",
    'cm/s',
    1,
    ln('79924-7', 'Tricuspid valve e-prime Vmax'),
  ),
  'rv-a-prime': quantity(
    "Tricuspid annular a'",
    "tricuspid a'",
    'cm/s',
    1,
    ln('79922-1', 'Tricuspid valve a-prime Vmax'),
  ),
  's-prime-unnamed': quantity("S' of an unnamed wall", "S'", 'cm/s', 1, own('annular-s-prime')),
  'e-prime-unnamed': quantity("e' of an unnamed wall", "e'", 'cm/s', 1, own('annular-e-prime')),
  'a-prime-unnamed': quantity("a' of an unnamed wall", "a'", 'cm/s', 1, own('annular-a-prime')),
  'flow-peak-unnamed': quantity(
    'Peak velocity of an unnamed flow',
    'Vmax',
    'm/s',
    2,
    own('unnamed-flow-peak'),
  ),
  mapse: millimetres('MAPSE', 'MAPSE', own('mitral-annular-plane-systolic-excursion')),
  'annular-excursion-unnamed': millimetres(
    'Systolic excursion of an unnamed annulus',
    'excursion',
    own('annular-systolic-excursion'),
  ),
} as const satisfies Record<string, MeasurementConcept>;
