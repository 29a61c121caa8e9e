import { LEFT_HEART, MYOCARDIAL_FUNCTION } from './echo-left-heart.ts';
import { OUTLINES, RIGHT_HEART } from './echo-right-heart.ts';
import { DOPPLER, VALVES } from './echo-valves.ts';

/**
 * Codes of adult echocardiography (PS3.16 CID 12300, CID 12200 to 12217; echo 18). If a code of CID
 * 12300 implies a mode or method, the concept has the general code instead, because a value may
 * have been measured in another way.
 */
export const ECHO_CONCEPTS = {
  ...LEFT_HEART,
  ...RIGHT_HEART,
  ...MYOCARDIAL_FUNCTION,
  ...VALVES,
  ...DOPPLER,
  ...OUTLINES,
} as const;

const definition = (text: string, citation: string | null = null) =>
  ({ text, citation, equation: null }) as const;

export const ECHO_METHODS = {
  'du-bois': definition('by Du Bois', 'Du Bois and Du Bois 1916'),
  'cart-area-length-biplane': definition(
    'value of the ultrasound machine by area-length in two planes, from its structured report',
  ),
  'cart-area-length': definition(
    'value of the ultrasound machine by area-length in one plane, from its structured report',
  ),
  'cart-discs': definition(
    'value of the ultrasound machine by discs in one plane that is not known to be A4C or A2C, from its structured report',
  ),
  'cart-cube': definition(
    'value of the ultrasound machine by the cube of the diameters, from its structured report',
  ),
  'cart-stated': definition(
    'value of the ultrasound machine by another method that its structured report names',
  ),
  'cart-mass-2d': definition(
    'LV mass of the ultrasound machine by 2D areas and length, from its structured report',
  ),
  'fraction-of-volumes': definition('end-diastolic minus end-systolic over end-diastolic volume'),
  'per-surface-area': definition('divided by the body surface area'),
  'cube-formula': definition(
    'cube formula from the linear dimensions',
    'Devereux et al., Am J Cardiol 1986; Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ),
  'twice-posterior-wall': definition(
    'twice the posterior wall over the cavity',
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ),
  'fraction-of-dimensions': definition(
    'shortening of the cavity',
    'Lang et al., J Am Soc Echocardiogr 2005;18:1440-1463',
  ),
  teichholz: definition(
    'Teichholz formula from the linear dimensions',
    'Teichholz et al., Am J Cardiol 1976;37:7-11',
  ),
  'area-length-shorter': definition(
    'biplane area-length with the shorter length',
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ),
  'fraction-of-areas': definition('end-diastolic minus end-systolic over end-diastolic area'),
  'mean-of-views': definition('mean of the three apical views'),
  'ratio-of-values': definition('one value over the other'),
  'early-over-annular': definition(
    "E over e'",
    'Nagueh et al., J Am Soc Echocardiogr 2016;29:277-314',
  ),
  'outflow-area-times-vti': definition(
    'cross-section of the outflow tract times its VTI',
    'Quinones et al., J Am Soc Echocardiogr 2002;15:167-184',
  ),
  'continuity-equation': definition(
    'continuity equation',
    'Baumgartner et al., J Am Soc Echocardiogr 2017;30:372-392',
  ),
  'half-time-constant': definition(
    'by pressure half-time',
    'Baumgartner et al., J Am Soc Echocardiogr 2009;22:1-23',
  ),
  'jet-gradient': definition(
    'simplified Bernoulli equation',
    'Quinones et al., J Am Soc Echocardiogr 2002;15:167-184',
  ),
  'cava-collapse': definition(
    'greatest minus least over greatest diameter of the inferior vena cava',
    'Rudski et al., J Am Soc Echocardiogr 2010;23:685-713',
  ),
  'cava-table': definition(
    'from diameter and collapse of the inferior vena cava',
    'Rudski et al., J Am Soc Echocardiogr 2010;23:685-713',
  ),
  'jet-plus-atrial': definition(
    'gradient of the regurgitant jet plus RA pressure',
    'Rudski et al., J Am Soc Echocardiogr 2010;23:685-713',
  ),
  'outlined-area': definition('area of the automatic outline'),
  'disc-summation': definition(
    'summation of 20 discs of the automatic outline in one plane, mean of the beats',
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ),
  'biplane-discs': definition(
    'biplane summation of 20 discs of the automatic outlines, mean of the beats',
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ),
  'mean-of-networks': definition(
    'mean of the outlines and of a second network, recalibrated; mean of the beats',
  ),
  'outlined-length': definition('valve plane to the farthest point of the automatic outline'),
  'outlined-width': definition('widest cut of the automatic outline across its long axis'),
  'annulus-motion': definition(
    'excursion of the lateral tricuspid annulus towards the RV apex on 2D images, not M-mode',
  ),
  'contour-strain': definition(
    'shortening of the inner outline of the wall from end-diastole to end-systole; contour strain, not speckle tracking',
  ),
  'wall-outlines': definition(
    'thickening and inward motion of the outlined wall, mean of the segments that were graded',
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ),
  'ratio-of-diameters': definition('basal diameters of both ventricles on one frame'),
  'ratio-of-areas': definition('end-diastolic areas of both ventricles on one A4C frame'),
  'outlined-dimension': definition(
    'across the long axis of the LV through the automatic outlines of a parasternal long axis',
    'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  ),
  'echo-free-space': definition('depth of the echo-free space outside the myocardium'),
  'spectral-trace': definition(
    'automatic trace of the spectral Doppler display, mean of the beats',
  ),
  'm-mode-trace': definition('automatic trace of the M-mode echo, mean of the beats'),
} as const;

export const ECHO_CHARTS = {
  'ase-2015-chambers': {
    name: 'ASE/EACVI chamber quantification 2015',
    citation: 'Lang et al., J Am Soc Echocardiogr 2015;28:1-39',
  },
  'ase-2005-chambers': {
    name: 'ASE/EAE chamber quantification 2005 (partition values)',
    citation: 'Lang et al., J Am Soc Echocardiogr 2005;18:1440-1463',
  },
} as const;

export type EchoConcept = keyof typeof ECHO_CONCEPTS;
export type EchoMethod = keyof typeof ECHO_METHODS;
