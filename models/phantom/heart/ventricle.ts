import type { Contraction, VentricleShape } from './sizes.ts';
import { degrees } from './space.ts';

/** Number of wall samples around the long axis, and from the apex to the mitral plane. */
const AROUND = 72;
const ALONG = 48;

/** Middles of the four levels of the bull's-eye, from the apex (0) to the mitral plane (1). */
const LEVELS = [0.03, 0.2, 0.5, 0.83] as const;

/**
 * Interpolates between the values of a ring of segments at an angle. The first of the six or four
 * segments is anterior (90 degrees; Cerqueira 2002).
 */
function ring(values: readonly number[], angle: number): number {
  const step = 360 / values.length;
  const place = ((((angle - 90) / step) % values.length) + values.length) % values.length;
  const first = Math.floor(place);
  const share = place - first;
  const at = (i: number) => values[i % values.length] ?? 1;
  return at(first) * (1 - share) + at(first + 1) * share;
}

/**
 * Returns the motion at a place on the wall (1 is full motion), interpolated between the centres of
 * the segments.
 */
function motionAt(segments: readonly number[], angle: number, along: number): number {
  const levels = [
    segments[16] ?? 1,
    ring(segments.slice(12, 16), angle),
    ring(segments.slice(6, 12), angle),
    ring(segments.slice(0, 6), angle),
  ];
  if (along <= LEVELS[0]) return levels[0] as number;
  for (let i = 1; i < LEVELS.length; i++) {
    const to = LEVELS[i] as number;
    const from = LEVELS[i - 1] as number;
    if (along > to) continue;
    const share = (along - from) / (to - from);
    return (levels[i - 1] as number) * (1 - share) + (levels[i] as number) * share;
  }
  return levels[3] as number;
}

/** Returns the width at `along` (apex 0, mitral plane 1) relative to the largest width. */
function profile({ widest, bluntness, baseShare }: VentricleShape, along: number): number {
  if (along < widest) {
    return (1 - ((widest - along) / widest) ** bluntness) ** (1 / bluntness);
  }
  return 1 - (1 - baseShare) * ((along - widest) / (1 - widest)) ** 2;
}

/**
 * Returns the radius at a place on the wall relative to the mean radius, without the profile along
 * the axis.
 */
function unevenness(shape: VentricleShape, angle: number, along: number): number {
  const turn = degrees(angle);
  let share = 1 + shape.asymmetry * Math.cos(turn - degrees(shape.asymmetryAngle));
  for (const wave of shape.waves) {
    share += wave.size * Math.cos(wave.along * Math.PI * along + wave.phase + wave.around * turn);
  }
  const septal = Math.max(0, Math.cos(turn - Math.PI)) ** 2;
  const basal = Math.exp(-(((along - 0.8) / 0.13) ** 2));
  return Math.max(0.3, share - shape.septalBulge * septal * basal);
}

/** A place relative to the wall of a ventricle at the same angle and level, mm. */
interface WallPlace {
  /** Height above the widest level; negative below it. */
  above: number;
  /** Distance from the bowed axis. */
  out: number;
  /** Radius of the cavity. Above the widest level, it is that of the widest level. */
  radius: number;
  wall: number;
}

/** A left ventricle at one moment of the beat. */
export interface Ventricle {
  apexZ: number;
  /** Height z of the mitral plane on the long axis, mm. */
  baseZ: number;
  /** Returns the height of the mitral plane at (x, y). */
  mitralPlane(x: number, y: number): number;
  locate(x: number, y: number, z: number): WallPlace;
  /** Returns whether a place is in the cavity, or would be without the mitral plane. */
  isInside(place: WallPlace): boolean;
  /**
   * The signed distances to endocardium and epicardium in mm, negative inside. They are nearly
   * exact close to these borders.
   */
  endocardium(place: WallPlace): number;
  epicardium(place: WallPlace): number;
  /**
   * Radius of the cavity in mm, at an angle in degrees and a level from 0 (apex) to 1 (mitral
   * plane).
   */
  radius(angle: number, along: number): number;
  wall(angle: number, along: number): number;
  /** Returns the position of the bowed axis at a level. */
  middleAt(along: number): { x: number; y: number };
  /** Volume of the cavity in ml, by integration. */
  volumeMl: number;
}

