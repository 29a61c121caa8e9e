import type { AcceptedEvidence } from '../../config/schema.ts';
import type { ConceptKey, MethodKey } from './concepts.ts';

/**
 * Evidence for each method of this software: the images on which it was shown to work. This is the
 * only such table; the results, the model cards and docs/evidence.md are derived from it. The
 * numbers come from `models/<id>/metrics.json` and from the pages in `source`;
 * test/pipelines/concepts/method-evidence.test.ts compares them. An entry does not state whether a
 * value may be accepted; that is calculated from the entry.
 */

/** Error measured on the held-out cases. */
interface MeasuredError {
  value: number;
  unit: string;
  /** Kind of error, such as a mean absolute error or a share of misclassified images. */
  of: string;
  /** Greatest error at which values are still accepted; a choice of this project. */
  limit: number;
}

/** Inputs to which the evidence applies. An absent field sets no limit. */
interface Domain {
  /** In days, both ends included. */
  gaDays?: readonly [number, number];
  /**
   * Range of each quantity in the evidence images, in the unit of the quantity, both ends included.
   */
  sizes?: Readonly<Partial<Record<ConceptKey, readonly [number, number]>>>;
  /** Description of the machines, views and patients. */
  text: string;
}

/** Half width of a 95 % interval, in the unit of the concept or in per cent of the value. */
type HalfWidth = number | { readonly percent: number };

export interface EvidenceEntry {
  /** Id of the section that shows the values. */
  section: string;
  /** Quantity that was measured, or plane or view that was classified. */
  what: string;
  /** Id of the model in models/registry.yaml; null for image analysis without a model. */
  model: string | null;
  data: string;
  /** True for images of patients; false for simulated images. */
  real: boolean;
  /** Number of held-out cases; null if not known. */
  cases: number | null;
  /** Null if there is no reference standard to compare with. */
  error: MeasuredError | null;
  /** Date on which the error was measured. */
  date: string;
  /**
   * Source of the numbers: a page, or `<model>#<path>`, where the path leads to the object in
   * metrics.json that contains the number of cases and the error.
   */
  source: string;
  domain: Domain;
  /**
   * 95 % interval of a value, by concept: the 95th centile of the errors on the cases of the
   * evidence. `others` applies to every concept that is not listed; without it, the interval of
   * such a concept is unknown.
   */
  intervals?: Readonly<Partial<Record<ConceptKey | 'others', HalfWidth>>>;
  /** Concepts covered by the evidence, for each method; `all` for every concept of the method. */
  covers: Readonly<Partial<Record<MethodKey, 'all' | readonly ConceptKey[]>>>;
}

/**
 * Minimum number of held-out cases for a method to count as shown to work; a choice of this
 * project.
 */
export const LEAST_CASES = 20;

const WEEK = 7;
const SECOND_TRIMESTER = 'second and third trimester, Voluson and Aloka';

/** Evidence from the phantoms of this project. */
const PHANTOMS = {
  data: 'simulated images',
  real: false,
  domain: { text: 'phantoms of this project' },
} as const;

const CAMUS_A4C = {
  data: 'CAMUS, validation',
  real: true,
  domain: { text: 'A4C, adults, GE Vivid E95' },
} as const;

/**
 * Interval for a value whose error was not measured. It is a convention of this project, wide
 * enough that nothing is concluded near a cut-off.
 */
const NOT_MEASURED = { percent: 25 } as const;

