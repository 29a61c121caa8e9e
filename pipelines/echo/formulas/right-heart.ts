import { pressureGradient } from './doppler.ts';

/** Pressures in mmHg, velocities in m/s, times in ms (reference 7, 12). */

/** (TCO - ET) / ET, the Tei index. */
export const performanceIndex = (closureToOpening: number, ejection: number) =>
  (closureToOpening - ejection) / ejection;

export const eccentricityIndex = (parallel: number, perpendicular: number) =>
  parallel / perpendicular;

/** Pressure behind a regurgitant jet: RVSP by TR, mean PAP by early PR, diastolic PAP by late PR. */
export const pressureBehindJet = (velocity: number, atrial: number) =>
  pressureGradient(velocity) + atrial;

/** Chemla 2004. */
export const meanPulmonaryBySystolic = (systolic: number) => 0.61 * systolic + 2;

/** Of the RVOT acceleration time. */
export const meanPulmonaryByAcceleration = (time: number) => 79 - 0.45 * time;

/** The same for a time below 120 ms. */
export const meanPulmonaryByShortAcceleration = (time: number) => 90 - 0.62 * time;

/** Pulmonary vascular resistance, Wood units (Abbas 2003); VTI in cm. */
export const vascularResistance = (jet: number, outflowVti: number) =>
  (10 * jet) / outflowVti + 0.16;
