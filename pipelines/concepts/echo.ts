import { method } from './coding.ts';
import { LEFT_ATRIUM, LEFT_VENTRICLE, PULMONARY_VEIN } from './echo-left-heart.ts';
import {
  AORTA,
  PERICARDIUM,
  PULMONARY_ARTERY,
  RIGHT_ATRIUM,
  RIGHT_VENTRICLE,
  VENA_CAVA,
} from './echo-right-heart.ts';
import {
  AORTIC_VALVE,
  MITRAL_VALVE,
  PULMONIC_VALVE,
  TRICUSPID_VALVE,
  UNPLACED,
} from './echo-valves.ts';

/** The quantities of each structure for which TID 5202 has a section (PS3.16; echo 18.2). */
export const MEASURED_ON = {
  leftVentricle: LEFT_VENTRICLE,
  rightVentricle: RIGHT_VENTRICLE,
  leftAtrium: LEFT_ATRIUM,
  rightAtrium: RIGHT_ATRIUM,
  mitralValve: MITRAL_VALVE,
  tricuspidValve: TRICUSPID_VALVE,
  pulmonicValve: PULMONIC_VALVE,
  pulmonaryArtery: PULMONARY_ARTERY,
  aorticValve: AORTIC_VALVE,
  aorta: AORTA,
  pulmonaryVein: PULMONARY_VEIN,
  venaCava: VENA_CAVA,
  pericardium: PERICARDIUM,
} as const;

/**
 * Codes of adult echocardiography (PS3.16 CID 12300, CID 12200 to 12217; echo 18). If a code of CID
 * 12300 implies a mode or method that the concept does not, the concept has the general code
 * instead, because a value may have been measured in another way.
 */
export const ECHO_CONCEPTS = {
  ...LEFT_VENTRICLE,
  ...RIGHT_VENTRICLE,
  ...LEFT_ATRIUM,
  ...RIGHT_ATRIUM,
  ...MITRAL_VALVE,
  ...TRICUSPID_VALVE,
  ...PULMONIC_VALVE,
  ...PULMONARY_ARTERY,
  ...AORTIC_VALVE,
  ...AORTA,
  ...PULMONARY_VEIN,
  ...VENA_CAVA,
  ...PERICARDIUM,
  ...UNPLACED,
} as const;

const CHAMBERS_2015 = 'Lang et al., J Am Soc Echocardiogr 2015;28:1-39';
const CHAMBERS_2005 = 'Lang et al., J Am Soc Echocardiogr 2005;18:1440-1463';
const DOPPLER_2002 = 'Quinones et al., J Am Soc Echocardiogr 2002;15:167-184';
const RIGHT_HEART_2010 = 'Rudski et al., J Am Soc Echocardiogr 2010;23:685-713';

const ofMachine = (how: string) =>
  method(`value of the ultrasound machine ${how}, from its structured report`);

export const ECHO_METHODS = {
  'du-bois': method('by Du Bois', 'Du Bois and Du Bois 1916'),
  'cart-area-length-biplane': ofMachine('by area-length in two planes'),
  'cart-area-length': ofMachine('by area-length in one plane'),
  'cart-discs': ofMachine('by discs in one plane that is not known to be A4C or A2C'),
  'cart-cube': ofMachine('by the cube of the diameters'),
  'cart-stated': method(
    'value of the ultrasound machine by another method that its structured report names',
  ),
  'cart-mass-2d': method(
    'LV mass of the ultrasound machine by 2D areas and length, from its structured report',
  ),
  'fraction-of-volumes': method('end-diastolic minus end-systolic over end-diastolic volume'),
  'per-surface-area': method('divided by the body surface area'),
  'cube-formula': method(
    'cube formula from the linear dimensions',
    `Devereux et al., Am J Cardiol 1986; ${CHAMBERS_2015}`,
  ),
  'twice-posterior-wall': method('twice the posterior wall over the cavity', CHAMBERS_2015),
  'fraction-of-dimensions': method('shortening of the cavity', CHAMBERS_2005),
  teichholz: method(
    'Teichholz formula from the linear dimensions',
    'Teichholz et al., Am J Cardiol 1976;37:7-11',
  ),
  'area-length-shorter': method('biplane area-length with the shorter length', CHAMBERS_2015),
  'fraction-of-areas': method('end-diastolic minus end-systolic over end-diastolic area'),
  'mean-of-views': method('mean of the three apical views'),
  'ratio-of-values': method('one value over the other'),
  'early-over-annular': method("E over e'", 'Nagueh et al., J Am Soc Echocardiogr 2016;29:277-314'),
  'outflow-area-times-vti': method(
    'cross-section of the outflow tract times its VTI',
    DOPPLER_2002,
  ),
  'continuity-equation': method(
    'continuity equation',
    'Baumgartner et al., J Am Soc Echocardiogr 2017;30:372-392',
  ),
  'half-time-constant': method(
    'by pressure half-time',
    'Baumgartner et al., J Am Soc Echocardiogr 2009;22:1-23',
  ),
  'jet-gradient': method('simplified Bernoulli equation', DOPPLER_2002),
  'cava-collapse': method(
    'greatest minus least over greatest diameter of the inferior vena cava',
    RIGHT_HEART_2010,
  ),
  'cava-table': method('from diameter and collapse of the inferior vena cava', RIGHT_HEART_2010),
  'jet-plus-atrial': method('gradient of the regurgitant jet plus RA pressure', RIGHT_HEART_2010),
  'outlined-area': method('area of the automatic outline'),
  'disc-summation': method(
    'summation of 20 discs of the automatic outline in one plane, mean of the beats',
    CHAMBERS_2015,
  ),
  'biplane-discs': method(
    'biplane summation of 20 discs of the automatic outlines, mean of the beats',
    CHAMBERS_2015,
  ),
  'mean-of-networks': method(
    'mean of the outlines and of a second network, recalibrated; mean of the beats',
  ),
  'outlined-length': method('valve plane to the farthest point of the automatic outline'),
  'outlined-width': method('widest cut of the automatic outline across its long axis'),
  'annulus-motion': method(
    'excursion of the lateral tricuspid annulus towards the RV apex on 2D images, not M-mode',
  ),
  'contour-strain': method(
    'shortening of the inner outline of the wall from end-diastole to end-systole; contour strain, not speckle tracking',
  ),
  'wall-outlines': method(
    'thickening and inward motion of the outlined wall, mean of the segments that were graded',
    CHAMBERS_2015,
  ),
  'ratio-of-diameters': method('basal diameters of both ventricles on one frame'),
  'ratio-of-areas': method('end-diastolic areas of both ventricles on one A4C frame'),
  'outlined-dimension': method(
    'across the long axis of the LV through the automatic outlines of a parasternal long axis',
    CHAMBERS_2015,
  ),
  'echo-free-space': method('depth of the echo-free space outside the myocardium'),
  'spectral-trace': method('automatic trace of the spectral Doppler display, mean of the beats'),
  'm-mode-trace': method('automatic trace of the M-mode echo, mean of the beats'),
} as const;

export const ECHO_CHARTS = {
  'ase-2015-chambers': {
    name: 'ASE/EACVI chamber quantification 2015',
    citation: CHAMBERS_2015,
  },
  'ase-2005-chambers': {
    name: 'ASE/EAE chamber quantification 2005 (partition values)',
    citation: CHAMBERS_2005,
  },
} as const;

export type EchoConcept = keyof typeof ECHO_CONCEPTS;
export type EchoMethod = keyof typeof ECHO_METHODS;
