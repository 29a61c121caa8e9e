import {
  type Chart,
  type CodedConcept,
  type Coding,
  conceptOf,
  length,
  ln,
  type MeasurementConcept,
  type Method,
  own,
  ratio,
  sct,
  summary,
  type Unit,
} from './coding.ts';

const SKULL = sct('89546000', 'Skull');
const ABDOMEN = sct('818981001', 'Abdomen');
const VENTRICLE = sct('66720007', 'Lateral ventricle');
const CEREBELLUM = sct('113305005', 'Cerebellum');
const CISTERNA = sct('54165005', 'Cisterna magna');
const FEMUR = sct('71341001', 'Femur');
const FETAL_NECK = sct('45048000', 'Neck');

/** Size, age and weight of the fetus, and structures of its head (CID 12003 to 12008, 12014). */
const BIOMETRY = {
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
  // Clinicians read HC/AC as a plain ratio, but TID 5004 and its LOINC code use per cent.
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
    ...length('Nuchal fold', 'NF', ln('12146-7', 'Nuchal Fold thickness'), FETAL_NECK),
    group: 'cranium',
  },
} as const satisfies Record<string, MeasurementConcept>;

const NECK = sct('45048000', 'Neck');

/** Gestational sac, embryo and nuchal translucency (CID 12009, 12010). */
const EARLY_PREGNANCY = {
  crl: {
    ...length('Crown-rump length', 'CRL', ln('11957-8', 'Crown Rump Length'), null),
    group: 'early-gestation',
  },
  'mean-sac-diameter': {
    ...length('Mean sac diameter', 'MSD', ln('11850-5', 'Gestational Sac Diameter'), null),
    group: 'early-gestation',
  },
  'sac-length': {
    ...length('Length of the gestational sac', 'sac length', own('sac-length'), null),
    group: 'early-gestation',
  },
  'sac-height': {
    ...length('Height of the gestational sac', 'sac height', own('sac-height'), null),
    group: 'early-gestation',
  },
  'sac-width': {
    ...length('Width of the gestational sac', 'sac width', own('sac-width'), null),
    group: 'early-gestation',
  },
  'yolk-sac': {
    ...length('Yolk sac diameter', 'YS', ln('11816-6', 'Yolk Sac Length'), null),
    group: 'early-gestation',
  },
  'ga-by-crl': summary('Gestational age by CRL', 'GA (CRL)', ln('18185-9', 'Gestational Age'), 'd'),
  'ga-by-sac': summary(
    'Gestational age by mean sac diameter',
    'GA (MSD)',
    ln('18185-9', 'Gestational Age'),
    'd',
  ),
  'fetal-heart-rate': summary(
    'Fetal heart rate',
    'FHR',
    ln('11948-7', 'Fetal Heart Rate'),
    '{H.B.}/min',
  ),
  'nuchal-translucency': {
    ...length('Nuchal translucency', 'NT', ln('33069-6', 'Nuchal Translucency'), NECK),
    group: 'early-gestation',
  },
} as const satisfies Record<string, MeasurementConcept>;

const AMNIOTIC_FLUID = sct('77012006', 'Amniotic fluid');
const CERVIX = sct('71252005', 'Cervix');
const PLACENTA = sct('78067005', 'Placenta');

/**
 * Builds an intrapartum quantity with a private code, because no standard scheme has one (obstetric
 * 15.3).
 */
function intrapartum(
  label: string,
  abbreviation: string,
  code: string,
  unit: Unit,
): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [{ scheme: '99USINT', code, meaning: label }],
    unit,
    exchange: { unit, factor: 1 },
    decimals: unit === 'deg' ? 0 : 1,
    group: 'intrapartum',
    site: null,
  };
}

