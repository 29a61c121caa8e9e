import {
  type Chart,
  type CodedConcept,
  type Coding,
  conceptOf,
  ln,
  type MeasurementConcept,
  type Method,
  method,
  own,
  quantityIn,
  sct,
} from './coding.ts';

const GESTATIONAL_AGE = ln('18185-9', 'Gestational Age');
const SKULL = sct('89546000', 'Skull');
const ABDOMEN = sct('818981001', 'Abdomen');
const VENTRICLE = sct('66720007', 'Lateral ventricle');
const CEREBELLUM = sct('113305005', 'Cerebellum');
const CISTERNA = sct('54165005', 'Cisterna magna');
const FEMUR = sct('71341001', 'Femur');
const NECK = sct('45048000', 'Neck');

const length = (site: Coding) => quantityIn('biometry', 'mm', 1, site);
const ratio = quantityIn('ratio', '%', 1);
const age = quantityIn('summary', 'd', 0);
const cranial = (site: Coding) => quantityIn('cranium', 'mm', 1, site);
const early = quantityIn('early-gestation', 'mm', 1);
const pelvic = (site: Coding) => quantityIn('pelvis', 'mm', 1, site);
const intrapartumAngle = quantityIn('intrapartum', 'deg', 0);
/** A dimensionless index. No standard scheme has a code for one. */
const vascularIndex = (site: Coding | null) => quantityIn('vascular', '1', 2, site);
/** A heart-to-thorax ratio on the four-chamber view (CID 12279). */
const cardiothoracic = quantityIn('heart', '1', 2);

/** Size, age and weight of the fetus, and structures of its head (CID 12003 to 12008, 12014). */
const BIOMETRY = {
  bpd: length(SKULL)('Biparietal diameter', 'BPD', [ln('11820-8', 'Biparietal Diameter')]),
  ofd: length(SKULL)('Occipitofrontal diameter', 'OFD', [
    ln('11851-3', 'Occipital-Frontal Diameter'),
  ]),
  hc: length(SKULL)('Head circumference', 'HC', [ln('11984-2', 'Head Circumference')]),
  tad: length(ABDOMEN)('Transverse abdominal diameter', 'TAD', [
    ln('11862-0', 'Transverse Abdominal Diameter'),
  ]),
  apad: length(ABDOMEN)('Anteroposterior abdominal diameter', 'APAD', [
    ln('11818-2', 'Anterior-Posterior Abdominal Diameter'),
  ]),
  ac: length(ABDOMEN)('Abdominal circumference', 'AC', [ln('11979-2', 'Abdominal Circumference')]),
  fl: length(FEMUR)('Femur length', 'FL', [ln('11963-6', 'Femur Length')]),
  'cephalic-index': ratio('Cephalic index', 'CI', [ln('11823-2', 'Cephalic Index')]),
  // Clinicians read HC/AC as a plain ratio, but TID 5004 and its LOINC code use per cent.
  'hc-ac-ratio': {
    ...ratio('HC/AC ratio', 'HC/AC', [ln('11947-9', 'HC/AC')]),
    unit: '1',
    exchange: { unit: '%', factor: 100 },
    decimals: 2,
  },
  'fl-ac-ratio': ratio('FL/AC ratio', 'FL/AC', [ln('11871-1', 'FL/AC')]),
  'fl-bpd-ratio': ratio('FL/BPD ratio', 'FL/BPD', [ln('11872-9', 'FL/BPD')]),
  'ga-by-hc': age('Gestational age by HC', 'GA (HC)', [GESTATIONAL_AGE]),
  'ga-by-hc-ac-fl': age('Gestational age by HC, AC and FL', 'GA (HC, AC, FL)', [
    ln('11888-5', 'Composite Ultrasound Age'),
  ]),
  efw: quantityIn('summary', 'g', 0)('Estimated fetal weight', 'EFW', [
    ln('11727-5', 'Estimated Weight'),
  ]),
  'atrial-width': cranial(VENTRICLE)('Atrial width', 'Vp', [
    ln('12171-5', 'Lateral Ventricle Width'),
  ]),
  'transcerebellar-diameter': cranial(CEREBELLUM)('Transcerebellar diameter', 'TCD', [
    ln('11863-8', 'Trans Cerebellar Diameter'),
  ]),
  'cisterna-magna': cranial(CISTERNA)('Cisterna magna', 'CM', [
    ln('11860-4', 'Cisterna Magna Length'),
  ]),
  'nuchal-fold': cranial(NECK)('Nuchal fold', 'NF', [ln('12146-7', 'Nuchal Fold thickness')]),
} as const satisfies Record<string, MeasurementConcept>;