const OBSTETRIC_EVIDENCE = {
  'head-outline': {
    section: 'biometry',
    what: 'HC, BPD, OFD',
    model: 'fetal-head',
    data: 'HC18',
    real: true,
    cases: 152,
    error: { value: 1.83, unit: 'mm', of: 'mean absolute error of HC', limit: 5 },
    date: '2026-11-29',
    source: 'fetal-head-border#sets.hc18.accepted',
    domain: { gaDays: [12 * WEEK, 43 * WEEK], text: 'all trimesters, Voluson E8 and 730' },
    covers: {
      'hc-ellipse': 'all',
      'bpd-outer-outer': 'all',
      'ofd-outer-outer': 'all',
    },
  },
  'abdomen-outline': {
    section: 'biometry',
    what: 'AC, TAD, APAD',
    model: 'fetal-abdomen',
    data: 'FETAL_PLANES_DB with landmarks',
    real: true,
    cases: 46,
    error: { value: 4.9, unit: 'mm', of: 'mean absolute error of AC', limit: 10 },
    date: '2026-11-28',
    source: 'fetal-abdomen#sets.fetal-planes (TAD and APAD landmarks).accepted',
    domain: {
      gaDays: [18 * WEEK, 43 * WEEK],
      // The smallest and largest AC among the landmarked images with a reliable scale.
      sizes: { ac: [120, 370] },
      text: SECOND_TRIMESTER,
    },
    covers: { 'ac-ellipse': 'all', 'tad-outer-outer': 'all', 'apad-outer-outer': 'all' },
  },
  'femur-ends': {
    section: 'biometry',
    what: 'FL',
    model: 'fetal-femur',
    data: 'FETAL_PLANES_DB with landmarks',
    real: true,
    cases: 33,
    error: { value: 0.98, unit: 'mm', of: 'mean absolute error', limit: 2 },
    date: '2026-11-29',
    source: 'fetal-femur#sets.fetal-planes (FL landmarks).accepted',
    domain: {
      gaDays: [18 * WEEK, 43 * WEEK],
      sizes: { fl: [25, 80] },
      text: SECOND_TRIMESTER,
    },
    covers: { 'fl-outer-outer': 'all' },
  },
  'standard-planes': {
    section: 'planes',
    what: 'names of head planes, abdomen, femur, thorax',
    model: 'fetal-plane',
    data: 'FETAL_PLANES_DB',
    real: true,
    cases: 287,
    error: { value: 0.1359, unit: '1', of: 'share of images named wrongly', limit: 0.2 },
    date: '2026-11-28',
    source: 'fetal-plane#sets.fetal-planes',
    domain: { text: SECOND_TRIMESTER },
    covers: {},
  },
  'midsagittal-plane': {
    section: 'planes',
    what: 'name of the mid-sagittal plane',
    model: 'fetal-plane',
    data: 'NT midsagittal (Cui and Dong 2022)',
    real: true,
    cases: 60,
    error: { value: 0, unit: '1', of: 'share of images named wrongly', limit: 0.2 },
    date: '2026-11-28',
    source: 'fetal-plane#sets.nt-midsagittal',
    domain: { text: 'first trimester' },
    covers: {},
  },
  'transperineal-plane': {
    section: 'planes',
    what: 'name of the transperineal plane',
    model: 'fetal-plane',
    data: 'PSFHS',
    real: true,
    cases: 50,
    error: { value: 0, unit: '1', of: 'share of images named wrongly', limit: 0.2 },
    date: '2026-11-28',
    source: 'fetal-plane#sets.psfhs',
    domain: { text: 'labor' },
    covers: {},
  },
  'simulated-planes': {
    section: 'planes',
    what: 'names of cervix, early pregnancy, amniotic fluid, placenta, four-chamber view',
    model: 'fetal-plane',
    ...PHANTOMS,
    cases: 189,
    error: { value: 0.1058, unit: '1', of: 'share of images named wrongly', limit: 0.2 },
    date: '2026-11-28',
    source: 'fetal-plane#sets.phantom',
    covers: {},
  },
  'angle-of-progression': {
    section: 'labor-progress',
    what: 'angle of progression, station',
    model: 'symphysis-head',
    data: 'PSFHS',
    real: true,
    cases: 149,
    error: { value: 5.33, unit: 'deg', of: 'mean absolute error', limit: 10 },
    date: '2026-11-22',
    source: 'symphysis-head#sets.psfhs.angleOfProgression.accepted',
    domain: { text: 'labor, three hospitals' },
    covers: { 'aop-tangent': 'all' },
  },
  'head-in-labor': {
    section: 'labor-progress',
    what: 'head-symphysis distance, direction of the head',
    model: 'symphysis-head',
    data: 'PSFHS, which has no reference for them',
    real: true,
    cases: null,
    error: null,
    date: '2026-11-21',
    source: 'docs/evidence.md',
    domain: { text: 'labor, three hospitals' },
    covers: { 'hsd-infrapubic': 'all', 'head-direction-symphysis': 'all' },
  },
  'fluid-pocket': {
    section: 'amniotic-fluid',
    what: 'deepest pocket, amniotic fluid index',
    model: 'uterine-structures',
    ...PHANTOMS,
    cases: 93,
    error: { value: 1.56, unit: 'mm', of: 'mean absolute error', limit: 5 },
    date: '2026-11-21',
    source: 'uterine-structures#sets.phantom: pocket.accepted',
    covers: { 'vertical-pocket': 'all', 'sum-of-quadrants': 'all' },
  },
  'placenta-site': {
    section: 'placenta',
    what: 'wall of the placenta, its edge, its thickness',
    model: 'uterine-structures',
    ...PHANTOMS,
    cases: 102,
    error: { value: 0.0196, unit: '1', of: 'share of walls named wrongly', limit: 0.1 },
    date: '2026-11-21',
    source: 'uterine-structures#sets.decisions.wall of the placenta',
    covers: { 'edge-to-os': 'all', 'placental-thickness': 'all' },
  },
  'cervical-length': {
    section: 'cervix',
    what: 'cervical length, funnel',
    model: 'uterine-structures',
    ...PHANTOMS,
    cases: 80,
    error: { value: 3.3, unit: 'mm', of: 'mean absolute error', limit: 3 },
    date: '2026-11-21',
    source: 'uterine-structures#sets.phantom: cervicalLength.accepted',
    covers: {
      'cervix-straight': 'all',
      'cervix-two-lines': 'all',
      'funnel-mouth': 'all',
      'funnel-depth': 'all',
      'percent-funnelling': 'all',
    },
  },
  'early-pregnancy': {
    section: 'early-pregnancy',
    what: 'gestational sac, yolk sac, CRL, viability',
    model: null,
    ...PHANTOMS,
    cases: 42,
    error: { value: 0.8, unit: 'mm', of: 'median error of the sac', limit: 2 },
    date: '2026-11-21',
    source: 'docs/early-pregnancy.md',
    covers: {
      'sac-inner-inner': 'all',
      'msd-three-diameters': 'all',
      'yolk-sac-inner-inner': 'all',
      'crl-longest': 'all',
    },
  },
  'nuchal-translucency': {
    section: 'nt',
    what: 'nuchal translucency, adequacy of the plane',
    model: 'fetal-midsagittal',
    ...PHANTOMS,
    cases: 21,
    error: { value: 0.37, unit: 'mm', of: 'mean absolute error', limit: 0.3 },
    date: '2026-11-21',
    source: 'fetal-midsagittal#sets.phantom.nuchalThickness',
    covers: { 'nt-inner-inner': 'all' },
  },
  'fetal-heart-size': {
    section: 'fetal-heart',
    what: 'cardiothoracic ratios, cardiac axis',
    model: 'fetal-heart-structures',
    ...PHANTOMS,
    cases: 40,
    error: { value: 0.0134, unit: '1', of: 'median error of the area ratio', limit: 0.05 },
    date: '2026-11-22',
    source: 'fetal-heart-structures#sets.phantoms never seen.areaRatio',
    covers: { 'heart-and-thorax-outlines': 'all', 'cardiac-axis-septum': 'all' },
  },
  'fetal-heart-rate': {
    section: 'fetal-heart',
    what: 'heart rate and rhythm from M-mode, spectra and cines',
    model: null,
    ...PHANTOMS,
    cases: 30,
    error: { value: 0.4, unit: '{H.B.}/min', of: 'median error in M-mode', limit: 5 },
    date: '2026-11-21',
    source: 'docs/doppler.md',
    covers: {
      'm-mode-periodicity': 'all',
      'doppler-periodicity': 'all',
      'cine-periodicity': 'all',
    },
  },
  'brain-structures': {
    section: 'anomaly-screen',
    what: 'cerebellum, atrium, cisterna magna',
    model: 'fetal-brain-structures',
    ...PHANTOMS,
    cases: 40,
    error: { value: 0.278, unit: 'mm', of: 'median error of the cerebellum', limit: 2 },
    date: '2026-11-22',
    source: 'fetal-brain-structures#sets.phantoms never seen.cerebellum',
    covers: {
      'tcd-outer-outer': 'all',
      'cisterna-vermis-occiput': 'all',
      'atrium-inner-inner': 'all',
    },
  },
  'presentation-sweep': {
    section: 'presentation',
    what: 'presentation and lie from a sweep, cardiac activity',
    model: null,
    ...PHANTOMS,
    cases: null,
    error: null,
    date: '2026-11-21',
    source: 'docs/evidence.md',
    covers: {},
  },
  'fetal-spectra': {
    section: 'doppler',
    what: 'PI, RI, S/D and velocities of umbilical, cerebral and uterine arteries and ductus venosus',
    model: null,
    ...PHANTOMS,
    cases: 40,
    error: { value: 3, unit: '%', of: 'median error of the umbilical PI', limit: 5 },
    date: '2026-11-21',
    source: 'docs/doppler.md',
    covers: { 'doppler-envelope': 'all' },
  },
} as const satisfies Record<string, EvidenceEntry>;

