import {
  area,
  dcm,
  distance,
  fraction,
  inflowVelocity,
  interval,
  ln,
  type MeasurementConcept,
  own,
  plainRatio,
  pressure,
  quantityIn,
  sct,
  strain,
  velocity,
  volume,
  volumeIndex,
} from './coding.ts';

const CAVITY = sct('87878005', 'Left ventricle');
const MUSCLE = sct('49848007', 'Left Ventricle Myocardium');

const cavityArea = quantityIn('echo', 'cm2', 1, CAVITY);
const muscleArea = quantityIn('echo', 'cm2', 1, MUSCLE);

export const LEFT_VENTRICLE = {
  lvef: fraction('LVEF', 'LVEF', [ln('18043-0', 'Left Ventricular Ejection Fraction by US')]),
  'lvef-biplane': fraction('LVEF, biplane', 'LVEF (biplane)', [
    ln('79991-6', 'Left ventricular ejection fraction biplane (MOD)'),
  ]),
  'lvef-4c': fraction('LVEF, single plane A4C', 'LVEF (A4C)', [
    ln('79993-2', 'Left ventricular ejection fraction single plane 4C (MOD)'),
  ]),
  'lvef-2c': fraction('LVEF, single plane A2C', 'LVEF (A2C)', [
    ln('79992-4', 'Left ventricular ejection fraction single plane 2C (MOD)'),
  ]),
  'lvef-3d': fraction('LVEF, 3D', 'LVEF (3D)', [
    ln('79990-8', 'Left ventricular ejection fraction 3D'),
  ]),
  'lvef-teichholz': fraction('LVEF, Teichholz', 'LVEF (Teichholz)', [
    ln('77891-0', 'Left ventricular ejection fraction (Teichholz) 2D'),
  ]),
  'lvedv-biplane': volume('LV end-diastolic volume, biplane', 'LVEDV', [
    ln('79996-5', 'Left ventricular end diastolic volume biplane (MOD)'),
  ]),
  'lvesv-biplane': volume('LV end-systolic volume, biplane', 'LVESV', [
    ln('80001-1', 'Left ventricular end systolic volume biplane (MOD)'),
  ]),
  'lvedv-index': volumeIndex('LV end-diastolic volume index, biplane', 'LVEDVi', [
    ln('79997-3', 'Left ventricular end diastolic volume biplane (MOD) / BSA'),
  ]),
  'lvesv-index': volumeIndex('LV end-systolic volume index, biplane', 'LVESVi', [
    ln('80002-9', 'Left ventricular end systolic volume biplane (MOD) / BSA'),
  ]),
  ivsd: distance('Interventricular septum, end-diastolic', 'IVSd', [
    ln('18154-5', 'Interventricular Septum Diastolic Thickness'),
  ]),
  lvidd: distance('LV internal dimension, end-diastolic', 'LVIDd', [
    ln('29436-3', 'Left Ventricle Internal End Diastolic Dimension'),
  ]),
  lvids: distance('LV internal dimension, end-systolic', 'LVIDs', [
    ln('29438-9', 'Left Ventricle Internal Systolic Dimension'),
  ]),
  lvpwd: distance('LV posterior wall, end-diastolic', 'LVPWd', [
    ln('18152-9', 'Left Ventricle Posterior Wall Diastolic Thickness'),
  ]),
  'lv-mass': quantityIn('echo', 'g', 0)('LV mass', 'LV mass', [
    ln('18087-7', 'Left Ventricle Mass'),
  ]),
  'lv-mass-index': quantityIn('echo', 'g/m2', 0)('LV mass index', 'LVMi', [own('lv-mass-index')]),
  'relative-wall-thickness': plainRatio('Relative wall thickness', 'RWT', [
    own('relative-wall-thickness'),
  ]),
  'fractional-shortening': fraction('Fractional shortening', 'FS', [
    ln('18051-3', 'Left Ventricular Fractional Shortening'),
  ]),
  'gls-end-systolic': strain('GLS, end-systolic, mean of three views', 'GLS', [
    dcm('130686', 'LV End-systolic GLS Multiview Mean (Endocardial)'),
  ]),
  'gls-end-systolic-4c': strain('GLS, end-systolic, A4C', 'GLS (A4C)', [
    dcm('130687', 'LV End-systolic GLS 4CH (Endocardial)'),
  ]),
  'gls-end-systolic-2c': strain('GLS, end-systolic, A2C', 'GLS (A2C)', [
    dcm('130688', 'LV End-systolic GLS 2CH (Endocardial)'),
  ]),
  'gls-end-systolic-3c': strain('GLS, end-systolic, A3C', 'GLS (A3C)', [
    dcm('130689', 'LV End-systolic GLS ALAX (Endocardial)'),
  ]),
  'gls-peak-systolic': strain('GLS, peak systolic, mean of three views', 'GLS (peak systolic)', [
    dcm('130690', 'LV Peak Systolic GLS Multiview Mean (Endocardial)'),
  ]),
  'gls-peak-systolic-4c': strain('GLS, peak systolic, A4C', 'GLS (peak systolic, A4C)', [
    dcm('130691', 'LV Peak Systolic GLS 4CH (Endocardial)'),
  ]),
  'gls-peak-systolic-2c': strain('GLS, peak systolic, A2C', 'GLS (peak systolic, A2C)', [
    dcm('130692', 'LV Peak Systolic GLS 2CH (Endocardial)'),
  ]),
  'gls-peak-systolic-3c': strain('GLS, peak systolic, A3C', 'GLS (peak systolic, A3C)', [
    dcm('130693', 'LV Peak Systolic GLS ALAX (Endocardial)'),
  ]),
  'gls-peak': strain('GLS, peak at any time, mean of three views', 'GLS (peak)', [
    dcm('130694', 'LV Peak GLS Multiview Mean (Endocardial)'),
  ]),
  'gls-peak-4c': strain('GLS, peak at any time, A4C', 'GLS (peak, A4C)', [
    dcm('130695', 'LV Peak GLS 4CH (Endocardial)'),
  ]),
  'gls-peak-2c': strain('GLS, peak at any time, A2C', 'GLS (peak, A2C)', [
    dcm('130696', 'LV Peak GLS 2CH (Endocardial)'),
  ]),
  'gls-peak-3c': strain('GLS, peak at any time, A3C', 'GLS (peak, A3C)', [
    dcm('130697', 'LV Peak GLS ALAX (Endocardial)'),
  ]),
  'mechanical-dispersion': interval('LV mechanical dispersion', 'dispersion', [
    dcm('130698', 'LV End-systolic Mechanical Dispersion'),
  ]),
  'wall-motion-score-index': quantityIn(
    'echo',
    '1',
    2,
    CAVITY,
  )('Wall motion score index', 'WMSI', [dcm('125202', 'LV Wall Motion Score Index')]),
  ivrt: interval('Isovolumic relaxation time', 'IVRT', [
    ln('18071-1', 'Left ventricular isovolumic relaxation time by Doppler'),
  ]),
  'lv-ed-area-4c': cavityArea('LV area, end-diastolic, A4C', 'LV EDA (A4C)', [
    own('lv-ed-area-4c'),
  ]),
  'lv-es-area-4c': cavityArea('LV area, end-systolic, A4C', 'LV ESA (A4C)', [own('lv-es-area-4c')]),
  'lv-ed-area-2c': cavityArea('LV area, end-diastolic, A2C', 'LV EDA (A2C)', [
    own('lv-ed-area-2c'),
  ]),
  'lv-es-area-2c': cavityArea('LV area, end-systolic, A2C', 'LV ESA (A2C)', [own('lv-es-area-2c')]),
  'lv-ed-area-3c': cavityArea('LV area, end-diastolic, A3C', 'LV EDA (A3C)', [
    own('lv-ed-area-3c'),
  ]),
  'lv-es-area-3c': cavityArea('LV area, end-systolic, A3C', 'LV ESA (A3C)', [own('lv-es-area-3c')]),
  'lv-muscle-area-4c': muscleArea('LV myocardial area, end-diastolic, A4C', 'LV wall (A4C)', [
    own('lv-muscle-area-4c'),
  ]),
  'lv-muscle-area-2c': muscleArea('LV myocardial area, end-diastolic, A2C', 'LV wall (A2C)', [
    own('lv-muscle-area-2c'),
  ]),
  'lv-muscle-area-3c': muscleArea('LV myocardial area, end-diastolic, A3C', 'LV wall (A3C)', [
    own('lv-muscle-area-3c'),
  ]),
  'lvef-networks': fraction('LVEF, mean of two networks', 'LVEF', [
    ln('8806-2', 'Left ventricular Ejection fraction by US.2D'),
  ]),
  'lvedv-4c': volume('LV end-diastolic volume, single plane A4C', 'LVEDV (A4C)', [
    ln('79999-9', 'Left ventricular end diastolic volume single plane 4C (MOD)'),
  ]),
  'lvesv-4c': volume('LV end-systolic volume, single plane A4C', 'LVESV (A4C)', [
    ln('80004-5', 'Left ventricular end systolic volume single plane 4C (MOD)'),
  ]),
  'lvedv-2c': volume('LV end-diastolic volume, single plane A2C', 'LVEDV (A2C)', [
    ln('79998-1', 'Left ventricular end diastolic volume single plane 2C (MOD)'),
  ]),
  'lvesv-2c': volume('LV end-systolic volume, single plane A2C', 'LVESV (A2C)', [
    ln('80003-7', 'Left ventricular end systolic volume single plane 2C (MOD)'),
  ]),
  'lv-length-4c': distance('LV end-diastolic length, A4C', 'LV length (A4C)', [
    ln('79994-0', 'Left ventricular end diastolic length 4C'),
  ]),
  'lv-length-2c': distance('LV end-diastolic length, A2C', 'LV length (A2C)', [
    own('lv-length-2c'),
  ]),
  'lvot-diameter': distance('LVOT diameter', 'LVOT D', [
    ln('80028-4', 'Left ventricular outflow tract dimension (2D)'),
  ]),
  'lvot-vti': distance('LVOT VTI', 'LVOT VTI', [
    ln('80030-0', 'Left ventricular outflow tract VTI'),
  ]),
  'lvot-vmax': velocity('LVOT peak velocity', 'LVOT Vmax', [
    ln('80029-2', 'Left ventricular outflow tract Vmax'),
  ]),
  'lvot-stroke-volume': volume('LVOT stroke volume', 'SV', [own('lvot-stroke-volume')]),
  'lvot-stroke-index': volumeIndex('LVOT stroke volume index', 'SVi', [
    own('lvot-stroke-volume-index'),
  ]),
  'lvot-gradient-rest': pressure('LVOT peak gradient at rest', 'LVOT gradient', [
    own('lvot-peak-gradient-at-rest'),
  ]),
  'lvot-gradient-provoked': pressure('LVOT peak gradient, provoked', 'LVOT gradient (provoked)', [
    own('lvot-peak-gradient-provoked'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const LEFT_ATRIUM = {
  'la-volume-biplane': volume('LA volume, biplane discs', 'LA volume', [
    ln('79983-3', 'Left atrial end systolic volume biplane (MOD)'),
  ]),
  'la-volume-area-length': volume('LA volume, biplane area-length', 'LA volume (AL)', [
    ln('79981-7', 'Left atrial end systolic volume biplane (area-length)'),
  ]),
  'la-volume-index': volumeIndex('LA volume index, biplane discs', 'LAVi', [
    ln('79984-1', 'Left atrial end systolic volume biplane (MOD) / BSA'),
  ]),
  'la-volume-index-area-length': volumeIndex('LA volume index, biplane area-length', 'LAVi (AL)', [
    ln('79982-5', 'Left atrial end systolic volume biplane (area-length) / BSA'),
  ]),
  'la-diameter': distance('LA anteroposterior diameter', 'LA AP', [
    ln('29469-4', 'Left Atrium Antero-posterior Systolic Dimension'),
  ]),
  'la-area-4c': area('LA area, A4C', 'LA area (A4C)', [
    ln('79974-2', 'Left atrial end systolic area 4C'),
  ]),
  'la-area-2c': area('LA area, A2C', 'LA area (A2C)', [
    ln('79973-4', 'Left atrial end systolic area 2C'),
  ]),
  'la-length-4c': distance('LA length, A4C', 'LA length (A4C)', [
    ln('79980-9', 'Left atrial end systolic length 4C'),
  ]),
  'la-length-2c': distance('LA length, A2C', 'LA length (A2C)', [
    ln('79979-1', 'Left atrial end systolic length 2C'),
  ]),
  'la-volume-4c': volume('LA volume, single plane A4C', 'LA volume (A4C)', [
    ln('79986-6', 'Left atrial end systolic volume single plane 4C (MOD)'),
  ]),
  'la-volume-2c': volume('LA volume, single plane A2C', 'LA volume (A2C)', [
    ln('79985-8', 'Left atrial end systolic volume single plane 2C (MOD)'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

export const PULMONARY_VEIN = {
  'pulmonary-vein-s': inflowVelocity('Pulmonary vein S', 'PV S', [
    ln('79917-1', 'Pulmonary vein S-wave Vmax'),
  ]),
  'pulmonary-vein-d': inflowVelocity('Pulmonary vein D', 'PV D', [
    ln('79916-3', 'Pulmonary vein D-wave Vmax'),
  ]),
  'pulmonary-vein-ratio': plainRatio('Pulmonary vein S/D', 'PV S/D', [
    own('pulmonary-vein-s-to-d'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;