/** Amniotic fluid, cervix, placenta, and the descent of the head. */
const UTERUS = {
  'deepest-vertical-pocket': {
    ...length('Deepest vertical pocket', 'DVP', sct('81827009', 'Diameter'), AMNIOTIC_FLUID),
    group: 'amniotic-sac',
  },
  'amniotic-fluid-index': {
    ...length('Amniotic fluid index', 'AFI', ln('11627-7', 'Amniotic Fluid Index'), AMNIOTIC_FLUID),
    group: 'amniotic-sac',
  },
  'cervical-length': {
    ...length('Cervical length', 'CL', ln('11961-0', 'Cervix Length'), CERVIX),
    group: 'pelvis',
  },
  'funnel-depth': {
    ...length('Depth of the cervical funnel', 'funnel depth', own('funnel-depth'), CERVIX),
    group: 'pelvis',
  },
  'funnel-width': {
    ...length('Width of the cervical funnel', 'funnel width', own('funnel-width'), CERVIX),
    group: 'pelvis',
  },
  'percent-funnelling': {
    ...ratio('Percent funnelling', 'funnelling', own('percent-funnelling')),
    group: 'pelvis',
  },
  'placenta-to-os': {
    ...length('Lower placental edge to internal os', 'edge to os', own('placenta-to-os'), PLACENTA),
    group: 'pelvis',
  },
  'placental-thickness': {
    ...length('Placental thickness', 'placental thickness', own('placental-thickness'), PLACENTA),
    group: 'pelvis',
  },
  'angle-of-progression': intrapartum('Angle of progression', 'AoP', 'angle-of-progression', 'deg'),
  'head-symphysis-distance': intrapartum(
    'Head-symphysis distance',
    'HSD',
    'head-symphysis-distance',
    'mm',
  ),
  'head-direction': intrapartum('Head direction', 'HD', 'head-direction', 'deg'),
  'head-station': intrapartum('Head station by angle', 'station', 'head-station', 'cm'),
} as const satisfies Record<string, MeasurementConcept>;

const UMBILICAL_ARTERY = sct('50536004', 'Umbilical artery');
const MIDDLE_CEREBRAL_ARTERY = sct('17232002', 'Middle cerebral artery');
const UTERINE_ARTERY = sct('91079009', 'Uterine artery');

/** Spectral Doppler quantities of a vessel (CID 12119). The vessel is the finding site. */
const DOPPLER = {
  pi: { name: 'PI', coding: ln('12008-9', 'Pulsatility Index'), unit: '1', decimals: 2 },
  ri: { name: 'RI', coding: ln('12023-8', 'Resistivity Index'), unit: '1', decimals: 2 },
  sd: {
    name: 'S/D',
    coding: ln('12144-2', 'Systolic to Diastolic Velocity Ratio'),
    unit: '1',
    decimals: 2,
  },
  psv: { name: 'PSV', coding: ln('11726-7', 'Peak Systolic Velocity'), unit: 'cm/s', decimals: 1 },
  edv: { name: 'EDV', coding: ln('11653-3', 'End Diastolic Velocity'), unit: 'cm/s', decimals: 1 },
} as const;

function vascular(
  vessel: { label: string; abbreviation: string; site: Coding | null },
  property: keyof typeof DOPPLER,
): MeasurementConcept {
  const { name, coding, unit, decimals } = DOPPLER[property];
  return {
    label: `${vessel.label} ${name}`,
    abbreviation: `${vessel.abbreviation} ${name}`,
    codings: [coding],
    unit,
    exchange: { unit, factor: 1 },
    decimals,
    group: 'vascular',
    site: vessel.site,
  };
}

/** Builds a dimensionless index with a private code, because no standard scheme has one. */
function vascularIndex(label: string, abbreviation: string, code: string): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [own(code, label)],
    unit: '1',
    exchange: { unit: '1', factor: 1 },
    decimals: 2,
    group: 'vascular',
    site: null,
  };
}

/** Builds a heart-to-thorax ratio on the four-chamber view (CID 12279). */
function cardiothoracic(label: string, abbreviation: string, coding: Coding): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [coding],
    unit: '1',
    exchange: { unit: '1', factor: 1 },
    decimals: 2,
    group: 'heart',
    site: null,
  };
}

const UA = { label: 'Umbilical artery', abbreviation: 'UA', site: UMBILICAL_ARTERY };
const MCA = { label: 'Middle cerebral artery', abbreviation: 'MCA', site: MIDDLE_CEREBRAL_ARTERY };
const UTA = { label: 'Uterine artery', abbreviation: 'UtA', site: UTERINE_ARTERY };
const UNNAMED = { label: 'Unnamed vessel', abbreviation: 'vessel', site: null };

/**
 * Maternal and fetal arteries and veins (CID 12119), and the heart-to-thorax ratios (CID 12279).
 */