const ECHO_EVIDENCE = {
  'echo-views': {
    section: 'views',
    what: 'name of A4C',
    model: 'echo-view-research',
    data: 'CAMUS, validation',
    real: true,
    cases: 120,
    error: { value: 0.1167, unit: '1', of: 'share not named A4C', limit: 0.2 },
    date: '2026-11-29',
    source: 'echo-view-research#sets.camus-a4c, role validation',
    domain: { text: 'A4C only, GE Vivid E95: says nothing of other views named A4C' },
    covers: {},
  },
  'echo-views-permissive': {
    section: 'views',
    what: 'name of A4C',
    model: 'echo-view',
    data: 'CAMUS, validation',
    real: true,
    cases: 120,
    error: { value: 0.325, unit: '1', of: 'share not named A4C', limit: 0.2 },
    date: '2026-11-29',
    source: 'echo-view#sets.camus-a4c, role validation',
    domain: { text: 'A4C only, GE Vivid E95' },
    covers: {},
  },
  'lv-outline': {
    section: 'lvef',
    what: 'LV outline on A4C: volumes, LVEF by discs, length, areas',
    model: 'echo-chambers-research',
    ...CAMUS_A4C,
    cases: 60,
    error: { value: 5.66, unit: '%', of: 'mean absolute error of LVEF, points', limit: 6 },
    date: '2026-11-21',
    source: 'echo-chambers-research#sets.camus-a4c, role validation.ejectionFraction.byDiscs',
    intervals: { 'lvef-4c': 15.9, others: NOT_MEASURED },
    covers: {
      'disc-summation': ['lvedv-4c', 'lvesv-4c', 'lvef-4c'],
      'outlined-length': ['lv-length-4c'],
      'outlined-area': ['lv-ed-area-4c', 'lv-es-area-4c'],
    },
  },
  'lv-outline-permissive': {
    section: 'lvef',
    what: 'LV outline on A4C: volumes, LVEF by discs, length, areas',
    model: 'echo-chambers',
    ...CAMUS_A4C,
    cases: 59,
    error: { value: 18.2, unit: '%', of: 'mean absolute error of LVEF, points', limit: 6 },
    date: '2026-11-21',
    source: 'echo-chambers#sets.camus-a4c, role validation.ejectionFraction.byDiscs',
    intervals: { others: NOT_MEASURED },
    covers: {
      'disc-summation': ['lvedv-4c', 'lvesv-4c', 'lvef-4c'],
      'outlined-length': ['lv-length-4c'],
      'outlined-area': ['lv-ed-area-4c', 'lv-es-area-4c'],
    },
  },
  'lvef-networks': {
    section: 'lvef',
    what: 'LVEF on A4C, mean of two networks',
    model: 'echo-ejection-fraction-research',
    ...CAMUS_A4C,
    cases: 60,
    error: { value: 5.44, unit: '%', of: 'mean absolute error, points', limit: 6 },
    date: '2026-11-21',
    source: 'echo-ejection-fraction-research#sets.camus-a4c, role validation.jointAccepted',
    intervals: { 'lvef-networks': 12.7 },
    covers: { 'mean-of-networks': 'all' },
  },
  'la-outline': {
    section: 'la-volume',
    what: 'LA outline on A4C: area, length, volume',
    model: 'echo-chambers-research',
    data: 'CAMUS, validation: Dice only, no area or volume was compared',
    real: true,
    cases: 60,
    error: null,
    date: '2026-11-21',
    source: 'echo-chambers-research#sets.camus-a4c, role validation',
    domain: { text: 'A4C, adults, GE Vivid E95' },
    intervals: { others: NOT_MEASURED },
    covers: {
      'disc-summation': ['la-volume-4c'],
      'outlined-length': ['la-length-4c'],
      'outlined-area': ['la-area-4c'],
    },
  },
  'apical-outlines': {
    section: 'segment-chambers',
    what: 'LV and LA on A2C and A3C, myocardium of every view, biplane volumes',
    model: 'echo-chambers-research',
    ...PHANTOMS,
    cases: 18,
    error: { value: 6.4, unit: 'ml', of: 'mean error of the biplane EDV', limit: 10 },
    date: '2026-11-21',
    source: 'docs/echo.md',
    intervals: {
      'lvedv-biplane': 16.4,
      'lvesv-biplane': 9.2,
      'la-volume-biplane': 7,
      others: NOT_MEASURED,
    },
    covers: {
      'disc-summation': 'all',
      'biplane-discs': 'all',
      'outlined-length': 'all',
      'outlined-area': [
        'lv-ed-area-2c',
        'lv-es-area-2c',
        'lv-ed-area-3c',
        'lv-es-area-3c',
        'lv-muscle-area-4c',
        'lv-muscle-area-2c',
        'lv-muscle-area-3c',
        'la-area-2c',
      ],
    },
  },
  'right-heart': {
    section: 'rv-function',
    what: 'RV and RA: areas, FAC, widths, TAPSE on 2D, RV/LV',
    model: 'echo-chambers-research',
    ...PHANTOMS,
    cases: 19,
    error: { value: 1.14, unit: 'cm2', of: 'mean error of the RV diastolic area', limit: 2 },
    date: '2026-11-21',
    source: 'docs/echo.md',
    intervals: {
      'rv-ed-area': 5.2,
      'rv-es-area': 1.8,
      'rv-fac': 14,
      'rv-basal': 5.5,
      'rv-mid': 5.5,
      'ra-area': 3.9,
      // The relative errors of the RV and LV outlines, combined as a root sum of squares. Widths:
      // 5.5 of 34 mm (RV) and 3 of 45 mm (LV). Areas: 5.2 of 20 cm² and 3 of 30 cm².
      'rv-to-lv': { percent: 18 },
      'rv-to-lv-area': { percent: 28 },
      others: NOT_MEASURED,
    },
    covers: {
      'outlined-area': ['rv-ed-area', 'rv-es-area', 'ra-area'],
      'outlined-width': 'all',
      'fraction-of-areas': 'all',
      'annulus-motion': 'all',
      'ratio-of-diameters': 'all',
      'ratio-of-areas': 'all',
    },
  },
  strain: {
    section: 'lv-strain',
    what: 'longitudinal strain, overall and by segment',
    model: 'echo-chambers-research',
    ...PHANTOMS,
    cases: 19,
    error: { value: 0.73, unit: '%', of: 'mean error of GLS, points', limit: 2 },
    date: '2026-11-21',
    source: 'docs/echo.md',
    // The error of a three-view GLS is 2.2 points; that of a single view is √3 times as large.
    intervals: { others: 3.8 },
    covers: { 'contour-strain': 'all' },
  },
  'wall-motion': {
    section: 'wall-motion',
    what: 'scores of the segments',
    model: 'echo-chambers-research',
    ...PHANTOMS,
    cases: 30,
    error: null,
    date: '2026-11-21',
    source: 'docs/echo.md',
    covers: { 'wall-outlines': 'all' },
  },
  parasternal: {
    section: 'lv-size',
    what: 'LV dimensions, sinus and LA on parasternal views',
    model: 'echo-parasternal',
    ...PHANTOMS,
    cases: 100,
    error: { value: 2.78, unit: 'mm', of: 'mean absolute error of the cavity', limit: 4 },
    date: '2026-11-21',
    source: 'echo-parasternal#sets.phantom: cavity.accepted',
    intervals: { ivsd: 0.1, lvidd: 0.12, lvpwd: 0.29, lvids: 0.17, others: NOT_MEASURED },
    covers: { 'outlined-dimension': 'all' },
  },
  'pericardial-fluid': {
    section: 'pericardial-effusion',
    what: 'echo-free space around the heart',
    model: 'echo-parasternal',
    ...PHANTOMS,
    cases: 5,
    error: { value: 0.66, unit: 'mm', of: 'mean error of the depth', limit: 2 },
    date: '2026-11-21',
    source: 'docs/echo.md',
    intervals: { 'effusion-depth': 1.7 },
    covers: { 'echo-free-space': 'all' },
  },
  'echo-spectra': {
    section: 'valves',
    what: 'velocities, times and integrals of spectral Doppler',
    model: null,
    data: 'printed values of real screens of one machine',
    real: true,
    cases: 5,
    error: { value: 3.4, unit: '%', of: 'mean error of five printed velocities', limit: 5 },
    date: '2026-11-22',
    source: 'docs/echo.md',
    domain: { text: 'one machine' },
    // Of 278 accepted velocities on simulated displays, 5 had an error above 10 %. For times and
    // integrals, the interval is the second-largest error in 21 studies, which is less precise than
    // a centile.
    intervals: {
      'lvot-vti': { percent: 12 },
      'rvot-vti': { percent: 15 },
      'rvot-acceleration': { percent: 35 },
      'deceleration-time': { percent: 12 },
      'av-mean-gradient': { percent: 12 },
      'mv-mean-gradient': { percent: 35 },
      others: { percent: 10 },
    },
    covers: { 'spectral-trace': 'all' },
  },
  'echo-m-mode': {
    section: 'lv-size',
    what: 'LV dimensions, TAPSE, MAPSE and vena cava on M-mode',
    model: null,
    ...PHANTOMS,
    cases: 20,
    error: { value: 0.98, unit: 'mm', of: 'mean error of TAPSE', limit: 2 },
    date: '2026-11-21',
    source: 'docs/echo.md',
    // Of 198 accepted LV and vena cava dimensions on simulated displays, 5 had an error above 10 %.
    intervals: { tapse: 2, others: { percent: 10 } },
    covers: { 'm-mode-trace': 'all' },
  },
} as const satisfies Record<string, EvidenceEntry>;

