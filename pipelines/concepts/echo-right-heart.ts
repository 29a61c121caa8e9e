import { ln, type MeasurementConcept, millimetres, own, quantity, sct } from './coding.ts';

export const RIGHT_HEART = {
  tapse: millimetres(
    'TAPSE',
    'TAPSE',
    ln('77903-3', 'Tricuspid Annular Plane Systolic Excursion (TAPSE)'),
  ),
  'rv-s-prime': quantity(
    "Tricuspid annular S'",
    "S'",
    'cm/s',
    1,
    ln('79926-2', 'Tricuspid valve s-prime Vmax'),
  ),
  'rv-fac': quantity(
    'RV fractional area change',
    'FAC',
    '%',
    0,
    ln('79936-1', 'Right ventricular fractional area change'),
  ),
  'rv-ed-area': quantity(
    'RV end-diastolic area',
    'RV EDA',
    'cm2',
    1,
    ln('80081-3', 'Right ventricular end diastolic area 4C'),
  ),
  'rv-es-area': quantity(
    'RV end-systolic area',
    'RV ESA',
    'cm2',
    1,
    ln('80082-1', 'Right ventricular end systolic area 4C'),
  ),
  'rv-basal': millimetres(
    'RV basal diameter',
    'RVD1',
    ln('80080-5', 'Right ventricular basal dimension 4C'),
  ),
  'rv-mid': millimetres(
    'RV mid-cavity diameter',
    'RVD2',
    ln('80085-4', 'Right ventricular mid-cavity dimension 4C'),
  ),
  'rv-wall': millimetres(
    'RV free wall thickness',
    'RV wall',
    ln('80083-9', 'Right ventricular free wall thickness 2D'),
  ),
  rimp: quantity(
    'RV myocardial performance index',
    'RIMP',
    '1',
    2,
    ln('80086-2', 'Right ventricular myocardial performance index'),
  ),
  'tr-vmax': quantity(
    'TR peak velocity',
    'TR Vmax',
    'm/s',
    1,
    ln('79921-3', 'Tricuspid regurgitation Vmax'),
  ),
  'ivc-diameter': millimetres('IVC diameter', 'IVC', ln('79967-6', 'Inferior vena cava diameter')),
  'ivc-least-diameter': millimetres(
    'IVC diameter, least',
    'IVC least',
    own('inferior-vena-cava-least-diameter'),
  ),
  'ivc-collapse': quantity(
    'IVC collapse',
    'IVC collapse',
    '%',
    0,
    ln('18050-5', 'Inferior Vena Cava % Collapse'),
  ),
  'ra-area': quantity(
    'RA area, end-systolic',
    'RA area',
    'cm2',
    1,
    ln('80075-5', 'Right atrial end systolic area 4C'),
  ),
  'ra-pressure': quantity(
    'RA pressure, estimated',
    'RAP',
    'mm[Hg]',
    0,
    ln('18070-3', 'Right Atrium Systolic Pressure'),
  ),
  'tr-gradient': quantity(
    'TR peak gradient',
    'TR gradient',
    'mm[Hg]',
    0,
    ln('79937-9', 'Tricuspid regurgitation peak gradient'),
  ),
  rvsp: quantity(
    'RV systolic pressure',
    'RVSP',
    'mm[Hg]',
    0,
    sct('399023006', 'Right Ventricular Peak Systolic Pressure'),
  ),
  'tapse-to-spap': quantity('TAPSE over sPAP', 'TAPSE/sPAP', 'mm/mm[Hg]', 2, own('tapse-to-spap')),
  'rvot-acceleration': quantity(
    'RVOT acceleration time',
    'RVOT AT',
    'ms',
    0,
    ln('79928-8', 'Pulmonic valve acceleration time'),
  ),
  'pr-vmax': quantity(
    'PR peak velocity',
    'PR Vmax',
    'm/s',
    1,
    ln('79919-7', 'Pulmonic regurgitation Vmax'),
  ),
  'pa-diameter': millimetres(
    'Main pulmonary artery diameter',
    'PA',
    ln('80049-0', 'Main pulmonary artery diameter'),
  ),
  'aortic-root': millimetres(
    'Aortic root diameter',
    'aortic root',
    ln('79953-6', 'Aortic root diameter'),
  ),
  'effusion-depth': {
    ...quantity(
      'Pericardial effusion, greatest end-diastolic depth',
      'effusion',
      'mm',
      0,
      ln('59089-3', 'ROI Thickness by US'),
      sct('373945007', 'Pericardial effusion'),
    ),
    // The code of CID 12250 means only a thickness, and some receivers ignore the site, so a more
    // specific code is added.
    codings: [ln('59089-3', 'ROI Thickness by US'), own('pericardial-effusion-depth')],
  },
} as const satisfies Record<string, MeasurementConcept>;

const CAVITY = sct('87878005', 'Left ventricle');
const MUSCLE = sct('49848007', 'Left Ventricle Myocardium');

const area = (label: string, abbreviation: string, key: string, site: ReturnType<typeof sct>) =>
  quantity(label, abbreviation, 'cm2', 1, own(key), site);

/** Values calculated from chamber outlines in single planes. */
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
  'rv-to-lv-area': quantity(
    'RV over LV end-diastolic area',
    'RV/LV area',
    '1',
    2,
    own('rv-to-lv-area'),
  ),
  'rv-to-lv': quantity('RV over LV basal diameter', 'RV/LV', '1', 2, own('rv-to-lv')),
} as const satisfies Record<string, MeasurementConcept>;