const CIRCULATION = {
  'umbilical-artery-pi': vascular(UA, 'pi'),
  'umbilical-artery-ri': vascular(UA, 'ri'),
  'umbilical-artery-sd': vascular(UA, 'sd'),
  'umbilical-artery-psv': vascular(UA, 'psv'),
  'umbilical-artery-edv': vascular(UA, 'edv'),
  'middle-cerebral-artery-pi': vascular(MCA, 'pi'),
  'middle-cerebral-artery-ri': vascular(MCA, 'ri'),
  'middle-cerebral-artery-sd': vascular(MCA, 'sd'),
  'middle-cerebral-artery-psv': vascular(MCA, 'psv'),
  'middle-cerebral-artery-edv': vascular(MCA, 'edv'),
  'uterine-artery-pi': vascular(UTA, 'pi'),
  'uterine-artery-ri': vascular(UTA, 'ri'),
  'uterine-artery-sd': vascular(UTA, 'sd'),
  'uterine-artery-psv': vascular(UTA, 'psv'),
  'uterine-artery-edv': vascular(UTA, 'edv'),
  'unnamed-vessel-pi': vascular(UNNAMED, 'pi'),
  'unnamed-vessel-ri': vascular(UNNAMED, 'ri'),
  'unnamed-vessel-sd': vascular(UNNAMED, 'sd'),
  'unnamed-vessel-psv': vascular(UNNAMED, 'psv'),
  'unnamed-vessel-edv': vascular(UNNAMED, 'edv'),
  'ductus-venosus-piv': vascularIndex(
    'Ductus venosus PI for veins',
    'DV PIV',
    'ductus-venosus-piv',
  ),
  'middle-cerebral-artery-psv-mom': vascularIndex(
    'Middle cerebral artery PSV, multiple of the median',
    'MCA PSV MoM',
    'middle-cerebral-artery-psv-mom',
  ),
  'cerebroplacental-ratio': vascularIndex(
    'Cerebroplacental ratio',
    'CPR',
    'cerebroplacental-ratio',
  ),
  'uterine-artery-mean-pi': vascularIndex(
    'Uterine artery PI, mean of both sides',
    'UtA mean PI',
    'uterine-artery-mean-pi',
  ),
  'cardiothoracic-area-ratio': cardiothoracic(
    'Cardiothoracic area ratio',
    'CTAR',
    ln('59076-0', 'Cardiothoracic Area Ratio'),
  ),
  'cardiothoracic-circumference-ratio': cardiothoracic(
    'Cardiothoracic circumference ratio',
    'CTCR',
    ln('59074-5', 'Cardiothoracic Circumference Ratio'),
  ),
  'cardiac-axis': {
    label: 'Cardiac axis, without its side',
    abbreviation: 'cardiac axis',
    codings: [own('cardiac-axis', 'Cardiac axis, without its side')],
    unit: 'deg',
    exchange: { unit: 'deg', factor: 1 },
    decimals: 0,
    group: 'heart',
    site: null,
  },
} as const satisfies Record<string, MeasurementConcept>;

