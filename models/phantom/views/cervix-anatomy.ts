import { type Point, type Pose, place, type Sector, toPolar } from '../geometry.ts';
import { createNoise, type Random } from '../random.ts';
import { ellipse, everywhere, grown, rim, type Shape, stroke, within } from '../shapes.ts';
import { TISSUE, type Tissue } from '../tissue.ts';
import { type Piece, wavering } from './scene.ts';

/** Shapes of the internal os after the letters of Zilianti 1995, from closed to wide open. */
export const FUNNEL_SHAPES = ['T', 'Y', 'V', 'U'] as const;
export type FunnelShape = (typeof FUNNEL_SHAPES)[number];

export interface CervixSizes {
  /**
   * Length of the closed part in mm, in a straight line from the external os to the functional
   * internal os.
   */
  lengthMm: number;
  /**
   * Maximum distance of the canal from the straight line between its two ends, mm. The sign
   * indicates the side.
   */
  bowMm: number;
  funnel: FunnelShape;
  /** Depth of the funnel from its shoulders to the functional internal os, mm; 0 for T. */
  funnelDepthMm: number;
  funnelWidthMm: number;
  /**
   * Position of the placenta's lower edge along the wall, mm from the os; null if there is no
   * placenta.
   */
  placenta: { edgeMm: number; side: 'anterior' | 'posterior'; thicknessMm: number } | null;
}

/**
 * Width of the funnel as a share of its maximum width. `t` is the distance from the tip as a share
 * of the depth.
 */
const FUNNEL_PROFILE: Readonly<Record<FunnelShape, (t: number) => number>> = {
  T: () => 0,
  Y: (t) => t ** 1.7,
  V: (t) => t,
  U: (t) => Math.sqrt(Math.max(0, 1 - (1 - t) ** 2.2)),
};

/**
 * A lower uterus in its pose. u runs along the canal from the external os (0) through the
 * functional internal os (`lengthMm`) into the cavity; v runs from the anterior side (negative) to
 * the posterior side.
 */
export interface Cervix {
  sizes: CervixSizes;
  pose: Pose;
  /** Centre line of the canal, external os first, mm. */
  canal: Point[];
  /** Both ends of the funnel's mouth. */
  shoulders: [Point, Point];
  /**
   * Lower edge of the placenta on the wall, with its signed distance to the internal os in mm; null
   * if there is no placenta.
   */
  edge: { at: Point; toOsMm: number } | null;
  pieces: Piece[];
}

/** Shifts the level of a tissue by `by` dB, because levels vary between machines and patients. */
const shifted = (tissue: Tissue, by: number): Tissue => ({ ...tissue, echo: tissue.echo + by });

/**
 * Returns a shape whose distance function is given in the axes u and v of the pose. `extent` is its
 * maximum distance from the centre of the pose.
 */
function region(pose: Pose, extent: number, distance: (u: number, v: number) => number): Shape {
  const cos = Math.cos(pose.angle);
  const sin = Math.sin(pose.angle);
  const side = pose.mirror ? -1 : 1;
  return {
    centre: pose.centre,
    reach: extent,
    distance: (x, y) => {
      const dx = x - pose.centre.x;
      const dy = y - pose.centre.y;
      return distance(dx * cos + dy * sin, side * (dy * cos - dx * sin));
    },
  };
}

const FAR = 130;

/**
 * Returns half the width of the cavity as a function of u. Beyond the funnel, the walls diverge
 * like a parabola.
 */
function cavityProfile(sizes: CervixSizes, random: Random) {
  const { lengthMm, funnelDepthMm, funnelWidthMm, funnel } = sizes;
  const spread = { anterior: random.range(5, 11), posterior: random.range(5, 11) };
  const power = random.range(0.48, 0.62);
  const profile = FUNNEL_PROFILE[funnel];
  return (u: number, v: number) => {
    const t = u - lengthMm - funnelDepthMm;
    if (u < lengthMm) return 0;
    if (t < 0) return (funnelWidthMm / 2) * profile((u - lengthMm) / funnelDepthMm);
    return funnelWidthMm / 2 + (v < 0 ? spread.anterior : spread.posterior) * t ** power;
  };
}

function drawBladder(sizes: CervixSizes, pose: Pose, bodyMm: number, random: Random): Piece[] {
  if (random.chance(0.25)) return [];
  const a = random.range(5, 22);
  const b = random.range(2.5, Math.min(a, 11));
  const shape = wavering(
    ellipse(pose, {
      u: sizes.lengthMm * random.range(0.55, 1.2) + random.range(0, 10),
      v: -(bodyMm + b + random.range(1, 5)),
      a,
      b,
      turn: random.normal(0, 0.3),
    }),
    createNoise(random.fork('bladder'), 12),
    1,
  );
  return [
    { shape: grown(shape, random.range(0.8, 2.5)), tissue: TISSUE.maternalMuscle },
    { shape: grown(shape, random.range(0.4, 0.8)), tissue: TISSUE.membrane },
    {
      shape,
      tissue: shifted(TISSUE.amnioticFluid, random.range(-2, 8)),
      structure: 'bladder',
    },
  ];
}

