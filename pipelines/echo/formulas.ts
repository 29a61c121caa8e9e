/**
 * Formulas for body surface area in m2, from height in cm and weight in kg. Du Bois is the default
 * (echo 1).
 */
export const BODY_SURFACE_AREA = {
  dubois: (height: number, weight: number) => 0.007184 * weight ** 0.425 * height ** 0.725,
  mosteller: (height: number, weight: number) => Math.sqrt((height * weight) / 3600),
  haycock: (height: number, weight: number) => 0.024265 * weight ** 0.5378 * height ** 0.3964,
} as const;

/**
 * Plausible heights, weights and surface areas. Nothing is indexed outside these ranges (echo 0.6).
 */
const PLAUSIBLE_BODY = {
  heightCm: [120, 220],
  weightKg: [30, 250],
  surfaceM2: [1, 3.2],
} as const;

const within = (value: number, [low, high]: readonly [number, number]) =>
  value >= low && value <= high;

/**
 * Returns the body surface area by Du Bois, m2, for indexing. Null if height or weight is missing
 * or implausible (echo 0.4, 0.6).
 */
export function indexingArea(height: number | null, weight: number | null): number | null {
  if (height === null || weight === null) return null;
  if (!within(height, PLAUSIBLE_BODY.heightCm) || !within(weight, PLAUSIBLE_BODY.weightKg)) {
    return null;
  }
  const area = BODY_SURFACE_AREA.dubois(height, weight);
  return within(area, PLAUSIBLE_BODY.surfaceM2) ? area : null;
}

/**
 * Returns true if the height, cm, the weight, kg, or the body surface area, m2, is below that of any
 * plausible adult. What is unknown is null.
 */
export const isChildSized = (
  height: number | null,
  weight: number | null,
  area: number | null,
): boolean =>
  (height !== null && height < PLAUSIBLE_BODY.heightCm[0]) ||
  (weight !== null && weight < PLAUSIBLE_BODY.weightKg[0]) ||
  (area !== null && area < PLAUSIBLE_BODY.surfaceM2[0]);

/** From this body mass index, kg/m2, LV mass is also indexed to height (echo 1). */
export const OBESE_FROM = 30;

/**
 * Returns the body mass index, kg/m2; null if height or weight is missing or implausible (echo
 * 0.6).
 */
export function bodyMassIndex(height: number | null, weight: number | null): number | null {
  if (height === null || weight === null) return null;
  const { heightCm, weightKg } = PLAUSIBLE_BODY;
  if (!within(height, heightCm) || !within(weight, weightKg)) return null;
  return weight / (height / 100) ** 2;
}

// Chambers: lengths in cm, areas in cm2, volumes in ml and masses in g (echo 4.2, 5.2, 6).

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Returns the volume by disc summation in one plane: V = (pi/4) (L/n) sum(a^2). */
export function discVolume(diameters: readonly number[], length: number): number {
  return (Math.PI / 4) * (length / diameters.length) * sum(diameters.map((a) => a * a));
}

/**
 * Returns the volume by biplane disc summation (modified Simpson): V = (pi/4) (L/n) sum(a b).
 * @throws RangeError if the planes have different numbers of discs.
 */
export function biplaneDiscVolume(
  fourChamber: readonly number[],
  twoChamber: readonly number[],
  length: number,
): number {
  if (fourChamber.length !== twoChamber.length)
    throw new RangeError('the planes have different numbers of discs');
  const products = fourChamber.map((a, i) => a * (twoChamber[i] ?? 0));
  return (Math.PI / 4) * (length / fourChamber.length) * sum(products);
}

/**
 * Returns the volume of an ellipsoid from one plane by the area-length method: 8 A^2 / (3 pi L).
 */
export function areaLengthVolume(area: number, length: number): number {
  return biplaneAreaLengthVolume(area, area, length);
}