export const FINDING_CONCEPTS = {
  'size-for-gestational-age': {
    scheme: '99USINT',
    code: 'size-for-gestational-age',
    meaning: 'Size for gestational age',
  },
  'fetal-growth-restriction': {
    scheme: '99USINT',
    code: 'fetal-growth-restriction',
    meaning: 'Fetal growth restriction',
  },
  'standard-plane': {
    scheme: '99USINT',
    code: 'standard-plane',
    meaning: 'Standard plane of fetal ultrasound',
  },
  repeatability: {
    scheme: '99USINT',
    code: 'repeatability',
    meaning: 'Repeatability of a measurement',
  },
  'head-shape': { scheme: '99USINT', code: 'head-shape', meaning: 'Head shape' },
  'head-size': { scheme: '99USINT', code: 'head-size', meaning: 'Head size for gestational age' },
  'head-station': {
    scheme: '99USINT',
    code: 'head-station-band',
    meaning: 'Descent of the fetal head',
  },
  'head-direction': {
    scheme: '99USINT',
    code: 'head-direction-band',
    meaning: 'Direction of the fetal head',
  },
  'nuchal-translucency': {
    scheme: '99USINT',
    code: 'nuchal-translucency-category',
    meaning: 'Nuchal translucency category',
  },
  'nasal-bone': { scheme: '99USINT', code: 'nasal-bone', meaning: 'Fetal nasal bone' },
  'nt-plane-adequacy': {
    scheme: '99USINT',
    code: 'nt-plane-adequacy',
    meaning: 'Adequacy of the nuchal translucency plane',
  },
  'gestational-age': own('gestational-age-by-crl', 'Gestational age by CRL'),
  'pregnancy-viability': {
    scheme: '99USINT',
    code: 'early-pregnancy-category',
    meaning: 'Early pregnancy category',
  },
  'cardiac-activity': {
    scheme: '99USINT',
    code: 'cardiac-activity',
    meaning: 'Embryonic or fetal cardiac activity',
  },
  'fetal-presentation': {
    scheme: '99USINT',
    code: 'fetal-presentation',
    meaning: 'Fetal presentation',
  },
  'cephalic-presentation': { scheme: 'SCT', code: '70028003', meaning: 'Vertex presentation' },
  'breech-presentation': { scheme: 'SCT', code: '6096002', meaning: 'Breech presentation' },
  'fetal-lie': { scheme: '99USINT', code: 'fetal-lie', meaning: 'Fetal lie' },
  'multiple-pregnancy': { scheme: 'SCT', code: '16356006', meaning: 'Multiple pregnancy' },
  ventriculomegaly: {
    scheme: '99USINT',
    code: 'ventriculomegaly',
    meaning: 'Width of the lateral ventricle',
  },
  'cisterna-magna': {
    scheme: '99USINT',
    code: 'cisterna-magna-size',
    meaning: 'Size of the cisterna magna',
  },
  'nuchal-fold': { scheme: '99USINT', code: 'nuchal-fold', meaning: 'Nuchal fold' },
  'femur-size': {
    scheme: '99USINT',
    code: 'femur-size',
    meaning: 'Femur length for gestational age',
  },
  oligohydramnios: sct('59566000', 'Oligohydramnios'),
  polyhydramnios: sct('86203003', 'Polyhydramnios'),
  'amniotic-fluid-volume': own('amniotic-fluid-volume'),
  'placenta-praevia': sct('36813001', 'Placenta praevia'),
  'low-lying-placenta': own('low-lying-placenta'),
  'placental-location': own('placental-location'),
  'placenta-accreta-spectrum': own('placenta-accreta-spectrum'),
  'short-cervix': own('short-cervix'),
  'cervical-funnelling': own('cervical-funnelling'),
  'end-diastolic-flow': own('umbilical-end-diastolic-flow'),
  'umbilical-artery-doppler': own('umbilical-artery-doppler'),
  'cerebral-redistribution': own('cerebral-redistribution'),
  'fetal-anaemia-signal': own('fetal-anaemia-signal'),
  'uterine-artery-doppler': own('uterine-artery-doppler'),
  'ductus-venosus-a-wave': own('ductus-venosus-a-wave', 'Ductus venosus a-wave'),
  'fetal-doppler': own('fetal-doppler'),
  'fetal-heart-rate-band': own('fetal-heart-rate-band'),
  'cardiac-size': own('cardiac-size'),
  'cardiac-axis': own('cardiac-axis-side'),
  'fetal-heart-screen': own('fetal-heart-screen'),
} as const satisfies Record<string, Coding>;

export const OBSTETRIC_CONCEPTS = {
  ...BIOMETRY,
  ...EARLY_PREGNANCY,
  ...UTERUS,
  ...CIRCULATION,
} as const satisfies Record<string, MeasurementConcept>;

export type ObstetricConcept = keyof typeof OBSTETRIC_CONCEPTS;
export type FindingConceptKey = keyof typeof FINDING_CONCEPTS;

/** Returns the `concept` of a finding or a classification in the result envelope. */
export const findingConcept = (key: FindingConceptKey): CodedConcept =>
  conceptOf(key, FINDING_CONCEPTS[key]);

/** Codes for the gestational age given in the request, by dating method (CID 12019). */
export const STATED_AGE = {
  lmp: ln('11885-1', 'Gestational Age by LMP'),
  crl: ln('18185-9', 'Gestational Age'),
  prior_scan: ln('18185-9', 'Gestational Age'),
  ivf: ln('18185-9', 'Gestational Age'),
} as const satisfies Record<string, Coding>;

const placement = (text: string): Method => ({ text, citation: null, equation: null });