/** Builds the presenting part above the os: a skull, or rounder parts of the fetus. */
function drawPresenting(sizes: CervixSizes, pose: Pose, random: Random): Piece[] {
  if (random.chance(0.25)) return [];
  const radius = random.range(22, 48);
  const gap = random.range(1, 16);
  const shape = ellipse(pose, {
    u: sizes.lengthMm + sizes.funnelDepthMm + gap + radius,
    v: random.normal(0, 8),
    a: radius,
    b: radius * random.range(0.78, 1),
    turn: random.range(0, Math.PI),
  });
  return [
    { shape: grown(shape, random.range(1, 3)), tissue: TISSUE.scalp },
    { shape, tissue: TISSUE.brain },
    { shape: rim(shape, random.range(1, 2.4)), tissue: TISSUE.skull },
  ];
}

/**
 * Builds the placenta on the wall of the cavity. It ends where the wall is `edgeMm` from the middle
 * line. If `edgeMm` is negative, it extends over the os to the other side.
 */
function drawPlacenta(
  sizes: CervixSizes,
  pose: Pose,
  halfWidth: (u: number, v: number) => number,
  random: Random,
): { pieces: Piece[]; edge: Cervix['edge'] } {
  const { placenta, lengthMm } = sizes;
  if (placenta === null) return { pieces: [], edge: null };
  const side = placenta.side === 'anterior' ? -1 : 1;
  const edgeV = side * placenta.edgeMm;
  const wallAt = (v: number) => {
    let u = lengthMm;
    while (halfWidth(u, v) < Math.abs(v) && u < lengthMm + FAR) u += 0.05;
    return u;
  };
  const taper = random.range(4, 14);
  const waver = createNoise(random.fork('placenta'), random.range(7, 14));
  const wall = new Map<number, number>();
  const wallNear = (v: number) => {
    const key = Math.round(v * 4);
    const known = wall.get(key) ?? wallAt(key / 4);
    wall.set(key, known);
    return known;
  };
  const shape = region(pose, FAR, (u, v) => {
    const inward = side * (v - edgeV);
    if (inward < 0) return Math.hypot(inward, 0.1);
    const depth = u - wallNear(v);
    const across = Math.abs(v) - halfWidth(u, v);
    const toWall = depth < 0 ? -depth : -Math.max(-depth, across);
    const thick =
      placenta.thicknessMm * Math.sqrt(Math.min(1, inward / taper)) * (1 + 0.15 * waver(u, v));
    if (across > 0) return across;
    // The distance to the wall is the smaller of the distances across and along the canal.
    return Math.min(toWall, Math.max(0, -across), Math.max(0, depth)) - thick;
  });
  const at = place(pose, wallAt(edgeV), edgeV);
  const os = place(pose, lengthMm, 0);
  const straight = Math.hypot(at.x - os.x, at.y - os.y);
  const pieces: Piece[] = [
    {
      shape,
      tissue: shifted(TISSUE.placenta, random.range(-4, 3)),
      structure: 'placenta',
    },
  ];
  return { pieces, edge: { at, toOsMm: Math.sign(placenta.edgeMm) * straight } };
}

/**
 * Builds the surroundings: pelvic tissue, bowel gas with its shadows, and the wall next to the
 * probe.
 */
function drawSurroundings(sector: Sector, canalDepth: number, random: Random): Piece[] {
  const grain = createNoise(random.fork('grain'), 1);
  const stripes = (x: number, y: number) => 6 * grain(x / 7, y / 1.8);
  const pose: Pose = { centre: { x: random.range(-25, 25), y: 0 }, angle: 0, mirror: false };
  const gas = ellipse(pose, {
    u: 0,
    v: canalDepth + random.range(24, 40),
    a: random.range(5, 18),
    b: random.range(1, 3),
    turn: random.normal(0, 0.3),
  });
  const contactMm = random.range(1.5, 5);
  const contact: Shape = {
    ...everywhere,
    distance: (x, y) => toPolar(sector, x, y).range - contactMm,
  };
  return [
    {
      shape: everywhere,
      tissue: shifted(TISSUE.farTissue, random.range(-14, 0)),
      modulation: stripes,
    },
    ...(random.chance(0.5) ? [{ shape: gas, tissue: TISSUE.rib }] : []),
    { shape: contact, tissue: shifted(TISSUE.maternalMuscle, random.range(-6, 6)) },
  ];
}