interface Wall {
  radii: Float32Array;
  walls: Float32Array;
}

const indexOf = (around: number, along: number) => around * (ALONG + 1) + along;

/**
 * Returns the radius and thickness of the wall at end diastole, without the profile along the axis.
 */
function diastolicWall(shape: VentricleShape): Wall {
  const radii = new Float32Array(AROUND * (ALONG + 1));
  const walls = new Float32Array(AROUND * (ALONG + 1));
  for (let i = 0; i < AROUND; i++) {
    const angle = (360 * i) / AROUND;
    const septal = 0.5 - 0.5 * Math.cos(degrees(angle));
    const side = septal * shape.septalWallMm + (1 - septal) * shape.lateralWallMm;
    for (let j = 0; j <= ALONG; j++) {
      const along = j / ALONG;
      radii[indexOf(i, j)] = shape.radiusMm * unevenness(shape, angle, along);
      const apical = Math.max(0, 1 - along / shape.widest) ** 2;
      walls[indexOf(i, j)] = side * (1 + (shape.apexShare - 1) * apical);
    }
  }
  return { radii, walls };
}

/** Returns the volume of the cavity in ml as the sum of sectors of discs along the axis. */
function volumeOf(shape: VentricleShape, radii: Float32Array, lengthMm: number): number {
  let total = 0;
  for (let j = 0; j < ALONG; j++) {
    const middle = profile(shape, (j + 0.5) / ALONG);
    for (let i = 0; i < AROUND; i++) {
      const radius =
        0.5 * middle * ((radii[indexOf(i, j)] as number) + (radii[indexOf(i, j + 1)] as number));
      total += 0.5 * radius * radius;
    }
  }
  return (total * ((2 * Math.PI) / AROUND) * (lengthMm / ALONG)) / 1000;
}

/**
 * The part of a ventricle that does not change during the beat, and the inward motion of the wall
 * at end systole.
 */
interface BeatingVentricle {
  shape: VentricleShape;
  contraction: Contraction;
  diastole: Wall;
  motion: Float32Array;
  /** Share of its radius by which the moving wall has moved inwards at end systole. */
  inward: number;
  endDiastolicMl: number;
}

function squeezed(
  { diastole, motion }: Pick<BeatingVentricle, 'diastole' | 'motion'>,
  inward: number,
): Float32Array {
  return diastole.radii.map((radius, i) =>
    Math.max(0.02 * radius, radius * (1 - inward * (motion[i] as number))),
  );
}

/**
 * Finds by bisection the inward motion that results in the requested ejection fraction.
 *
 * @throws RangeError if the moving segments cannot eject that much
 */
export function createVentricle(shape: VentricleShape, contraction: Contraction): BeatingVentricle {
  const diastole = diastolicWall(shape);
  const motion = new Float32Array(diastole.radii.length);
  for (let i = 0; i < AROUND; i++) {
    for (let j = 0; j <= ALONG; j++) {
      motion[indexOf(i, j)] = motionAt(contraction.segments, (360 * i) / AROUND, j / ALONG);
    }
  }
  const { ejectionFraction, longitudinal } = contraction;
  const endDiastolicMl = volumeOf(shape, diastole.radii, shape.lengthMm);
  const lengthMm = shape.lengthMm * (1 - longitudinal);
  const ejected = (inward: number) =>
    1 - volumeOf(shape, squeezed({ diastole, motion }, inward), lengthMm) / endDiastolicMl;
  let low = -0.6;
  let high = 0.98;
  if (ejected(high) < ejectionFraction) {
    throw new RangeError('these segments cannot eject as much');
  }
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (ejected(middle) < ejectionFraction) low = middle;
    else high = middle;
  }
  return { shape, contraction, diastole, motion, inward: high, endDiastolicMl };
}

/**
 * Share of the length by which the apex descends in systole. The rest of the shortening is motion
 * of the annulus.
 */
const APEX_MOTION = 0.08;