/** Methods of the obstetric endpoint: how calipers are placed, and how values are calculated. */
export const OBSTETRIC_METHODS = {
  'doppler-envelope': {
    text: 'automatic trace of the maximum velocity, mean of the similar beats',
    citation: 'Bhide et al. (ISUOG), Ultrasound Obstet Gynecol 2021;58:331-339',
    equation: null,
  },
  'multiple-of-median': placement('value divided by the median for gestational age'),
  'mean-of-sides': placement('mean of the left and the right side'),
  'm-mode-periodicity': placement('repetition of the echoes along an M-mode sweep'),
  'doppler-periodicity': placement('repetition of the traced Doppler waveform'),
  'heart-and-thorax-outlines': placement('ellipses on the epicardium and outside the ribs'),
  'cardiac-axis-septum': placement('from crux to apex, against the line from spine to sternum'),
  'tcd-outer-outer': placement('both hemispheres of the cerebellum, outer to outer'),
  'cisterna-vermis-occiput': placement('posterior vermis to inner occipital bone'),
  'atrium-inner-inner': placement(
    'inner walls of the far lateral ventricle at the glomus, perpendicular to them',
  ),
  'bpd-outer-outer': placement(
    'minor axis of the ellipse on the outer skull border (outer to outer)',
  ),
  'ofd-outer-outer': placement(
    'major axis of the ellipse on the outer skull border (outer to outer)',
  ),
  'hc-ellipse': {
    text: 'ellipse on the outer skull border, Ramanujan perimeter',
    citation: 'ISUOG 2019, Salomon et al., Ultrasound Obstet Gynecol 53:715-723',
    equation: null,
  },
  'ac-ellipse': {
    text: 'ellipse on the outer skin border, Ramanujan perimeter',
    citation: 'ISUOG 2019, Salomon et al., Ultrasound Obstet Gynecol 53:715-723',
    equation: null,
  },
  'tad-outer-outer': placement('transverse axis of the ellipse on the outer skin border'),
  'apad-outer-outer': placement('anteroposterior axis of the ellipse on the outer skin border'),
  'fl-outer-outer': placement('ossified diaphysis, outer to outer'),
  'sac-inner-inner': placement('inner borders of the gestational sac, fluid only'),
  'msd-three-diameters': placement('mean of three orthogonal inner-to-inner diameters'),
  'yolk-sac-inner-inner': placement('inner borders of the yolk sac'),
  'crl-longest': placement('longest straight line of the embryo, yolk sac excluded'),
  'robinson-1975-ga-crl': {
    text: 'Robinson and Fleming 1975 (CRL)',
    citation: 'Robinson and Fleming, BJOG 1975;82:702-710',
    equation: ln('11914-9', 'CRL, Robinson 1975'),
  },
  'nyberg-ga-msd': {
    text: 'MSD + 30 days (Nyberg), plus or minus 7 days',
    citation: null,
    equation: null,
  },
  'cine-periodicity': placement('repetition of the grey levels of a cine'),
  'nt-inner-inner': {
    text: 'largest distance between the inner borders of the two lines, perpendicular to them',
    citation: 'ISUOG 2023, Ultrasound Obstet Gynecol 61:127-143',
    equation: null,
  },
  'aop-tangent': {
    text: 'long axis of the symphysis to the tangent of the skull from its lower edge',
    citation: 'ISUOG 2018, Ghi et al., Ultrasound Obstet Gynecol 52:128-139',
    equation: null,
  },
  'hsd-infrapubic': placement('lower edge of the symphysis to the skull along the infrapubic line'),
  'head-direction-symphysis': placement(
    'long axis of the head to the long axis of the symphysis (ISUOG 2018)',
  ),
  'station-tutschek-2011': {
    text: 'station = 0.0937 × AoP − 10.911',
    citation: 'Tutschek et al., BJOG 2011;118:62-69',
    equation: null,
  },
  ratio: placement('ratio of two measured values'),
  'hadlock-1984-ga-hc': {
    text: 'Hadlock 1984 (HC)',
    citation: 'Hadlock et al., Radiology 1984;152:497-501',
    equation: ln('11932-1', 'HC, Hadlock 1984'),
  },
  'hadlock-1984-ga-hc-ac-fl': {
    text: 'Hadlock 1984 (HC, AC, FL)',
    citation: 'Hadlock et al., Radiology 1984;152:497-501',
    equation: null,
  },
  'hadlock-1985-efw-hc-ac-fl': {
    text: 'Hadlock 1985 (HC, AC, FL)',
    citation: 'Hadlock et al., Am J Obstet Gynecol 1985;151:333-337',
    equation: ln('11746-5', 'EFW by AC, FL, HC, Hadlock 1985'),
  },
  'hadlock-1985-efw-ac-fl': {
    text: 'Hadlock 1985 (AC, FL)',
    citation: 'Hadlock et al., Am J Obstet Gynecol 1985;151:333-337',
    equation: ln('11751-5', 'EFW by AC, FL, Hadlock 1985'),
  },
  'cart-sr': placement('value of the ultrasound machine, from its structured report'),
  'intergrowth-2017-efw-hc-ac': {
    text: 'INTERGROWTH-21st 2017 (HC, AC)',
    citation: 'Stirnemann et al., Ultrasound Obstet Gynecol 2017;49:478-486',
    equation: null,
  },
  'vertical-pocket': {
    text: 'vertical depth of a pocket at least 10 mm wide, free of cord and fetal parts',
    citation: 'AIUM-ACR-ACOG-SMFM-SRU 2018, J Ultrasound Med 37:E13-E24',
    equation: null,
  },
  'sum-of-quadrants': placement('sum of the deepest vertical pockets of the four quadrants'),
  'cervix-straight': {
    text: 'straight line from external to internal os',
    citation: 'ISUOG 2022, Coutinho et al., Ultrasound Obstet Gynecol 60:435-456',
    equation: null,
  },
  'cervix-two-lines': {
    text: 'two straight lines along a curved canal, from external to internal os',
    citation: 'ISUOG 2022, Coutinho et al., Ultrasound Obstet Gynecol 60:435-456',
    equation: null,
  },
  'funnel-mouth': placement('between the shoulders of the funnel'),
  'funnel-depth': placement('from the shoulders of the funnel to the functional internal os'),
  'percent-funnelling': placement('funnel depth over funnel depth and closed length'),
  'edge-to-os': {
    text: 'straight line from the lower placental tissue edge to the internal os, negative where it overlaps',
    citation: 'Reddy et al., Obstet Gynecol 2014;123:1070-1082',
    equation: null,
  },
  'placental-thickness': placement('across the thickest part, from surface to surface'),
} as const satisfies Record<string, Method>;

