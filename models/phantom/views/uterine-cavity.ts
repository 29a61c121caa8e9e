import type { Screen, View } from '../acquisition.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import { createNoise, type Random } from '../random.ts';
import { ellipse, everywhere, grown, rim, type Shape, stroke, within } from '../shapes.ts';
import { TISSUE, type Tissue } from '../tissue.ts';
import { abdominalWall } from '../uterus.ts';
import { type Piece, wavering } from './scene.ts';

const SCREENS: readonly Screen[] = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
];

/**
 * Randomly picks a curved-array view of a cavity below an abdominal wall. The view includes the
 * floor of the cavity and is as wide as the array allows. `down` is half the depth of the cavity,
 * mm.
 */
export function drawTransabdominalView(down: number, random: Random, screen?: Screen): View {
  const { columns, rows } = screen ?? random.pick(SCREENS);
  const radiusMm = random.range(38, 65);
  const halfAngle = random.range(0.5, 0.72);
  const wallMm = random.range(9, 28);
  const centre = { x: random.normal(0, 10), y: wallMm + down + random.range(4, 14) };
  const depthMm = centre.y + down + random.range(4, 40);
  const rise = radiusMm * (1 - Math.cos(halfAngle));
  const margin = random.range(0.01, 0.06) * rows;
  const mmPerPixel = (depthMm + rise) / (rows * random.range(0.94, 1.04) - margin);
  const origin = { x: columns * random.range(0.46, 0.54), y: margin + rise / mmPerPixel };
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: { columns, rows, mmPerPixel, origin },
    centre,
    wallMm,
  };
}

/** Wall of the cavity to which the placenta is attached, as seen in a transabdominal image. */
export const PLACENTA_WALLS = ['anterior', 'posterior', 'side', 'none'] as const;
type PlacentaWall = (typeof PLACENTA_WALLS)[number];

export interface CavityPlan {
  /** Half the width and half the depth of the cavity, mm. */
  across: number;
  down: number;
  placenta: PlacentaWall;
  /** Largest thickness of the placenta, mm. */
  placentaMm: number;
  /** Half the angle that the placenta covers along the wall, radians. */
  placentaSpan: number;
  /** Number of blood-filled spaces in the placenta. */
  lacunae: number;
  /** True if the dark line between placenta and myometrium is visible (Collins 2016). */
  clearZone: boolean;
  /** Numbers of limbs and loops of cord in the cavity, and whether it contains a trunk. */
  limbs: number;
  trunk: boolean;
  cords: number;
}

const shifted = (tissue: Tissue, by: number): Tissue => ({ ...tissue, echo: tissue.echo + by });

/** Direction from the centre of the cavity to the middle of the wall with the placenta, radians. */
const WALL_ANGLE: Readonly<Record<Exclude<PlacentaWall, 'none'>, number>> = {
  anterior: -Math.PI / 2,
  posterior: Math.PI / 2,
  side: 0,
};

interface Placenta {
  shape: Shape;
  pieces: Piece[];
}

/**
 * Builds the placenta: a lens on the wall of the cavity, thickest in its middle, with the signs of
 * accreta.
 */