/** Builds a sagittal section of the cervix and the lower segment, as on a transvaginal image. */
export function buildCervix(
  sizes: CervixSizes,
  pose: Pose,
  sector: Sector,
  random: Random,
): Cervix {
  const { lengthMm, bowMm, funnelDepthMm, funnelWidthMm } = sizes;
  const line = (u: number) =>
    u <= 0 || u >= lengthMm ? 0 : (4 * bowMm * u * (lengthMm - u)) / lengthMm ** 2;
  const bodyMm = random.range(9, 16);
  const cap = random.range(6, 11);
  const body = (u: number) => {
    const short = Math.max(0, cap - u) / (cap + 1);
    return short >= 1 ? -1 : bodyMm * Math.sqrt(1 - short * short);
  };
  const halfWidth = cavityProfile(sizes, random.fork('cavity'));
  const top = lengthMm + funnelDepthMm;
  const wallMm = random.range(4, 9);
  const level = random.range(-4, 4);
  const lips = random.range(-8, 2);
  const stromaNoise = createNoise(random.fork('stroma'), 9);
  const fibres = createNoise(random.fork('fibres'), 1);
  const outer = wavering(
    region(pose, FAR, (u, v) => {
      const walls = halfWidth(u, v) + wallMm;
      return Math.abs(v - line(u)) - Math.max(body(u) * (u > top ? 0.9 : 1), u > top ? walls : -1);
    }),
    stromaNoise,
    1.2,
  );
  const cavity = region(pose, FAR, (u, v) =>
    u < lengthMm ? Math.hypot(lengthMm - u, v) : Math.abs(v) - halfWidth(u, v),
  );
  const canalPoints = Array.from({ length: 17 }, (_, i) => (lengthMm * i) / 16).map(
    (u) => [u, line(u)] as const,
  );
  const patchy = createNoise(random.fork('canal'), random.range(4, 10));
  const fading = random.range(0, 6);
  const mucosa = stroke(pose, canalPoints, random.range(1.6, 4.5));
  const dark = random.chance(0.55);
  const mucosaLevel = dark ? random.range(3, 7) : random.range(-11, -5);
  const mucus: Tissue = dark
    ? { echo: random.range(-52, -40), loss: 0, texture: 3 }
    : { echo: random.range(-24, -15), loss: 0, texture: 3 };
  const funnelMouth = within(
    cavity,
    region(pose, FAR, (u) => u - top),
  );
  const placenta = drawPlacenta(sizes, pose, halfWidth, random.fork('placenta'));
  const inCavity = (piece: Piece): Piece => ({ ...piece, shape: within(piece.shape, cavity) });
  const fluid = shifted(TISSUE.amnioticFluid, random.range(-2, random.chance(0.2) ? 16 : 6));
  const middle = place(pose, lengthMm / 2, 0);
  return {
    sizes,
    pose,
    canal: canalPoints.map(([u, v]) => place(pose, u, v)),
    shoulders: [place(pose, top, -funnelWidthMm / 2), place(pose, top, funnelWidthMm / 2)],
    edge: placenta.edge,
    pieces: [
      ...drawSurroundings(sector, middle.y, random.fork('around')),
      ...drawBladder(sizes, pose, bodyMm, random.fork('bladder')),
      // The cervix ends in a bright line against the vagina, which marks the external os.
      { shape: grown(outer, random.range(0.3, 0.9)), tissue: shifted(TISSUE.membrane, lips) },
      {
        shape: outer,
        tissue: shifted(TISSUE.uterineWall, level - random.range(1, 7)),
        modulation: (x, y) => 4 * fibres(x / 5, y / 2),
        structure: 'cervix',
      },
      {
        shape: mucosa,
        tissue: shifted(TISSUE.uterineWall, level + mucosaLevel),
        structure: 'cervix',
      },
      {
        shape: stroke(pose, canalPoints, random.range(0.25, 1.1)),
        tissue: mucus,
        modulation: (x, y) => (dark ? 1 : -1) * fading * Math.max(0, patchy(x, y)),
        structure: 'cervix',
      },
      { shape: cavity, tissue: fluid, structure: 'fluid' },
      ...(funnelDepthMm > 0
        ? [{ shape: funnelMouth, tissue: fluid, structure: 'funnel' } satisfies Piece]
        : []),
      ...drawPresenting(sizes, pose, random.fork('presenting')).map(inCavity),
      ...placenta.pieces.map(inCavity),
      { shape: rim(cavity, random.range(0.2, 0.6)), tissue: TISSUE.membrane },
    ],
  };
}
