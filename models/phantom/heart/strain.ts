import type { Heart, HeartMoment } from './heart.ts';
import { END_DIASTOLE, END_SYSTOLE } from './motion.ts';
import { APICAL_RIGHT } from './planes.ts';
import { across, dot } from './space.ts';

const STEPS = 200;

/** Length of the endocardium from one end of the base over the apex to the other, in a plane. */
function contourMm({ ventricle }: HeartMoment, angle: number): number {
  const { apexZ, baseZ } = ventricle;
  const side = across(angle);
  const at = (share: number) => {
    // From the base at `angle` (0) over the apex (0.5) to the base opposite (1).
    const along = Math.abs(1 - 2 * share);
    const out = share < 0.5 ? 1 : -1;
    const radius = ventricle.radius(share < 0.5 ? angle : angle + 180, along);
    const bow = dot({ ...ventricle.middleAt(along), z: 0 }, side);
    return { out: bow + out * radius, z: apexZ - along * (apexZ - baseZ) };
  };
  let length = 0;
  let before = at(0);
  for (let i = 1; i <= STEPS; i++) {
    const next = at(i / STEPS);
    length += Math.hypot(next.out - before.out, next.z - before.z);
    before = next;
  }
  return length;
}

/**
 * Global longitudinal strain in per cent, negative: change of the endocardial contour from end
 * diastole to end systole, mean of the three apical planes (EACVI/ASE 2015).
 */
export function globalLongitudinalStrain(heart: Heart): number {
  const diastole = heart.at(END_DIASTOLE);
  const systole = heart.at(END_SYSTOLE);
  const planes = [APICAL_RIGHT.A4C, APICAL_RIGHT.A2C, APICAL_RIGHT.A3C];
  const strains = planes.map((angle) => {
    const rest = contourMm(diastole, angle);
    return (100 * (contourMm(systole, angle) - rest)) / rest;
  });
  return strains.reduce((total, strain) => total + strain, 0) / strains.length;
}