/**
 * Returns the volume of an ellipsoid from two planes: 8 A1 A2 / (3 pi L). For the left atrium, L is
 * the shorter of the two lengths.
 */
export function biplaneAreaLengthVolume(one: number, other: number, length: number): number {
  return (8 * one * other) / (3 * Math.PI * length);
}

/**
 * Returns the volume of a bullet shape: 5/6 of the short-axis area at the papillary muscles times
 * the length.
 */
export const bulletVolume = (area: number, length: number) => (5 / 6) * area * length;

/** Returns the LV volume from one diameter (Teichholz 1976). */
export const teichholzVolume = (diameter: number) => (7 / (2.4 + diameter)) * diameter ** 3;

/**
 * Returns the decrease from `from` to `to`, in per cent of `from`. Used for ejection fraction,
 * shortening and area change.
 */
export const fractionalChange = (from: number, to: number) => (100 * (from - to)) / from;

/**
 * Returns the LVEF, per cent, from the diameters at end-diastole and end-systole (Teichholz 1976).
 */
export const teichholzEjection = (diastole: number, systole: number) =>
  fractionalChange(teichholzVolume(diastole), teichholzVolume(systole));

/** Returns the LV mass by the cube formula (Devereux 1986; ASE 2015). */
export function cubeMass(septum: number, cavity: number, posterior: number): number {
  return 0.8 * 1.04 * ((septum + cavity + posterior) ** 3 - cavity ** 3) + 0.6;
}

/**
 * Returns the LV mass by the 2D area-length method (ASE 2015). `wall` is the mean wall thickness.
 */
export function areaLengthMass(
  epicardial: number,
  endocardial: number,
  length: number,
  wall: number,
): number {
  return 1.05 * ((5 / 6) * epicardial * (length + wall) - (5 / 6) * endocardial * length);
}

export const relativeWallThickness = (posterior: number, cavity: number) =>
  (2 * posterior) / cavity;

/**
 * Returns the relative wall thickness from the mean of the two walls. If the walls differ, it is
 * reported in addition to the usual value, which uses twice the posterior wall (echo 5.4).
 */
export const wallThicknessOfBoth = (septum: number, posterior: number, cavity: number) =>
  (septum + posterior) / cavity;

/**
 * Returns LV mass divided by height^2.7, g/m^2.7. Unlike indexing to BSA, this does not hide
 * hypertrophy in obese patients (echo 1, 5.2).
 */
export const massPerHeight = (mass: number, heightCm: number) => mass / (heightCm / 100) ** 2.7;

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the Lagrangian strain, per cent. It is negative if the wall shortens (ST15). */
export const lagrangianStrain = (initial: number, length: number) =>
  (100 * (length - initial)) / initial;

/**
 * Returns the overall GLS, per cent: the mean of the three apical views. Null if one of them is
 * missing (echo 8.1).
 */
export function globalStrain(views: readonly (number | null)[]): number | null {
  const given = views.filter((view) => view !== null);
  return given.length === 3 ? mean(given) : null;
}

/**
 * Returns by how much the magnitude of strain is lower than at baseline, in per cent of the
 * baseline (CO22).
 */
export const relativeReduction = (baseline: number, current: number) =>
  (100 * (Math.abs(baseline) - Math.abs(current))) / Math.abs(baseline);

/**
 * Returns the relative apical strain, calculated from magnitudes: apical / (basal + mid) (PHE12).
 */
export function relativeApicalStrain(
  apical: readonly number[],
  mid: readonly number[],
  basal: readonly number[],
): number {
  return Math.abs(mean(apical)) / (Math.abs(mean(basal)) + Math.abs(mean(mid)));
}

/** Returns the wall motion score index: the mean score of the segments that were seen. */
export const scoreIndex = (scores: readonly number[]) => mean(scores);

// Doppler: velocities in m/s and times in s unless stated otherwise (echo 11, 17).

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

// Right heart: pressures in mmHg, velocities in m/s and times in ms (echo 7, 12).

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
