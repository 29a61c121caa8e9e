/**
 * Formulas of this file use velocities in m/s and times in s, unless the name says otherwise (echo
 * 11, 17).
 */

/** Modified Bernoulli equation, mmHg (Hatle 1978). */
export const pressureGradient = (velocity: number) => 4 * velocity ** 2;

/**
 * Returns the pressure gradient, mmHg, corrected for the proximal velocity. The correction is
 * relevant if the proximal velocity is above 1.5 m/s (echo 17).
 */
export const correctedGradient = (distal: number, proximal: number) =>
  4 * (distal ** 2 - proximal ** 2);

/** Integrates samples at a distance of `step` by trapezoids. */
export function integral(samples: readonly number[], step: number): number {
  return samples
    .slice(1)
    .reduce((total, value, i) => total + ((value + (samples[i] ?? 0)) / 2) * step, 0);
}

/** Velocity time integral, cm. */
export const velocityTimeIntegral = (velocities: readonly number[], step: number) =>
  100 * integral(velocities, step);

/**
 * Returns the mean of 4 v^2 over the flow time, mmHg. It is not 4 times the square of the mean
 * velocity.
 */
export function meanGradient(velocities: readonly number[], step: number): number {
  const gradients = velocities.map(pressureGradient);
  return integral(gradients, step) / ((velocities.length - 1) * step);
}

/** Share of a linear deceleration after which the gradient is halved: 1 - 1/sqrt2. */
const HALVING = 1 - Math.SQRT1_2;

/** Pressure half-time, ms, from the deceleration time, ms. */
export const halfTimeOfDeceleration = (decelerationTime: number) => HALVING * decelerationTime;

/** Pressure half-time, ms, from the peak velocity, m/s, and the slope, m/s2. */
export const halfTimeOfSlope = (peak: number, slope: number) => (1000 * peak * HALVING) / slope;

export const velocityAtHalfTime = (peak: number) => peak * Math.SQRT1_2;

/** Area of a circle, cm2, from its diameter, cm. */
export const circleArea = (diameter: number) => Math.PI * (diameter / 2) ** 2;

/** Stroke volume, ml; diameter and VTI in cm (Quinones 2002). */
export const strokeVolume = (diameter: number, vti: number) => circleArea(diameter) * vti;

/** Cardiac output, l/min, from the stroke volume, ml, and the heart rate, beats per minute. */
export const cardiacOutput = (stroke: number, heartRate: number) => (stroke * heartRate) / 1000;

/**
 * Returns the rate of pressure rise, mmHg/s. The time between the two velocities is in ms; the
 * velocities are 1 and 3 m/s for MR, 1 and 2 m/s for TR.
 */
export function pressureRise(from: number, to: number, milliseconds: number): number {
  return (1000 * (pressureGradient(to) - pressureGradient(from))) / milliseconds;
}

/**
 * Returns the valve area by the continuity equation, cm2, from the VTI (cm) or the peak velocity
 * (m/s) of both sites (AS17).
 */
export const continuityArea = (diameter: number, proximal: number, distal: number) =>
  (circleArea(diameter) * proximal) / distal;

/** Valvulo-arterial impedance, mmHg/ml/m2. */
export const valvuloArterialImpedance = (systolic: number, gradient: number, svi: number) =>
  (systolic + gradient) / svi;

/** Transvalvular flow, ml/s; ejection time in ms. */
export const flowRate = (stroke: number, ejectionTime: number) => (1000 * stroke) / ejectionTime;

/** Flow through the proximal isovelocity surface, ml/s; radius in cm, aliasing velocity in cm/s. */
export const pisaFlow = (radius: number, alias: number) => 2 * Math.PI * radius ** 2 * alias;

/** Effective regurgitant orifice area, cm2; peak velocity in cm/s. */
export const pisaOrifice = (radius: number, alias: number, peak: number) =>
  pisaFlow(radius, alias) / peak;

/**
 * Simplified mitral EROA, cm2; valid only for an aliasing velocity of 40 cm/s and a jet of 5 m/s.
 */
export const simplifiedMitralOrifice = (radius: number) => radius ** 2 / 2;

export const regurgitantVolume = (orifice: number, vti: number) => orifice * vti;

export const regurgitantFraction = (volume: number, total: number) => (100 * volume) / total;

interface FlowSite {
  /** In cm. */
  diameter: number;
  /** In cm. */
  vti: number;
}

/**
 * Returns the mitral regurgitant volume, ml: mitral stroke volume minus outflow stroke volume. It
 * is valid only without AR.
 */
export const volumetricRegurgitation = (mitral: FlowSite, outflow: FlowSite) =>
  strokeVolume(mitral.diameter, mitral.vti) - strokeVolume(outflow.diameter, outflow.vti);

/** Mitral valve area, cm2, from the pressure half-time, ms. */
export const mitralAreaByHalfTime = (halfTime: number) => 220 / halfTime;
export const mitralAreaByDeceleration = (decelerationTime: number) => 759 / decelerationTime;
/**
 * Returns the tricuspid valve area, cm2, from the pressure half-time, ms. The formula is less
 * validated than that of the mitral valve (VS09).
 */
export const tricuspidAreaByHalfTime = (halfTime: number) => 190 / halfTime;

/** The formulas below use pressures in mmHg, velocities in m/s and times in ms (echo 7, 12). */

/** Myocardial performance index (Tei index): (TCO - ET) / ET. */
export const performanceIndex = (closureToOpening: number, ejection: number) =>
  (closureToOpening - ejection) / ejection;

export const eccentricityIndex = (parallel: number, perpendicular: number) =>
  parallel / perpendicular;

/**
 * Returns the pressure, mmHg, in the chamber from which a jet originates: RVSP from TR, mean PAP
 * from early PR, diastolic PAP from late PR.
 */
export const pressureBehindJet = (velocity: number, atrial: number) =>
  pressureGradient(velocity) + atrial;

/** Mean pulmonary artery pressure, mmHg, from the systolic pressure, mmHg (Chemla 2004). */
export const meanPulmonaryBySystolic = (systolic: number) => 0.61 * systolic + 2;

/** Mean pulmonary artery pressure, mmHg, from the RVOT acceleration time, ms. */
export const meanPulmonaryByAcceleration = (time: number) => 79 - 0.45 * time;

/** Mean pulmonary artery pressure, mmHg, for an RVOT acceleration time below 120 ms. */
export const meanPulmonaryByShortAcceleration = (time: number) => 90 - 0.62 * time;

/** Pulmonary vascular resistance, Wood units (Abbas 2003); VTI in cm. */
export const vascularResistance = (jet: number, outflowVti: number) =>
  (10 * jet) / outflowVti + 0.16;
