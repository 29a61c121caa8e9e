/**
 * The formulas in this file use velocities in m/s and times in s unless stated otherwise (echo 11,
 * 17).
 */

/** Returns the pressure gradient, mmHg, by the modified Bernoulli equation (Hatle 1978). */
export const pressureGradient = (velocity: number) => 4 * velocity ** 2;

/**
 * Returns the pressure gradient, mmHg, corrected for the proximal velocity. The correction matters
 * if the proximal velocity is above 1.5 m/s (echo 17).
 */
export const correctedGradient = (distal: number, proximal: number) =>
  4 * (distal ** 2 - proximal ** 2);

/** Integrates samples that are `step` apart with the trapezoidal rule. */
function integral(samples: readonly number[], step: number): number {
  return samples
    .slice(1)
    .reduce((total, value, i) => total + ((value + (samples[i] ?? 0)) / 2) * step, 0);
}

/** Returns the velocity time integral, cm. */
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

/** Share of a linear deceleration after which the gradient has halved: 1 - 1/sqrt2. */
const HALVING = 1 - Math.SQRT1_2;

/** Returns the pressure half-time, ms, from the deceleration time, ms. */
export const halfTimeOfDeceleration = (decelerationTime: number) => HALVING * decelerationTime;

/** Returns the pressure half-time, ms, from the peak velocity, m/s, and the slope, m/s2. */
export const halfTimeOfSlope = (peak: number, slope: number) => (1000 * peak * HALVING) / slope;

export const velocityAtHalfTime = (peak: number) => peak * Math.SQRT1_2;

/** Returns the area of a circle, cm2, from its diameter, cm. */
export const circleArea = (diameter: number) => Math.PI * (diameter / 2) ** 2;

/** Returns the stroke volume, ml, from the diameter and the VTI, both in cm (Quinones 2002). */
export const strokeVolume = (diameter: number, vti: number) => circleArea(diameter) * vti;

/**
 * Returns the cardiac output, l/min, from the stroke volume, ml, and the heart rate, beats per
 * minute.
 */
export const cardiacOutput = (stroke: number, heartRate: number) => (stroke * heartRate) / 1000;

/**
 * Returns the rate of pressure rise, mmHg/s, from the time, ms, between two velocities: 1 and 3 m/s
 * for MR, 1 and 2 m/s for TR.
 */
export function pressureRise(from: number, to: number, milliseconds: number): number {
  return (1000 * (pressureGradient(to) - pressureGradient(from))) / milliseconds;
}

/**
 * Returns the valve area by the continuity equation, cm2, from the VTIs (cm) or the peak velocities
 * (m/s) at both sites (AS17).
 */
export const continuityArea = (diameter: number, proximal: number, distal: number) =>
  (circleArea(diameter) * proximal) / distal;

/**
 * Returns the valvulo-arterial impedance, mmHg/ml/m2, from the systolic blood pressure and the mean
 * gradient, mmHg, and the stroke volume index, ml/m2.
 */
export const valvuloArterialImpedance = (systolic: number, gradient: number, svi: number) =>
  (systolic + gradient) / svi;

/** Returns the transvalvular flow, ml/s, from the stroke volume, ml, and the ejection time, ms. */
export const flowRate = (stroke: number, ejectionTime: number) => (1000 * stroke) / ejectionTime;

/**
 * Returns the flow through the proximal isovelocity surface, ml/s, from its radius, cm, and the
 * aliasing velocity, cm/s.
 */
export const pisaFlow = (radius: number, alias: number) => 2 * Math.PI * radius ** 2 * alias;

/**
 * Returns the effective regurgitant orifice area, cm2, from the PISA radius, cm, the aliasing
 * velocity and the peak velocity of the jet, both in cm/s.
 */
export const pisaOrifice = (radius: number, alias: number, peak: number) =>
  pisaFlow(radius, alias) / peak;

/**
 * Returns the simplified mitral EROA, cm2, from the PISA radius, cm. It is valid only for an
 * aliasing velocity of 40 cm/s and a jet of 5 m/s.
 */
export const simplifiedMitralOrifice = (radius: number) => radius ** 2 / 2;

export const regurgitantVolume = (orifice: number, vti: number) => orifice * vti;

export const regurgitantFraction = (volume: number, total: number) => (100 * volume) / total;

interface FlowSite {
  /** cm */
  diameter: number;
  /** cm */
  vti: number;
}

/**
 * Returns the mitral regurgitant volume, ml: the mitral stroke volume minus the outflow stroke
 * volume. It is valid only without AR.
 */
export const volumetricRegurgitation = (mitral: FlowSite, outflow: FlowSite) =>
  strokeVolume(mitral.diameter, mitral.vti) - strokeVolume(outflow.diameter, outflow.vti);

/** Returns the mitral valve area, cm2, from the pressure half-time, ms. */
export const mitralAreaByHalfTime = (halfTime: number) => 220 / halfTime;
export const mitralAreaByDeceleration = (decelerationTime: number) => 759 / decelerationTime;
/**
 * Returns the tricuspid valve area, cm2, from the pressure half-time, ms. This formula is less well
 * validated than the mitral one (VS09).
 */
export const tricuspidAreaByHalfTime = (halfTime: number) => 190 / halfTime;

/** The formulas below use pressures in mmHg, velocities in m/s and times in ms (echo 7, 12). */

/**
 * Returns the myocardial performance index (Tei index) from the tricuspid closure-to-opening time
 * (TCO) and the ejection time (ET): (TCO - ET) / ET.
 */
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

/**
 * Returns the mean pulmonary artery pressure, mmHg, from the systolic pressure, mmHg (Chemla 2004).
 */
export const meanPulmonaryBySystolic = (systolic: number) => 0.61 * systolic + 2;

/** Returns the mean pulmonary artery pressure, mmHg, from the RVOT acceleration time, ms. */
export const meanPulmonaryByAcceleration = (time: number) => 79 - 0.45 * time;

/** Returns the mean pulmonary artery pressure, mmHg, for an RVOT acceleration time below 120 ms. */
export const meanPulmonaryByShortAcceleration = (time: number) => 90 - 0.62 * time;

/** Returns the pulmonary vascular resistance, Wood units. The VTI is in cm (Abbas 2003). */
export const vascularResistance = (jet: number, outflowVti: number) =>
  (10 * jet) / outflowVti + 0.16;