/** Gestational sac, embryo and nuchal translucency (CID 12009, 12010). */
const EARLY_PREGNANCY = {
  crl: early('Crown-rump length', 'CRL', [ln('11957-8', 'Crown Rump Length')]),
  'mean-sac-diameter': early('Mean sac diameter', 'MSD', [
    ln('11850-5', 'Gestational Sac Diameter'),
  ]),
  'sac-length': early('Length of the gestational sac', 'sac length', [own('sac-length')]),
  'sac-height': early('Height of the gestational sac', 'sac height', [own('sac-height')]),
  'sac-width': early('Width of the gestational sac', 'sac width', [own('sac-width')]),
  'yolk-sac': early('Yolk sac diameter', 'YS', [ln('11816-6', 'Yolk Sac Length')]),
  'ga-by-crl': age('Gestational age by CRL', 'GA (CRL)', [GESTATIONAL_AGE]),
  'ga-by-sac': age('Gestational age by mean sac diameter', 'GA (MSD)', [GESTATIONAL_AGE]),
  'fetal-heart-rate': quantityIn('summary', '{H.B.}/min', 0)('Fetal heart rate', 'FHR', [
    ln('11948-7', 'Fetal Heart Rate'),
  ]),
  'nuchal-translucency': quantityIn(
    'early-gestation',
    'mm',
    1,
    NECK,
  )('Nuchal translucency', 'NT', [ln('33069-6', 'Nuchal Translucency')]),
} as const satisfies Record<string, MeasurementConcept>;

const fluid = quantityIn('amniotic-sac', 'mm', 1, sct('77012006', 'Amniotic fluid'));
const CERVIX = sct('71252005', 'Cervix');
const PLACENTA = sct('78067005', 'Placenta');

/**
 * Amniotic fluid, cervix, placenta, and the descent of the head. No standard scheme has codes for the
 * intrapartum quantities (obstetric 15.3).
 */
const UTERUS = {
  'deepest-vertical-pocket': fluid('Deepest vertical pocket', 'DVP', [sct('81827009', 'Diameter')]),
  'amniotic-fluid-index': fluid('Amniotic fluid index', 'AFI', [
    ln('11627-7', 'Amniotic Fluid Index'),
  ]),
  'cervical-length': pelvic(CERVIX)('Cervical length', 'CL', [ln('11961-0', 'Cervix Length')]),
  'funnel-depth': pelvic(CERVIX)('Depth of the cervical funnel', 'funnel depth', [
    own('funnel-depth'),
  ]),
  'funnel-width': pelvic(CERVIX)('Width of the cervical funnel', 'funnel width', [
    own('funnel-width'),
  ]),
  'percent-funnelling': quantityIn('pelvis', '%', 1)('Percent funnelling', 'funnelling', [
    own('percent-funnelling'),
  ]),
  'placenta-to-os': pelvic(PLACENTA)('Lower placental edge to internal os', 'edge to os', [
    own('placenta-to-os'),
  ]),
  'placental-thickness': pelvic(PLACENTA)('Placental thickness', 'placental thickness', [
    own('placental-thickness'),
  ]),
  'angle-of-progression': intrapartumAngle('Angle of progression', 'AoP', [
    own('angle-of-progression'),
  ]),
  'head-symphysis-distance': quantityIn('intrapartum', 'mm', 1)('Head-symphysis distance', 'HSD', [
    own('head-symphysis-distance'),
  ]),
  'head-direction': intrapartumAngle('Head direction', 'HD', [own('head-direction')]),
  'head-station': quantityIn('intrapartum', 'cm', 1)('Head station by angle', 'station', [
    own('head-station'),
  ]),
} as const satisfies Record<string, MeasurementConcept>;

