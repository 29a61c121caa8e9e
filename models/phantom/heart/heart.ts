import { type Chambers, chambersAt, OUTFLOW_MM, PERICARDIUM_MM } from './chambers.ts';
import { type Beat, beatAt, type Moment, momentAt } from './motion.ts';
import type { HeartSizes } from './sizes.ts';
import { across } from './space.ts';
import { createVentricle, type Ventricle, ventricleAt } from './ventricle.ts';

/** Structures in the truth, with their pixel values in a label image. */
export const STRUCTURE = {
  outside: 0,
  leftVentricle: 1,
  myocardium: 2,
  leftAtrium: 3,
  rightVentricle: 4,
  rightAtrium: 5,
  aorta: 6,
  pulmonaryArtery: 7,
  effusion: 8,
} as const;
export type Structure = (typeof STRUCTURE)[keyof typeof STRUCTURE];

/** Kinds of matter that reflect sound. One structure in the truth may contain several kinds. */
export const MATTER = {
  outside: 0,
  blood: 1,
  atrialBlood: 2,
  rightBlood: 3,
  myocardium: 4,
  thinWall: 5,
  pericardium: 6,
  leaflet: 7,
  papillary: 8,
  fluid: 9,
} as const;
export type Matter = (typeof MATTER)[keyof typeof MATTER];

/** Properties of one place in the heart. */
export interface HeartSample {
  structure: Structure;
  matter: Matter;
  /** Position along the axis of the left ventricle: 0 at the apex, 1 at the mitral plane. */
  along: number;
  /** Distances from both borders in mm, negative inside; calculated only within the myocardium. */
  endocardium: number;
  epicardium: number;
}

/** The heart at one moment of its beat. */
export interface HeartMoment {
  moment: Moment;
  ventricle: Ventricle;
  chambers: Chambers;
  /** Writes the properties of a place into `sample`, which the caller can reuse for many places. */
  probe(x: number, y: number, z: number, sample: HeartSample): void;
}

export interface Heart {
  sizes: HeartSizes;
  beat: Beat;
  endDiastolicMl: number;
  endSystolicMl: number;
  at(moment: Moment): HeartMoment;
  /** Returns the heart `seconds` after an R wave. */
  after(seconds: number): HeartMoment;
}

export const emptySample = (): HeartSample => ({
  structure: STRUCTURE.outside,
  matter: MATTER.outside,
  along: 0,
  endocardium: 0,
  epicardium: 0,
});

const ATRIAL_WALL_MM = 2;
const AORTIC_WALL_MM = 1.8;

/** Half the thickness of the fibrous ring of the tricuspid valve, mm. */
const RING_MM = 2.2;
/** Half the thickness of a leaflet as it appears in the beam, mm. */
const LEAFLET_MM = 1.2;

/**
 * Returns the distance from (out, up) to the line of a leaflet, in the half plane through the axis
 * of its annulus.
 */
function toSegment(
  out: number,
  up: number,
  from: readonly [number, number],
  to: readonly [number, number],
): number {
  const dx = to[0] - from[0];
  const dy = to[1] - from[1];
  const t = Math.max(
    0,
    Math.min(1, ((out - from[0]) * dx + (up - from[1]) * dy) / (dx * dx + dy * dy)),
  );
  return Math.hypot(out - from[0] - t * dx, up - from[1] - t * dy);
}

/**
 * Returns the position of a leaflet tip in mm: its distance from the axis, then its height. The two
 * leaflets form a funnel: a shallow tent if closed, two flaps if open.
 */
function funnel(radiusMm: number, opening: number): readonly [number, number] {
  const tip = radiusMm * 0.72 * opening;
  return [tip, 4 + (radiusMm - 4) * opening];
}

/**
 * Angles of the bull's-eye (Cerqueira 2002), in degrees, at which the two papillary muscles are
 * centred.
 */
const PAPILLARY_ANGLES = [35, 290] as const;

export function createHeart(sizes: HeartSizes): Heart {
  const beating = createVentricle(sizes.ventricle, sizes.contraction);
  const diastolic = ventricleAt(beating, 0);
  const beat = beatAt(sizes.beatsPerMinute);
  const at = (moment: Moment): HeartMoment => {
    const ventricle = ventricleAt(beating, moment.squeeze);
    const chambers = chambersAt(sizes, moment, ventricle, diastolic);
    return {
      moment,
      ventricle,
      chambers,
      probe: prober(sizes, moment, ventricle, chambers, diastolic),
    };
  };
  return {
    sizes,
    beat,
    endDiastolicMl: beating.endDiastolicMl,
    endSystolicMl: ventricleAt(beating, 1).volumeMl,
    at,
    after: (seconds) => at(momentAt(beat, seconds)),
  };
}

/** Returns the matter inside the left ventricle: mitral leaflets, papillary muscles or blood. */
function ventricleContents(ventricle: Ventricle, diastolic: Ventricle, mitralOpening: number) {
  const { apexZ, baseZ } = ventricle;
  const lengthMm = apexZ - baseZ;
  const annulusMm = Math.max(11, 0.8 * ventricle.radius(0, 1));
  const off = 0.12 * annulusMm;
  const middle = across(330);
  const mitralTip = funnel(annulusMm, Math.min(1, mitralOpening));
  const papillaries = PAPILLARY_ANGLES.map((angle) => {
    const reach = Math.max(4, 0.74 * ventricle.radius(angle, 0.5));
    return { x: reach * across(angle).x, y: reach * across(angle).y };
  });
  const papillaryMm = 0.16 * diastolic.radius(0, 0.5) + 0.8;
  return (x: number, y: number, z: number): Matter => {
    const mx = x - off * middle.x;
    const my = y - off * middle.y;
    const out = Math.sqrt(mx * mx + my * my);
    if (out < annulusMm + 2 && z < baseZ + annulusMm + 8) {
      const up = z - ventricle.mitralPlane(x, y);
      if (toSegment(out, up, [annulusMm, 0], mitralTip) < LEAFLET_MM) return MATTER.leaflet;
    }
    const along = (apexZ - z) / lengthMm;
    if (along > 0.3 && along < 0.66) {
      const taper = papillaryMm * Math.min(1, 8 * (0.66 - along));
      for (const muscle of papillaries) {
        if (Math.hypot(x - muscle.x, y - muscle.y) < taper) return MATTER.papillary;
      }
    }
    return MATTER.blood;
  };
}