function drawPlacenta(
  plan: CavityPlan,
  cavity: Shape,
  pose: Pose,
  random: Random,
): Placenta | null {
  if (plan.placenta === 'none') return null;
  const flip = plan.placenta === 'side' && random.chance(0.5) ? Math.PI : 0;
  const middle = WALL_ANGLE[plan.placenta] + flip + random.normal(0, 0.15);
  const lobes = createNoise(random.fork('lobes'), random.range(10, 22));
  const shape: Shape = {
    ...cavity,
    distance: (x, y) => {
      const angle = Math.atan2((y - pose.centre.y) / plan.down, (x - pose.centre.x) / plan.across);
      const away = Math.abs(Math.atan2(Math.sin(angle - middle), Math.cos(angle - middle)));
      const share = Math.max(0, 1 - (away / plan.placentaSpan) ** 2);
      const thick = plan.placentaMm * Math.sqrt(share) * (1 + 0.15 * lobes(x, y));
      const inside = cavity.distance(x, y);
      return Math.max(inside, -inside - thick);
    },
  };
  const thickness = random.range(1, 2.2);
  const retroplacental: Shape = {
    ...shape,
    distance: (x, y) => Math.max(shape.distance(x, y), -cavity.distance(x, y) - thickness),
  };
  const reach = (t: number, depth: number): Point => {
    const angle = middle + t * plan.placentaSpan;
    const inward = 1 - depth / Math.min(plan.across, plan.down);
    return place(
      pose,
      plan.across * inward * Math.cos(angle),
      plan.down * inward * Math.sin(angle),
    );
  };
  const lacunae = Array.from({ length: plan.lacunae }, (_, i): Piece => {
    const large = plan.lacunae > 3;
    const at = reach(random.range(-0.6, 0.6), plan.placentaMm * random.range(0.3, 0.7));
    const hole = ellipse(
      { centre: at, angle: random.range(0, Math.PI), mirror: false },
      {
        u: 0,
        v: 0,
        a: large ? random.range(4, 9) : random.range(2, 4.5),
        b: large ? random.range(2.5, 5) : random.range(1.5, 3),
      },
    );
    return {
      shape: within(wavering(hole, createNoise(random.fork(`lacuna ${i}`), 4), 0.8), shape),
      tissue: shifted(TISSUE.fetalFluid, random.range(0, 6)),
      structure: 'lacuna',
    };
  });
  const pieces: Piece[] = [
    { shape, tissue: shifted(TISSUE.placenta, random.range(-5, 4)), structure: 'placenta' },
    ...(plan.clearZone
      ? [{ shape: retroplacental, tissue: shifted(TISSUE.uterineWall, -12) } satisfies Piece]
      : []),
    ...lacunae,
    {
      shape: within(rim(grown(shape, 0.2), 0.5), cavity),
      tissue: shifted(TISSUE.membrane, random.range(-8, 0)),
    },
  ];
  return { shape, pieces };
}

/**
 * Builds an arm or leg that the plane cuts across (round) or along (elongated): muscle, skin and
 * usually a bone.
 */
function drawLimb(pose: Pose, plan: CavityPlan, random: Random): Piece[] {
  const turn = random.range(0, 2 * Math.PI);
  const away = Math.sqrt(random.unit()) * 0.95;
  const centre = place(
    pose,
    plan.across * away * Math.cos(turn),
    plan.down * away * Math.sin(turn),
  );
  const own: Pose = { centre, angle: random.range(0, Math.PI), mirror: false };
  const b = random.range(4, 13);
  const a = b * random.range(1, 3);
  const limb = wavering(ellipse(own, { u: 0, v: 0, a, b }), createNoise(random.fork('limb'), 8), 1);
  const bone = ellipse(own, { u: 0, v: 0, a: a * random.range(0.2, 0.75), b: b * 0.16 + 0.6 });
  return [
    { shape: limb, tissue: TISSUE.muscle, structure: 'part' },
    { shape: rim(limb, random.range(0.8, 1.6)), tissue: TISSUE.skin, structure: 'part' },
    ...(random.chance(0.7)
      ? [{ shape: bone, tissue: TISSUE.rib, structure: 'part' } satisfies Piece]
      : []),
  ];
}

/** Builds the edge of a head or trunk that extends into the cavity, sometimes with fluid inside. */
function drawTrunk(pose: Pose, plan: CavityPlan, random: Random): Piece[] {
  const a = random.range(28, 55);
  const turn = random.range(0, 2 * Math.PI);
  const away = random.range(0.4, 0.9);
  const own: Pose = {
    centre: place(pose, plan.across * away * Math.cos(turn), plan.down * away * Math.sin(turn)),
    angle: random.range(0, Math.PI),
    mirror: false,
  };
  const shape = ellipse(own, { u: 0, v: 0, a, b: a * random.range(0.72, 1) });
  const head = random.chance(0.5);
  const organ = ellipse(own, {
    u: random.range(-0.4, 0.4) * a,
    v: random.range(-0.4, 0.4) * a,
    a: random.range(5, 13),
    b: random.range(4, 9),
  });
  const content: Piece[] = [
    { shape, tissue: head ? TISSUE.brain : TISSUE.liver, structure: 'part' },
    ...(random.chance(0.6)
      ? [{ shape: organ, tissue: TISSUE.fetalFluid, structure: 'part' } satisfies Piece]
      : []),
  ];
  return [
    { shape: grown(shape, random.range(1, 2.5)), tissue: TISSUE.scalp, structure: 'part' },
    ...content,
    {
      shape: rim(shape, head ? random.range(1.2, 2.4) : random.range(1, 1.8)),
      tissue: head ? TISSUE.skull : TISSUE.skin,
      structure: 'part',
    },
  ];
}

