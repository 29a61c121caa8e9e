import {
  area,
  fraction,
  ln,
  type MeasurementConcept,
  millimetres,
  own,
  plainRatio,
  pressure,
  quantityIn,
  sct,
  tissueVelocity,
} from './coding.ts';

export const RIGHT_VENTRICLE = {
  tapse: millimetres('TAPSE', 'TAPSE', [
    ln('77903-3', 'Tricuspid Annular Plane Systolic Excursion (TAPSE)'),
  ]),
  'rv-s-prime': tissueVelocity("Tricuspid annular S'", "S'", [
    ln('79926-2', 'Tricuspid valve s-prime Vmax'),
  ]),
  'rv-fac': fraction('RV fractional area change', 'FAC', [
    ln('79936-1', 'Right ventricular fractional area change'),
  ]),
  'rv-ed-area': area('RV end-diastolic area', 'RV EDA', [
    ln('80081-3', 'Right ventricular end diastolic area 4C'),
  ]),
  'rv-es-area': area('RV end-systolic area', 'RV ESA', [
    ln('80082-1', 'Right ventricular end systolic area 4C'),
  ]),
  'rv-basal': millimetres('RV basal diameter', 'RVD1', [
    ln('80080-5', 'Right ventricular basal dimension 4C'),
  ]),
  'rv-mid': millimetres('RV mid-cavity diameter', 'RVD2', [
    ln('80085-4', 'Right ventricular mid-cavity dimension 4C'),
  ]),
  'rv-wall': millimetres('RV free wall thickness', 'RV wall', [
    ln('80083-9', 'Right ventricular free wall thickness 2D'),
  ]),
  rimp: plainRatio('RV myocardial performance index', 'RIMP', [
    ln('80086-2', 'Right ventricular myocardial performance index'),
  ]),
  rvsp: pressure('RV systolic pressure', 'RVSP', [
    sct('399023006', 'Right Ventricular Peak Systolic Pressure'),
  ]),
  'tapse-to-spap': quantityIn('echo', 'mm/mm[Hg]', 2)('TAPSE over sPAP', 'TAPSE/sPAP', [
    own('tapse-to-spap'),
  ]),
  'rv-to-lv-area': plainRatio('RV over LV end-diastolic area', 'RV/LV area', [
    own('rv-to-lv-area'),
  ]),
  'rv-to-lv': plainRatio('RV over LV basal diameter', 'RV/LV', [own('rv-to-lv')]),
  'rv-e-prime': tissueVelocity("Tricuspid annular e'", "tricuspid e'", [
    ln('79924-7', 'Tricuspid valve e-prime Vmax'),
  ]),
  'rv-a-prime': tissueVelocity("Tricuspid annular a'", "tricuspid a'", [
    ln('79922-1', 'Tricuspid valve a-prime Vmax'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const RIGHT_ATRIUM = {
  'ra-area': area('RA area, end-systolic', 'RA area', [
    ln('80075-5', 'Right atrial end systolic area 4C'),
  ]),
  'ra-pressure': pressure('RA pressure, estimated', 'RAP', [
    ln('18070-3', 'Right Atrium Systolic Pressure'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const VENA_CAVA = {
  'ivc-diameter': millimetres('IVC diameter', 'IVC', [
    ln('79967-6', 'Inferior vena cava diameter'),
  ]),
  'ivc-least-diameter': millimetres('IVC diameter, least', 'IVC least', [
    own('inferior-vena-cava-least-diameter'),
  ]),
  'ivc-collapse': fraction('IVC collapse', 'IVC collapse', [
    ln('18050-5', 'Inferior Vena Cava % Collapse'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const PULMONARY_ARTERY = {
  'pa-diameter': millimetres('Main pulmonary artery diameter', 'PA', [
    ln('80049-0', 'Main pulmonary artery diameter'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const AORTA = {
  'aortic-root': millimetres('Aortic root diameter', 'aortic root', [
    ln('79953-6', 'Aortic root diameter'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const PERICARDIUM = {
  // The code of CID 12250 means only a thickness, and some receivers ignore the site, so a more
  // specific code is added.
  'effusion-depth': quantityIn(
    'echo',
    'mm',
    0,
    sct('373945007', 'Pericardial effusion'),
  )('Pericardial effusion, greatest end-diastolic depth', 'effusion', [
    ln('59089-3', 'ROI Thickness by US'),
    own('pericardial-effusion-depth'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;
