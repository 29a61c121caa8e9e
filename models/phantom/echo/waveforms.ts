import type { Beat } from '../heart/motion.ts';

/**
 * Velocity over one beat in cm/s, positive towards the probe, and the values that a perfect reader
 * would measure.
 */
export interface EchoWaveform {
  /** Returns the velocity at a time in seconds after the R wave, within the beat. */
  velocity(seconds: number): number;
  values: Readonly<Record<string, number>>;
}

/**
 * Returns the time integral, in cm, of the positive or the negative velocities over part of the
 * beat.
 */
function integral(velocity: (s: number) => number, from: number, to: number, sign: 1 | -1): number {
  const steps = 1500;
  let total = 0;
  for (let i = 0; i < steps; i++) {
    total += Math.max(0, sign * velocity(from + ((i + 0.5) * (to - from)) / steps));
  }
  return (total * (to - from)) / steps;
}

/**
 * Returns the mean pressure gradient in mmHg: the mean of 4 v^2 (simplified Bernoulli) over the
 * duration of flow.
 */
function meanGradient(velocity: (s: number) => number, from: number, to: number): number {
  const steps = 1500;
  let total = 0;
  for (let i = 0; i < steps; i++) {
    total += 4 * (velocity(from + ((i + 0.5) * (to - from)) / steps) / 100) ** 2;
  }
  return total / steps;
}

/**
 * Returns the velocity at time `t` of a flow that rises smoothly to `peak` and falls smoothly. `at`
 * is the time of the peak, as a share of the flow's duration.
 */
function ejection(t: number, from: number, to: number, peak: number, at: number): number {
  const p = (t - from) / (to - from);
  if (p <= 0 || p >= 1) return 0;
  const side = p < at ? p / at : (1 - p) / (1 - at);
  return peak * Math.sin((Math.PI / 2) * side) ** 1.2;
}

/**
 * Returns the velocity at time `t` of a flow that rises and falls linearly, with the value 1 at
 * `peakAt`.
 */
function triangle(t: number, start: number, peakAt: number, end: number): number {
  if (t <= start || t >= end) return 0;
  return t < peakAt ? (t - start) / (peakAt - start) : (end - t) / (end - peakAt);
}

/** Creates the mitral inflow at the leaflet tips: E with its deceleration time, and A. */
export function mitralInflow(
  beat: Beat,
  request: { e: number; a: number; decelerationMs: number },
): EchoWaveform {
  const { e, a, decelerationMs } = request;
  const peakAt = beat.fillingS + 0.08;
  const late = beat.atrialS + 0.06;
  const velocity = (t: number) =>
    Math.max(
      e * triangle(t, beat.fillingS, peakAt, peakAt + decelerationMs / 1000),
      a * triangle(t, beat.atrialS, late, beat.lengthS - 0.01),
    );
  return {
    velocity,
    values: { eCmPerSecond: e, aCmPerSecond: a, eToA: e / a, decelerationMs },
  };
}

/** Creates the systolic flow in an outflow tract or a semilunar valve, away from the probe. */
export function outflow(
  beat: Beat,
  request: { peak: number; accelerationMs?: number },
): EchoWaveform {
  const { peak } = request;
  const from = beat.ejectionS;
  const to = beat.systoleS;
  const at =
    request.accelerationMs === undefined ? 0.38 : request.accelerationMs / 1000 / (to - from);
  const velocity = (t: number) => -ejection(t, from, to, peak, at);
  return {
    velocity,
    values: {
      peakCmPerSecond: peak,
      vtiCm: integral(velocity, from, to, -1),
      meanGradientMmHg: meanGradient(velocity, from, to),
      peakGradientMmHg: 4 * (peak / 100) ** 2,
      accelerationMs: 1000 * at * (to - from),
    },
  };
}

/**
 * Creates the jet of a leaking atrioventricular valve, away from the probe, from closure to opening
 * of the valve.
 */
export function systolicLeak(beat: Beat, { peak }: { peak: number }): EchoWaveform {
  const velocity = (t: number) => {
    const p = t / beat.fillingS;
    return p <= 0 || p >= 1 ? 0 : -peak * Math.sin(Math.PI * p) ** 0.45;
  };
  return {
    velocity,
    values: {
      peakCmPerSecond: peak,
      peakGradientMmHg: 4 * (peak / 100) ** 2,
      vtiCm: integral(velocity, 0, beat.fillingS, -1),
    },
  };
}

/**
 * Pressure half-time as a share of the deceleration time (0.29) if the velocity falls linearly. The
 * gradient has halved when the velocity is 1/√2 of the peak.
 */
const PRESSURE_HALF_SHARE = 1 - Math.SQRT1_2;

/** Creates a diastolic flow that falls linearly: aortic regurgitation or mitral stenosis. */
export function diastolicSlope(
  beat: Beat,
  { peak, pressureHalfTimeMs }: { peak: number; pressureHalfTimeMs: number },
): EchoWaveform {
  const from = beat.systoleS;
  const fallS = pressureHalfTimeMs / 1000 / PRESSURE_HALF_SHARE;
  const velocity = (t: number) => {
    const since = t - from - 0.03;
    if (t < from || t > beat.lengthS - 0.005) return 0;
    return since < 0 ? (peak * (t - from)) / 0.03 : Math.max(0, peak * (1 - since / fallS));
  };
  return {
    velocity,
    values: {
      peakCmPerSecond: peak,
      pressureHalfTimeMs,
      meanGradientMmHg: meanGradient(velocity, from, beat.lengthS),
      slopeCmPerSecond2: peak / fallS,
    },
  };
}

/**
 * Creates the motion of an annulus. S is systolic, towards the apex and therefore towards the
 * probe; e and a point away from it.
 */
export function annulusMotion(
  beat: Beat,
  { s, e, a }: { s: number; e: number; a: number },
): EchoWaveform {
  const bell = (t: number, from: number, to: number) => {
    const p = (t - from) / (to - from);
    return p <= 0 || p >= 1 ? 0 : Math.sin(Math.PI * p) ** 1.3;
  };
  const velocity = (t: number) =>
    s * bell(t, beat.ejectionS, beat.systoleS) -
    e * bell(t, beat.fillingS, beat.fillingS + 0.14) -
    a * bell(t, beat.atrialS, beat.lengthS - 0.01);
  return {
    velocity,
    values: { sCmPerSecond: s, ePrimeCmPerSecond: e, aPrimeCmPerSecond: a },
  };
}

/** Creates the flow of a pulmonary vein: S, D and the reversal during atrial contraction. */
export function pulmonaryVein(
  beat: Beat,
  { s, d, reversal }: { s: number; d: number; reversal: number },
): EchoWaveform {
  const velocity = (t: number) =>
    ejection(t, 0.06, beat.fillingS, s, 0.5) +
    ejection(t, beat.fillingS, beat.fillingS + 0.3, d, 0.35) -
    ejection(t, beat.atrialS, beat.lengthS, reversal, 0.5);
  return {
    velocity,
    values: { sCmPerSecond: s, dCmPerSecond: d, reversalCmPerSecond: reversal, sToD: s / d },
  };
}
