import { ln, type MeasurementConcept, sct } from '../coding.ts';
import { length, ratio, summary } from './quantity.ts';

const SKULL = sct('89546000', 'Skull');
const ABDOMEN = sct('818981001', 'Abdomen');
const VENTRICLE = sct('66720007', 'Lateral ventricle');
const CEREBELLUM = sct('113305005', 'Cerebellum');
const CISTERNA = sct('54165005', 'Cisterna magna');
const FEMUR = sct('71341001', 'Femur');
const NECK = sct('45048000', 'Neck');

/** Size, age and weight of the fetus, and structures of its head (CID 12003 to 12008, 12014). */
export const BIOMETRY = {
  bpd: length('Biparietal diameter', 'BPD', ln('11820-8', 'Biparietal Diameter'), SKULL),
  ofd: length(
    'Occipitofrontal diameter',
    'OFD',
    ln('11851-3', 'Occipital-Frontal Diameter'),
    SKULL,
  ),
  hc: length('Head circumference', 'HC', ln('11984-2', 'Head Circumference'), SKULL),
  tad: length(
    'Transverse abdominal diameter',
    'TAD',
    ln('11862-0', 'Transverse Abdominal Diameter'),
    ABDOMEN,
  ),
  apad: length(
    'Anteroposterior abdominal diameter',
    'APAD',
    ln('11818-2', 'Anterior-Posterior Abdominal Diameter'),
    ABDOMEN,
  ),
  ac: length('Abdominal circumference', 'AC', ln('11979-2', 'Abdominal Circumference'), ABDOMEN),
  fl: length('Femur length', 'FL', ln('11963-6', 'Femur Length'), FEMUR),
  'cephalic-index': ratio('Cephalic index', 'CI', ln('11823-2', 'Cephalic Index')),
  // Clinicians read HC/AC as a plain ratio; TID 5004 and its LOINC unit are per cent.
  'hc-ac-ratio': {
    ...ratio('HC/AC ratio', 'HC/AC', ln('11947-9', 'HC/AC')),
    unit: '1',
    exchange: { unit: '%', factor: 100 },
    decimals: 2,
  },
  'fl-ac-ratio': ratio('FL/AC ratio', 'FL/AC', ln('11871-1', 'FL/AC')),
  'fl-bpd-ratio': ratio('FL/BPD ratio', 'FL/BPD', ln('11872-9', 'FL/BPD')),
  'ga-by-hc': summary('Gestational age by HC', 'GA (HC)', ln('18185-9', 'Gestational Age'), 'd'),
  'ga-by-hc-ac-fl': summary(
    'Gestational age by HC, AC and FL',
    'GA (HC, AC, FL)',
    ln('11888-5', 'Composite Ultrasound Age'),
    'd',
  ),
  efw: summary('Estimated fetal weight', 'EFW', ln('11727-5', 'Estimated Weight'), 'g'),
  'atrial-width': {
    ...length('Atrial width', 'Vp', ln('12171-5', 'Lateral Ventricle Width'), VENTRICLE),
    group: 'cranium',
  },
  'transcerebellar-diameter': {
    ...length(
      'Transcerebellar diameter',
      'TCD',
      ln('11863-8', 'Trans Cerebellar Diameter'),
      CEREBELLUM,
    ),
    group: 'cranium',
  },
  'cisterna-magna': {
    ...length('Cisterna magna', 'CM', ln('11860-4', 'Cisterna Magna Length'), CISTERNA),
    group: 'cranium',
  },
  'nuchal-fold': {
    ...length('Nuchal fold', 'NF', ln('12146-7', 'Nuchal Fold thickness'), NECK),
    group: 'cranium',
  },
} as const satisfies Record<string, MeasurementConcept>;