/**
 * Builds a loop of umbilical cord across the pocket: a tube of Wharton's jelly with the lumina of
 * its vessels.
 */
function drawCord(pose: Pose, plan: CavityPlan, random: Random): Piece[] {
  const radius = random.range(4, 8);
  const from = random.range(0, 2 * Math.PI);
  const bend = random.range(0.6, 2.4);
  const middle = random.range(0.2, 0.7);
  const swing = random.range(0.05, 0.3);
  const turns = random.range(0.5, 1.6);
  const points = Array.from({ length: 14 }, (_, i) => {
    const angle = from + (bend * i) / 13;
    const away = middle + swing * Math.sin((2 * Math.PI * turns * i) / 13);
    return [plan.across * away * Math.cos(angle), plan.down * away * Math.sin(angle)] as const;
  });
  const pieces: Piece[] = [
    { shape: stroke(pose, points, radius), tissue: TISSUE.vesselWall, structure: 'part' },
    {
      shape: stroke(pose, points, radius - 1),
      tissue: shifted(TISSUE.cartilage, random.range(0, 8)),
      structure: 'part',
    },
  ];
  const lumen = [
    { offset: -0.45, radius: 0.24 },
    { offset: 0.4, radius: 0.34 },
  ];
  for (const { offset, radius: share } of lumen) {
    const moved = points.map(([u, v]) => [u, v + offset * radius] as const);
    pieces.push(
      {
        shape: stroke(pose, moved, share * radius + 0.5),
        tissue: TISSUE.vesselWall,
        structure: 'part',
      },
      { shape: stroke(pose, moved, share * radius), tissue: TISSUE.fetalFluid, structure: 'part' },
    );
  }
  return pieces;
}

/** Builds the maternal bladder in front of the uterus. Its fluid is not amniotic fluid. */
function drawBladder(view: View, random: Random): Piece[] {
  if (random.chance(0.85)) return [];
  const side = random.chance(0.5) ? 1 : -1;
  const centre = { x: side * random.range(15, 40), y: view.wallMm * random.range(0.85, 1.1) };
  const shape = ellipse(
    { centre, angle: random.normal(0, 0.4), mirror: false },
    { u: 0, v: 0, a: random.range(12, 28), b: random.range(5, 11) },
  );
  return [
    { shape: grown(shape, 2), tissue: TISSUE.maternalMuscle },
    { shape, tissue: TISSUE.amnioticFluid, structure: 'bladder' },
  ];
}

/** Builds the uterine cavity below the abdominal wall, with everything inside it. */
export function buildCavity(plan: CavityPlan, view: View, random: Random): Piece[] {
  const myometrium = random.range(4, 11);
  const pose: Pose = { centre: view.centre, angle: 0, mirror: false };
  const cavity = wavering(
    ellipse(pose, { u: 0, v: 0, a: plan.across, b: plan.down }),
    createNoise(random.fork('cavity'), random.range(20, 40)),
    random.range(1, 6),
  );
  const grain = createNoise(random.fork('grain'), 1);
  const stripes = (x: number, y: number) => 6 * grain(x / 8, y / 1.8);
  const inside = (piece: Piece): Piece => ({ ...piece, shape: within(piece.shape, cavity) });
  const many = (count: number, name: string, draw: (own: Random) => Piece[]) =>
    Array.from({ length: count }, (_, i) => draw(random.fork(`${name} ${i}`))).flat();
  const placenta = drawPlacenta(plan, cavity, pose, random.fork('placenta'));
  return [
    {
      shape: everywhere,
      tissue: shifted(TISSUE.farTissue, random.range(-8, 2)),
      modulation: stripes,
    },
    ...abdominalWall(view.sector, random.fork('wall'), view.wallMm),
    { shape: grown(cavity, myometrium), tissue: TISSUE.uterineWall, modulation: stripes },
    {
      shape: cavity,
      tissue: shifted(TISSUE.amnioticFluid, random.range(-2, random.chance(0.2) ? 14 : 6)),
      structure: 'fluid',
    },
    ...(plan.trunk ? drawTrunk(pose, plan, random.fork('trunk')) : []).map(inside),
    ...many(plan.limbs, 'limb', (own) => drawLimb(pose, plan, own)).map(inside),
    ...many(plan.cords, 'cord', (own) => drawCord(pose, plan, own)).map(inside),
    ...(placenta?.pieces ?? []).map(inside),
    ...drawBladder(view, random.fork('bladder')),
  ];
}