/** The entries of each endpoint. */
export const EVIDENCE_OF = {
  'us/obstetric/interpret': OBSTETRIC_EVIDENCE,
  'us/echo/interpret': ECHO_EVIDENCE,
} as const;

export const EVIDENCE = {
  ...OBSTETRIC_EVIDENCE,
  ...ECHO_EVIDENCE,
} as const satisfies Record<string, EvidenceEntry>;

export type EvidenceKey = keyof typeof EVIDENCE;

const KEYS = Object.keys(EVIDENCE) as EvidenceKey[];

/**
 * Returns the entry for `measurement.evidence`; null for an unknown key, such as one from a later
 * version.
 */
export const evidenceEntry = (key: string): EvidenceEntry | null =>
  KEYS.some((known) => known === key) ? EVIDENCE[key as EvidenceKey] : null;

/** Reasons why a value must be reviewed by a person before it is used. */
const REVIEW_REASONS = [
  'no-evidence',
  'simulated-only',
  'too-few-cases',
  'no-reference',
  'error-too-large',
  'other-model',
  'outside-domain',
  'rests-on-review',
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

/** What is known about the input on which a method was used. */
export interface EvidenceInput {
  /** Null or absent if the gestational age is not known. */
  gaDays?: number | null;
  /** Values that the method measured, by concept. */
  sizes?: Readonly<Partial<Record<string, number>>>;
  /** Ids of the models in use. If absent, evidence for any model counts. */
  models?: ReadonlySet<string>;
}

const isWithin = (value: number, [low, high]: readonly [number, number]) =>
  value >= low && value <= high;

function isInDomain({ domain }: EvidenceEntry, { gaDays = null, sizes = {} }: EvidenceInput) {
  if (domain.gaDays && gaDays !== null && !isWithin(gaDays, domain.gaDays)) return false;
  return Object.entries(domain.sizes ?? {}).every(([key, range]) => {
    const value = sizes[key];
    return value === undefined || isWithin(value, range);
  });
}

/** Returns why the evidence in an entry is not enough to accept values; null if it is enough. */
function lackOf({ real, cases, error }: EvidenceEntry): ReviewReason | null {
  if (!real) return 'simulated-only';
  if (!error) return 'no-reference';
  if (cases === null || cases < LEAST_CASES) return 'too-few-cases';
  return error.value > error.limit ? 'error-too-large' : null;
}

/**
 * Returns why a value of this method needs a review on this input; null if it may be accepted. No
 * other code makes this decision.
 */
export function reviewReason(
  entry: EvidenceEntry | null,
  input: EvidenceInput = {},
  accept: AcceptedEvidence = 'real',
): ReviewReason | null {
  if (accept === 'simulated') return null;
  if (!entry) return 'no-evidence';
  const { model } = entry;
  if (model !== null && input.models && !input.models.has(model)) return 'other-model';
  return lackOf(entry) ?? (isInDomain(entry, input) ? null : 'outside-domain');
}

const BY_METHOD: ReadonlyMap<string, readonly EvidenceKey[]> = new Map(
  [...new Set(KEYS.flatMap((key) => Object.keys(EVIDENCE[key].covers)))].map((method) => [
    method,
    KEYS.filter((key) => Object.hasOwn(EVIDENCE[key].covers, method)),
  ]),
);

function coveredBy(key: EvidenceKey, method: string): 'all' | readonly ConceptKey[] | null {
  const covers: EvidenceEntry['covers'] = EVIDENCE[key].covers;
  return Object.hasOwn(covers, method) ? (covers[method as MethodKey] ?? null) : null;
}

/**
 * Returns the evidence for a measurement by its method and concept; null for a method without
 * evidence. An entry that lists the concept is preferred to an entry that covers every concept of
 * the method. If there is evidence for several models, the entry of the model in use is returned.
 */
export function evidenceFor(
  method: string,
  concept: string,
  models: ReadonlySet<string> = new Set(),
): EvidenceKey | null {
  const isListed = (key: EvidenceKey) => {
    const covered = coveredBy(key, method);
    return Array.isArray(covered) && covered.some((one) => one === concept);
  };
  const covering = BY_METHOD.get(method) ?? [];
  const listed = covering.filter(isListed);
  const found =
    listed.length > 0 ? listed : covering.filter((key) => coveredBy(key, method) === 'all');
  const inUse = found.find((key) => {
    const { model } = EVIDENCE[key];
    return model !== null && models.has(model);
  });
  return inUse ?? found[0] ?? null;
}

/**
 * Returns the half width of the 95 % interval of a value, in the unit of the concept; null if the
 * evidence has no interval for it.
 */
export function halfWidth95(key: EvidenceKey, concept: string, value: number): number | null {
  const { intervals }: EvidenceEntry = EVIDENCE[key];
  if (!intervals) return null;
  const own = Object.hasOwn(intervals, concept) ? concept : 'others';
  const half = intervals[own as ConceptKey];
  if (half === undefined) return null;
  return typeof half === 'number' ? half : (Math.abs(value) * half.percent) / 100;
}
