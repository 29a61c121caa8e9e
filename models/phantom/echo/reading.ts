import { areaOf, atriumCut, borderOf, singlePlaneMl, ventricleCut } from '../heart/contour.ts';
import { type Heart, type HeartMoment, STRUCTURE } from '../heart/heart.ts';
import { across, type ImagePlane, type Place, sum, toImage } from '../heart/space.ts';
import type { FrameReading } from './cine.ts';

const Z: Place = { x: 0, y: 0, z: 1 };

/**
 * Distance from the mitral plane to the tips of the leaflets, where the PLAX diameters are
 * measured, as a share of the long axis.
 */
const TIPS_SHARE = 0.28;

const CHAMBER_AREAS = [
  ['rightVentricleCm2', STRUCTURE.rightVentricle],
  ['rightAtriumCm2', STRUCTURE.rightAtrium],
] as const;

/** Returns a point inside a right chamber from which its border can be traced. */
function rightMiddle({ chambers }: HeartMoment, structure: number): Place {
  const { centre } = chambers.tricuspid;
  return sum([1, centre], [structure === STRUCTURE.rightVentricle ? 8 : -14, Z]);
}

/**
 * Returns the values for the whole beat, which are the same in every frame: volumes in three
 * dimensions, and annular motion.
 */
export function beatValues(heart: Heart): Record<string, number> {
  const { endDiastolicMl, endSystolicMl, sizes } = heart;
  return {
    endDiastolicMl,
    endSystolicMl,
    ejectionFractionPercent: 100 * (1 - endSystolicMl / endDiastolicMl),
    tapseMm: sizes.rightVentricle.tapseMm,
  };
}

/**
 * Reads an apical view: its outlines, long axis and single-plane volume. In the four-chamber view,
 * the right chambers are read too.
 */
export function readApical(heart: Heart, moment: HeartMoment, plane: ImagePlane): FrameReading {
  const values: Record<string, number> = {
    ...beatValues(heart),
    leftVentricleMl: moment.ventricle.volumeMl,
    leftAtriumMl: moment.chambers.leftAtriumMl,
  };
  const points: Record<string, FrameReading['points'][string]> = {};
  const cut = ventricleCut(moment, plane);
  if (cut) {
    values.planeVolumeMl = singlePlaneMl(cut);
    values.lengthMm = cut.lengthMm;
    Object.assign(points, { outline: cut.outline, apex: [cut.apex], base: cut.base });
  }
  const atrium = atriumCut(moment, plane);
  if (atrium) {
    values.leftAtriumPlaneMl = singlePlaneMl(atrium);
    values.leftAtriumLengthMm = atrium.lengthMm;
    points.leftAtriumOutline = atrium.outline;
  }
  for (const [name, structure] of CHAMBER_AREAS) {
    const border = borderOf(
      moment,
      plane,
      [structure],
      toImage(plane, rightMiddle(moment, structure)),
    );
    if (border.length > 0) values[name] = areaOf(border) / 100;
  }
  return { values, points };
}

/**
 * Reads the left ventricle across its axis at the tips of the mitral leaflets, in the plane at 150
 * and 330 degrees of the bull's-eye.
 */
export function readLongAxis(moment: HeartMoment, heart: Heart, plane: ImagePlane): FrameReading {
  const { ventricle, chambers } = moment;
  const along = 1 - TIPS_SHARE;
  const z = ventricle.apexZ - along * (ventricle.apexZ - ventricle.baseZ);
  const bow = ventricle.middleAt(along);
  const at = (angle: number, out: number) =>
    toImage(plane, { x: bow.x + out * across(angle).x, y: bow.y + out * across(angle).y, z });
  const front = ventricle.radius(150, along);
  const back = ventricle.radius(330, along);
  const septum = ventricle.wall(150, along);
  const posterior = ventricle.wall(330, along);
  const { annulus, direction, radius } = chambers.aorta;
  const rootMiddle = sum([1, annulus], [11, direction]);
  return {
    values: {
      ...beatValues(heart),
      lvidMm: front + back,
      ivsMm: septum,
      lvpwMm: posterior,
      sinusMm: 2 * radius(11),
      annulusMm: heart.sizes.aorta.annulusMm,
      effusionMm: heart.sizes.effusionMm,
    },
    points: {
      septum: [at(150, front + septum), at(150, front)],
      cavity: [at(150, front), at(330, back)],
      posteriorWall: [at(330, back), at(330, back + posterior)],
      sinus: [toImage(plane, rootMiddle)],
    },
  };
}

/** Reads a short axis at height `z` of the heart: outline and area of the cavity. */
export function readShortAxis(
  moment: HeartMoment,
  heart: Heart,
  plane: ImagePlane,
  z: number,
): FrameReading {
  const inside = toImage(plane, { x: 0, y: 0, z });
  const border = borderOf(moment, plane, [STRUCTURE.leftVentricle], inside);
  const seen = border.length > 0;
  return {
    values: { ...beatValues(heart), ...(seen ? { areaCm2: areaOf(border) / 100 } : {}) },
    points: seen ? { outline: border } : {},
  };
}
