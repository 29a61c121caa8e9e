/** Velocities in m/s, times in s, unless the name says otherwise (reference 11, 17). */

/** Modified Bernoulli equation, mmHg (Hatle 1978). */
export const pressureGradient = (velocity: number) => 4 * velocity ** 2;

/** With the proximal velocity, which counts above 1.5 m/s (reference 17). */
export const correctedGradient = (distal: number, proximal: number) =>
  4 * (distal ** 2 - proximal ** 2);

/** Integral by trapezoids of samples `step` apart. */
export function integral(samples: readonly number[], step: number): number {
  return samples
    .slice(1)
    .reduce((total, value, i) => total + ((value + (samples[i] ?? 0)) / 2) * step, 0);
}

/** Velocity time integral, cm. */
export const velocityTimeIntegral = (velocities: readonly number[], step: number) =>
  100 * integral(velocities, step);

/** Mean of 4 v^2 over the flow time, mmHg: never 4 times the square of the mean. */
export function meanGradient(velocities: readonly number[], step: number): number {
  const gradients = velocities.map(pressureGradient);
  return integral(gradients, step) / ((velocities.length - 1) * step);
}

/** Share of a linear deceleration after which the gradient has halved: 1 - 1/sqrt2. */
const HALVING = 1 - Math.SQRT1_2;

/** ms of ms. */
export const halfTimeOfDeceleration = (decelerationTime: number) => HALVING * decelerationTime;

/** ms; slope in m/s2. */
export const halfTimeOfSlope = (peak: number, slope: number) => (1000 * peak * HALVING) / slope;

export const velocityAtHalfTime = (peak: number) => peak * Math.SQRT1_2;

/** cm2 of cm. */
export const circleArea = (diameter: number) => Math.PI * (diameter / 2) ** 2;

/** ml; diameter and VTI in cm (Quinones 2002). */
export const strokeVolume = (diameter: number, vti: number) => circleArea(diameter) * vti;

/** l/min. */
export const cardiacOutput = (stroke: number, heartRate: number) => (stroke * heartRate) / 1000;

/** mmHg/s from the ms between two velocities: 1 and 3 m/s of MR, 1 and 2 m/s of TR. */
export function pressureRise(from: number, to: number, milliseconds: number): number {
  return (1000 * (pressureGradient(to) - pressureGradient(from))) / milliseconds;
}