const UMBILICAL_ARTERY = sct('50536004', 'Umbilical artery');
const MIDDLE_CEREBRAL_ARTERY = sct('17232002', 'Middle cerebral artery');
const UTERINE_ARTERY = sct('91079009', 'Uterine artery');
/** CID 12141 is extensible; the code of the standard is not confirmed (obstetric 15.4). */
const DUCTUS_VENOSUS = own('ductus-venosus', 'Ductus venosus');

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
  const label = `${vessel.label} ${name}`;
  const abbreviation = `${vessel.abbreviation} ${name}`;
  return quantityIn('vascular', unit, decimals, vessel.site)(label, abbreviation, [coding]);
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
  'ductus-venosus-piv': vascularIndex(DUCTUS_VENOSUS)('Ductus venosus PI for veins', 'DV PIV', [
    own('ductus-venosus-piv'),
  ]),
  'middle-cerebral-artery-psv-mom': vascularIndex(MIDDLE_CEREBRAL_ARTERY)(
    'Middle cerebral artery PSV, multiple of the median',
    'MCA PSV MoM',
    [own('middle-cerebral-artery-psv-mom')],
  ),
  'cerebroplacental-ratio': vascularIndex(null)('Cerebroplacental ratio', 'CPR', [
    own('cerebroplacental-ratio'),
  ]),
  'uterine-artery-mean-pi': vascularIndex(UTERINE_ARTERY)(
    'Uterine artery PI, mean of both sides',
    'UtA mean PI',
    [own('uterine-artery-mean-pi')],
  ),
  'cardiothoracic-area-ratio': cardiothoracic('Cardiothoracic area ratio', 'CTAR', [
    ln('59076-0', 'Cardiothoracic Area Ratio'),
  ]),
  'cardiothoracic-circumference-ratio': cardiothoracic(
    'Cardiothoracic circumference ratio',
    'CTCR',
    [ln('59074-5', 'Cardiothoracic Circumference Ratio')],
  ),
  'cardiac-axis': quantityIn('heart', 'deg', 0)(
    'Cardiac axis (side unknown)',
    'cardiac axis (side unknown)',
    [own('cardiac-axis')],
  ),
} as const satisfies Record<string, MeasurementConcept>;

export const FINDING_CONCEPTS = {
  'size-for-gestational-age': own('size-for-gestational-age', 'Size for gestational age'),
  'fetal-growth-restriction': own('fetal-growth-restriction', 'Fetal growth restriction'),
  'standard-plane': own('standard-plane', 'Standard plane of fetal ultrasound'),
  repeatability: own('repeatability', 'Repeatability of a measurement'),
  'head-shape': own('head-shape', 'Head shape'),
  'head-size': own('head-size', 'Head size for gestational age'),
  'head-station': own('head-station-band', 'Descent of the fetal head'),
  'head-direction': own('head-direction-band', 'Direction of the fetal head'),
  'nuchal-translucency': own('nuchal-translucency-category', 'Nuchal translucency category'),
  'nasal-bone': own('nasal-bone', 'Fetal nasal bone'),
  'nt-plane-adequacy': own('nt-plane-adequacy', 'Adequacy of the nuchal translucency plane'),
  'gestational-age': own('gestational-age-by-crl', 'Gestational age by CRL'),
  'pregnancy-viability': own('early-pregnancy-category', 'Early pregnancy category'),
  'cardiac-activity': own('cardiac-activity', 'Embryonic or fetal cardiac activity'),
  'fetal-presentation': own('fetal-presentation', 'Fetal presentation'),
  'cephalic-presentation': sct('70028003', 'Vertex presentation'),
  'breech-presentation': sct('6096002', 'Breech presentation'),
  'fetal-lie': own('fetal-lie', 'Fetal lie'),
  'multiple-pregnancy': sct('16356006', 'Multiple pregnancy'),
  ventriculomegaly: own('ventriculomegaly', 'Width of the lateral ventricle'),
  'cisterna-magna': own('cisterna-magna-size', 'Size of the cisterna magna'),
  'nuchal-fold': own('nuchal-fold', 'Nuchal fold'),
  'femur-size': own('femur-size', 'Femur length for gestational age'),
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
  crl: GESTATIONAL_AGE,
  prior_scan: GESTATIONAL_AGE,
  ivf: GESTATIONAL_AGE,
} as const satisfies Record<string, Coding>;

const BIOMETRY_2019 = 'ISUOG 2019, Salomon et al., Ultrasound Obstet Gynecol 53:715-723';
const HADLOCK_1984 = 'Hadlock et al., Radiology 1984;152:497-501';
const HADLOCK_1985 = 'Hadlock et al., Am J Obstet Gynecol 1985;151:333-337';
const CERVIX_2022 = 'ISUOG 2022, Coutinho et al., Ultrasound Obstet Gynecol 60:435-456';
const STIRNEMANN_2017 = 'Stirnemann et al., Ultrasound Obstet Gynecol 2017;49:478-486';