/** Returns the matter inside the aorta: cusps of its valve or blood. */
function aortaContents({ aorta }: Chambers, sizes: HeartSizes, moment: Moment) {
  const cusps = moment.aorticOpening * sizes.aorticOpening;
  const cuspMm = LEAFLET_MM + 1.6 * (1 - sizes.aorticOpening);
  return (along: number, inner: number): Matter => {
    if (along < 0 || along > 13) return MATTER.blood;
    const radius = aorta.radius(along);
    const out = inner + radius;
    // Closed cusps meet in the middle of the sinus; open cusps are near its wall.
    const tip = radius * 0.82 * cusps;
    const line = toSegment(out, along, [radius, 0], [tip, 6 + 5 * cusps]);
    return line < cuspMm ? MATTER.leaflet : MATTER.blood;
  };
}

function prober(
  sizes: HeartSizes,
  moment: Moment,
  ventricle: Ventricle,
  chambers: Chambers,
  diastolic: Ventricle,
): HeartMoment['probe'] {
  const { apexZ, baseZ } = ventricle;
  const lengthMm = apexZ - baseZ;
  const { aorta } = chambers;
  const tricuspidTip = funnel(chambers.tricuspid.radiusMm, Math.min(1, moment.mitralOpening));
  const inVentricle = ventricleContents(ventricle, diastolic, moment.mitralOpening);
  const inAorta = aortaContents(chambers, sizes, moment);

  return (x, y, z, sample) => {
    const place = ventricle.locate(x, y, z);
    const base = ventricle.mitralPlane(x, y);
    sample.along = (apexZ - z) / lengthMm;
    const set = (structure: Structure, matter: Matter) => {
      sample.structure = structure;
      sample.matter = matter;
    };
    if (z > base && ventricle.isInside(place)) {
      return set(STRUCTURE.leftVentricle, inVentricle(x, y, z));
    }
    const root = aorta.at(x, y, z);
    if (root.inner < AORTIC_WALL_MM && root.along > -OUTFLOW_MM && root.along < 80) {
      if (root.inner < 0) {
        if (root.along < 0) return set(STRUCTURE.leftVentricle, MATTER.blood);
        return set(STRUCTURE.aorta, inAorta(root.along, root.inner));
      }
      if (root.along > 0) return set(STRUCTURE.outside, MATTER.thinWall);
    }
    const epicardium = ventricle.epicardium(place);
    if (z > base && epicardium < 0) {
      sample.endocardium = ventricle.endocardium(place);
      sample.epicardium = epicardium;
      return set(STRUCTURE.myocardium, MATTER.myocardium);
    }
    const trunk = chambers.outflow(x, y, z, root.inner);
    const right = chambers.rightVentricle(x, y, z, epicardium);
    const rightBody = Math.min(right, trunk);
    if (rightBody < 0) {
      const pulmonary = trunk < 0 && right > 0 && z < chambers.pulmonaryValve.z;
      const { centre, radiusMm } = chambers.tricuspid;
      const out = Math.hypot(x - centre.x, y - centre.y);
      const up = z - chambers.tricuspidZ;
      const leaflet =
        up < radiusMm + 2 && toSegment(out, up, [radiusMm, 0], tricuspidTip) < LEAFLET_MM;
      const ring = Math.hypot(out - radiusMm, up) < RING_MM;
      return set(
        pulmonary ? STRUCTURE.pulmonaryArtery : STRUCTURE.rightVentricle,
        leaflet || ring ? MATTER.leaflet : MATTER.rightBlood,
      );
    }
    const left = chambers.leftAtrium(x, y, z, root.inner);
    if (left < 0 && z < base) return set(STRUCTURE.leftAtrium, MATTER.atrialBlood);
    const rightAtrium = chambers.rightAtrium(x, y, z, root.inner);
    if (rightAtrium < 0) return set(STRUCTURE.rightAtrium, MATTER.rightBlood);
    const walled = Math.min(
      left - ATRIAL_WALL_MM,
      rightAtrium - ATRIAL_WALL_MM,
      rightBody - sizes.rightVentricle.wallMm,
    );
    if (walled < 0) return set(STRUCTURE.outside, MATTER.thinWall);
    const outer = Math.min(
      z > base ? epicardium : Math.hypot(Math.max(0, epicardium), base - z),
      walled,
    );
    // The layer of fluid is thick behind the ventricles and thins towards the atria.
    const fluid = sizes.effusionMm * Math.max(0, Math.min(1, (z - base + 6) / 14));
    if (outer < fluid) return set(STRUCTURE.effusion, MATTER.fluid);
    if (outer < fluid + PERICARDIUM_MM) return set(STRUCTURE.outside, MATTER.pericardium);
    if (chambers.descendingAorta(x, y, z) < 0) return set(STRUCTURE.outside, MATTER.blood);
    return set(STRUCTURE.outside, MATTER.outside);
  };
}