/** Interpolates a table at an angle in radians and a position along the ventricle. */
function lookUp(table: Float32Array, turn: number, along: number): number {
  const a = (turn / (2 * Math.PI)) * AROUND;
  const i = Math.floor(a);
  const fa = a - i;
  const b = Math.max(0, Math.min(1, along)) * ALONG;
  const j = Math.min(ALONG - 1, Math.floor(b));
  const fb = b - j;
  const here = indexOf(((i % AROUND) + AROUND) % AROUND, j);
  const next = indexOf((((i + 1) % AROUND) + AROUND) % AROUND, j);
  return (
    ((table[here] as number) * (1 - fb) + (table[here + 1] as number) * fb) * (1 - fa) +
    ((table[next] as number) * (1 - fb) + (table[next + 1] as number) * fb) * fa
  );
}

/**
 * Returns the approximate signed distance to a superellipse in mm, negative inside: the value of
 * its equation minus 1, divided by the slope. It is exact on the border.
 */
function capDistance(
  above: number,
  out: number,
  heightMm: number,
  radiusMm: number,
  bluntness: number,
): number {
  const a = above / heightMm;
  const q = out / radiusMm;
  const level = (a ** bluntness + q ** bluntness) ** (1 / bluntness);
  if (level < 1e-6) return -Math.min(heightMm, radiusMm);
  const slope =
    level ** (1 - bluntness) *
    Math.hypot(a ** (bluntness - 1) / heightMm, q ** (bluntness - 1) / radiusMm);
  return (level - 1) / slope;
}

/**
 * Returns the ventricle at a moment of its contraction: `squeeze` is 0 at end diastole and 1 at end
 * systole. The wall volume is constant, so the wall thickens.
 */
export function ventricleAt(beating: BeatingVentricle, squeeze: number): Ventricle {
  const { shape, contraction, diastole, inward } = beating;
  const { lengthMm: longest, widest, bluntness, mitralTilt } = shape;
  const shortening = contraction.longitudinal * squeeze;
  const lengthMm = longest * (1 - shortening);
  const apexZ = longest * (1 - APEX_MOTION * shortening);
  const baseZ = apexZ - lengthMm;
  const radii = squeezed(beating, inward * squeeze);
  const walls = diastole.walls.map((wall, i) => {
    const before = diastole.radii[i] as number;
    const section = ((before + wall) ** 2 - before ** 2) / (1 - shortening);
    return Math.sqrt((radii[i] as number) ** 2 + section) - (radii[i] as number);
  });
  const apexWall =
    shape.apexShare * 0.5 * (shape.septalWallMm + shape.lateralWallMm) * (1 + 0.25 * squeeze);
  const bowX = shape.bowMm * Math.cos(degrees(shape.bowAngle));
  const bowY = shape.bowMm * Math.sin(degrees(shape.bowAngle));
  const widestZ = apexZ - widest * lengthMm;
  const capMm = apexZ - widestZ;

  return {
    apexZ,
    baseZ,
    mitralPlane: (x) => baseZ + mitralTilt * x,
    volumeMl: volumeOf(shape, radii, lengthMm),
    radius: (angle, along) => profile(shape, along) * lookUp(radii, degrees(angle), along),
    middleAt: (along) => {
      const bow = 4 * along * (1 - along);
      return { x: bow * bowX, y: bow * bowY };
    },
    wall: (angle, along) => lookUp(walls, degrees(angle), along),
    locate: (x, y, z) => {
      const along = (apexZ - z) / lengthMm;
      const bow = along > 0 && along < 1 ? 4 * along * (1 - along) : 0;
      const dx = x - bow * bowX;
      const dy = y - bow * bowY;
      const out = Math.sqrt(dx * dx + dy * dy);
      const turn = Math.atan2(dy, dx);
      const radius = lookUp(radii, turn, along);
      const wall = lookUp(walls, turn, along);
      const above = z - widestZ;
      const share = above > 0 ? 1 : profile(shape, Math.min(1, along));
      return { above, out, radius: radius * share, wall };
    },
    isInside: ({ above, out, radius }) =>
      above > 0 ? (above / capMm) ** bluntness + (out / radius) ** bluntness < 1 : out < radius,
    endocardium: ({ above, out, radius }) =>
      above > 0 ? capDistance(above, out, capMm, radius, bluntness) : out - radius,
    epicardium: ({ above, out, radius, wall }) =>
      above > 0
        ? capDistance(above, out, capMm + apexWall, radius + wall, bluntness)
        : out - radius - wall,
  };
}