/** Methods of the obstetric endpoint: how calipers are placed, and how values are calculated. */
export const OBSTETRIC_METHODS = {
  'doppler-envelope': method(
    'automatic trace of the maximum velocity, mean of the similar beats',
    'Bhide et al. (ISUOG), Ultrasound Obstet Gynecol 2021;58:331-339',
  ),
  'multiple-of-median': method('value divided by the median for gestational age'),
  'mean-of-sides': method('mean of the left and the right side'),
  'm-mode-periodicity': method('repetition of the echoes along an M-mode sweep'),
  'doppler-periodicity': method('repetition of the traced Doppler waveform'),
  'heart-and-thorax-outlines': method('ellipses on the epicardium and outside the ribs'),
  'cardiac-axis-septum': method('from crux to apex, against the line from spine to sternum'),
  'tcd-outer-outer': method('both hemispheres of the cerebellum, outer to outer'),
  'cisterna-vermis-occiput': method('posterior vermis to inner occipital bone'),
  'atrium-inner-inner': method(
    'inner walls of the far lateral ventricle at the glomus, perpendicular to them',
  ),
  'bpd-outer-outer': method('minor axis of the ellipse on the outer skull border (outer to outer)'),
  'ofd-outer-outer': method('major axis of the ellipse on the outer skull border (outer to outer)'),
  'hc-ellipse': method('ellipse on the outer skull border, Ramanujan perimeter', BIOMETRY_2019),
  'ac-ellipse': method('ellipse on the outer skin border, Ramanujan perimeter', BIOMETRY_2019),
  'tad-outer-outer': method('transverse axis of the ellipse on the outer skin border'),
  'apad-outer-outer': method('anteroposterior axis of the ellipse on the outer skin border'),
  'fl-outer-outer': method('ossified diaphysis, outer to outer'),
  'sac-inner-inner': method('inner borders of the gestational sac, fluid only'),
  'msd-three-diameters': method('mean of three orthogonal inner-to-inner diameters'),
  'yolk-sac-inner-inner': method('inner borders of the yolk sac'),
  'crl-longest': method('longest straight line of the embryo, yolk sac excluded'),
  'robinson-1975-ga-crl': method(
    'Robinson and Fleming 1975 (CRL)',
    'Robinson and Fleming, BJOG 1975;82:702-710',
    ln('11914-9', 'CRL, Robinson 1975'),
  ),
  'nyberg-ga-msd': method('MSD + 30 days (Nyberg), plus or minus 7 days'),
  'cine-periodicity': method('repetition of the grey levels of a cine'),
  'nt-inner-inner': method(
    'largest distance between the inner borders of the two lines, perpendicular to them',
    'ISUOG 2023, Ultrasound Obstet Gynecol 61:127-143',
  ),
  'aop-tangent': method(
    'long axis of the symphysis to the tangent of the skull from its lower edge',
    'ISUOG 2018, Ghi et al., Ultrasound Obstet Gynecol 52:128-139',
  ),
  'hsd-infrapubic': method('lower edge of the symphysis to the skull along the infrapubic line'),
  'head-direction-symphysis': method(
    'long axis of the head to the long axis of the symphysis (ISUOG 2018)',
  ),
  'station-tutschek-2011': method(
    'station = 0.0937 × AoP − 10.911',
    'Tutschek et al., BJOG 2011;118:62-69',
  ),
  ratio: method('ratio of two measured values'),
  'hadlock-1984-ga-hc': method(
    'Hadlock 1984 (HC)',
    HADLOCK_1984,
    ln('11932-1', 'HC, Hadlock 1984'),
  ),
  'hadlock-1984-ga-hc-ac-fl': method('Hadlock 1984 (HC, AC, FL)', HADLOCK_1984),
  'hadlock-1985-efw-hc-ac-fl': method(
    'Hadlock 1985 (HC, AC, FL)',
    HADLOCK_1985,
    ln('11746-5', 'EFW by AC, FL, HC, Hadlock 1985'),
  ),
  'hadlock-1985-efw-ac-fl': method(
    'Hadlock 1985 (AC, FL)',
    HADLOCK_1985,
    ln('11751-5', 'EFW by AC, FL, Hadlock 1985'),
  ),
  'cart-sr': method('value of the ultrasound machine, from its structured report'),
  'intergrowth-2017-efw-hc-ac': method('INTERGROWTH-21st 2017 (HC, AC)', STIRNEMANN_2017),
  'vertical-pocket': method(
    'vertical depth of a pocket at least 10 mm wide, free of cord and fetal parts',
    'AIUM-ACR-ACOG-SMFM-SRU 2018, J Ultrasound Med 37:E13-E24',
  ),
  'sum-of-quadrants': method('sum of the deepest vertical pockets of the four quadrants'),
  'cervix-straight': method('straight line from external to internal os', CERVIX_2022),
  'cervix-two-lines': method(
    'two straight lines along a curved canal, from external to internal os',
    CERVIX_2022,
  ),
  'funnel-mouth': method('between the shoulders of the funnel'),
  'funnel-depth': method('from the shoulders of the funnel to the functional internal os'),
  'percent-funnelling': method('funnel depth over funnel depth and closed length'),
  'edge-to-os': method(
    'straight line from the lower placental tissue edge to the internal os, negative where it overlaps',
    'Reddy et al., Obstet Gynecol 2014;123:1070-1082',
  ),
  'placental-thickness': method('across the thickest part, from surface to surface'),
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
    citation: STIRNEMANN_2017,
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
