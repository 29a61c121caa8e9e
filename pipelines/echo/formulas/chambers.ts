/**
 * The formulas in this file use lengths in cm, areas in cm2, volumes in ml and masses in g (echo
 * 4.2, 5.2, 6).
 */

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