export type ObstetricMethod = keyof typeof OBSTETRIC_METHODS;

/** The charts of the obstetric endpoint, each with its version. */
export const OBSTETRIC_CHARTS = {
  'intergrowth-2020-umbilical-artery': {
    name: 'INTERGROWTH-21st umbilical artery Doppler 2020 (singleton)',
    citation: 'Drukker et al., Am J Obstet Gynecol 2020;222:602.e1-602.e15',
  },
  'fmf-2019-doppler': {
    name: 'FMF fetal Doppler 2019 (singleton)',
    citation: 'Ciobanu et al., Ultrasound Obstet Gynecol 2019;53:465-472',
  },
  'gomez-2008-uterine-artery': {
    name: 'Uterine artery mean PI 2008 (singleton)',
    citation: 'Gomez et al., Ultrasound Obstet Gynecol 2008;32:128-132',
  },
  'mari-2000-mca-psv': {
    name: 'Middle cerebral artery peak systolic velocity 2000',
    citation: 'Mari et al., N Engl J Med 2000;342:9-14',
  },
  'intergrowth-2020-brain': {
    name: 'INTERGROWTH-21st fetal brain structures 2020 (singleton)',
    citation: 'Napolitano et al., Ultrasound Obstet Gynecol 2020;56:359-370',
  },
  'intergrowth-2021-tcd': {
    name: 'INTERGROWTH-21st transcerebellar diameter 2021 (singleton)',
    citation: 'Rodriguez-Sibaja et al., Ultrasound Obstet Gynecol 2021;57:614-623',
  },
  'fmf-nuchal-translucency': {
    name: 'FMF nuchal translucency, 95th centile by CRL',
    citation: 'Spencer et al., Ultrasound Obstet Gynecol 2003;22:142-148',
  },
  'intergrowth-2014-size': {
    name: 'INTERGROWTH-21st fetal growth standards 2014 (singleton)',
    citation: 'Papageorghiou et al., Lancet 2014;384:869-879',
  },
  'intergrowth-2017-efw': {
    name: 'INTERGROWTH-21st estimated fetal weight 2017 (HC, AC; singleton)',
    citation: 'Stirnemann et al., Ultrasound Obstet Gynecol 2017;49:478-486',
  },
  'intergrowth-2020-efw': {
    name: 'INTERGROWTH-21st estimated fetal weight 2020 (Hadlock HC, AC, FL; singleton)',
    citation: 'Stirnemann et al., Ultrasound Obstet Gynecol 2020;56:946-948',
  },
  'moore-cayle-1990': {
    name: 'Moore and Cayle 1990, 5th and 95th centile of the AFI',
    citation: 'Moore and Cayle, Am J Obstet Gynecol 1990;162:1168-1173',
  },
} as const satisfies Record<string, Chart>;

export type ObstetricChart = keyof typeof OBSTETRIC_CHARTS;
