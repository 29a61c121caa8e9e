import { ln, type MeasurementConcept, own, sct } from '../coding.ts';
import { quantity } from './quantity.ts';

const CAVITY = sct('87878005', 'Left ventricle');
const MUSCLE = sct('49848007', 'Left Ventricle Myocardium');

const area = (label: string, abbreviation: string, key: string, site: ReturnType<typeof sct>) =>
  quantity(label, abbreviation, 'cm2', 1, own(key), site);

/** What the outlines of the chambers in single planes give. */
export const OUTLINES = {
  'lv-ed-area-4c': area('LV area, end-diastolic, A4C', 'LV EDA (A4C)', 'lv-ed-area-4c', CAVITY),
  'lv-es-area-4c': area('LV area, end-systolic, A4C', 'LV ESA (A4C)', 'lv-es-area-4c', CAVITY),
  'lv-ed-area-2c': area('LV area, end-diastolic, A2C', 'LV EDA (A2C)', 'lv-ed-area-2c', CAVITY),
  'lv-es-area-2c': area('LV area, end-systolic, A2C', 'LV ESA (A2C)', 'lv-es-area-2c', CAVITY),
  'lv-ed-area-3c': area('LV area, end-diastolic, A3C', 'LV EDA (A3C)', 'lv-ed-area-3c', CAVITY),
  'lv-es-area-3c': area('LV area, end-systolic, A3C', 'LV ESA (A3C)', 'lv-es-area-3c', CAVITY),
  'lv-muscle-area-4c': area(
    'LV myocardial area, end-diastolic, A4C',
    'LV wall (A4C)',
    'lv-muscle-area-4c',
    MUSCLE,
  ),
  'lv-muscle-area-2c': area(
    'LV myocardial area, end-diastolic, A2C',
    'LV wall (A2C)',
    'lv-muscle-area-2c',
    MUSCLE,
  ),
  'lv-muscle-area-3c': area(
    'LV myocardial area, end-diastolic, A3C',
    'LV wall (A3C)',
    'lv-muscle-area-3c',
    MUSCLE,
  ),
  'lvef-networks': quantity(
    'LVEF, mean of two networks',
    'LVEF',
    '%',
    0,
    ln('8806-2', 'Left ventricular Ejection fraction by US.2D'),
  ),
  'lvedv-4c': quantity(
    'LV end-diastolic volume, single plane A4C',
    'LVEDV (A4C)',
    'ml',
    0,
    ln('79999-9', 'Left ventricular end diastolic volume single plane 4C (MOD)'),
  ),
  'lvesv-4c': quantity(
    'LV end-systolic volume, single plane A4C',
    'LVESV (A4C)',
    'ml',
    0,
    ln('80004-5', 'Left ventricular end systolic volume single plane 4C (MOD)'),
  ),
  'lvedv-2c': quantity(
    'LV end-diastolic volume, single plane A2C',
    'LVEDV (A2C)',
    'ml',
    0,
    ln('79998-1', 'Left ventricular end diastolic volume single plane 2C (MOD)'),
  ),
  'lvesv-2c': quantity(
    'LV end-systolic volume, single plane A2C',
    'LVESV (A2C)',
    'ml',
    0,
    ln('80003-7', 'Left ventricular end systolic volume single plane 2C (MOD)'),
  ),
  'lv-length-4c': quantity(
    'LV end-diastolic length, A4C',
    'LV length (A4C)',
    'cm',
    1,
    ln('79994-0', 'Left ventricular end diastolic length 4C'),
  ),
  'lv-length-2c': quantity(
    'LV end-diastolic length, A2C',
    'LV length (A2C)',
    'cm',
    1,
    own('lv-length-2c'),
  ),
  'la-volume-4c': quantity(
    'LA volume, single plane A4C',
    'LA volume (A4C)',
    'ml',
    0,
    ln('79986-6', 'Left atrial end systolic volume single plane 4C (MOD)'),
  ),
  'la-volume-2c': quantity(
    'LA volume, single plane A2C',
    'LA volume (A2C)',
    'ml',
    0,
    ln('79985-8', 'Left atrial end systolic volume single plane 2C (MOD)'),
  ),
  'rv-to-lv': quantity('RV over LV basal diameter', 'RV/LV', '1', 2, own('rv-to-lv')),
} as const satisfies Record<string, MeasurementConcept>;
