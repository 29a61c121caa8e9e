import { ln, type MeasurementConcept, own, sct } from '../coding.ts';
import { millimetres, quantity } from './quantity.ts';

/** Right heart, pulmonary pressure and pericardium. */
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
    // CID 12250 names no more than a thickness; a reader that sees no site needs a name of its own.
    codings: [ln('59089-3', 'ROI Thickness by US'), own('pericardial-effusion-depth')],
  },
} as const satisfies Record<string, MeasurementConcept>;
