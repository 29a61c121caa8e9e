import { ln, type Method } from './coding.ts';

const placement = (text: string): Method => ({ text, citation: null, equation: null });

/** How the values of the obstetric endpoint are placed or calculated. */
export const OBSTETRIC_METHODS = {
  'doppler-envelope': {
    text: 'automatic trace of the maximum velocity, mean of the beats that are alike',
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
