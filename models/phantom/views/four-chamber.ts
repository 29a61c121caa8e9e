import { drawVisibleView } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import { createNoise, createRandom, type Random } from '../random.ts';
import { ellipse, grown, rim, type Shape, stroke, within, without } from '../shapes.ts';
import { TISSUE, type Tissue } from '../tissue.ts';
import { buildUterus } from '../uterus.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { createSceneSimulator, type Piece, wavering } from './scene.ts';

interface HeartSizes {
  /** Half axes at end diastole along and across the septum, mm. */
  a: number;
  b: number;
  /** Width of the right ventricle divided by that of the left, at end diastole. */
  ventricleRatio: number;
}

/**
 * Position of the heart in the chest: the centre of the epicardium, and the direction of the apex
 * in radians.
 */
interface HeartPlace {
  centre: { u: number; v: number };
  direction: number;
}

interface Heart {
  pieces: Piece[];
  epicardium: Shape;
  points: { septum: [Point, Point] };
}

/**
 * Returns how far the ventricles have emptied at a phase of the beat: 0 at end diastole, 1 at end
 * systole.
 */
export function systole(phase: number): number {
  const p = phase - Math.floor(phase);
  return p < 0.4
    ? Math.sin((Math.PI / 2) * (p / 0.4)) ** 2
    : Math.cos((Math.PI / 2) * ((p - 0.4) / 0.6)) ** 2;
}

type Along = readonly [forward: number, side: number];

interface LeafletParts {
  /** Half axes of the epicardium, and thickness of the wall, mm. */
  a: number;
  b: number;
  wall: number;
  /** How far the leaflet reaches into the ventricle, mm. */
  opening: number;
  line(points: readonly Along[], radius: number): Shape;
}

/** Draws an atrioventricular valve: two flaps if it is open, one line if it is closed. */
function leafletAt(
  valvesAt: number,
  side: 1 | -1,
  { a, b, wall, opening, line }: LeafletParts,
): Shape {
  const lateral: Along = [valvesAt, side * (b - wall) * 0.82];
  const hinge: Along = [valvesAt + (side > 0 ? 0.04 * a : 0), 0];
  if (opening <= 0.15 * b) {
    return line([hinge, [valvesAt + 0.05 * a, side * 0.42 * b], lateral], 0.4);
  }
  const flap = (from: Along, gap: number): Shape =>
    line([from, [valvesAt + opening, side * 0.42 * b + side * gap]], 0.35);
  return joined(flap(hinge, -0.5 * opening), flap(lateral, 0.5 * opening));
}

/**
 * Builds the heart: four chambers that fill the epicardium up to its walls, a septum from crux to
 * apex, and valves that open in diastole. In systole the valve plane moves towards the apex, the
 * ventricles empty and the atria fill.
 */
function buildHeart(
  pose: Pose,
  { centre, direction }: HeartPlace,
  { a, b, ventricleRatio }: HeartSizes,
  phase: number,
  random: Random,
): Heart {
  const squeeze = systole(phase);
  const cos = Math.cos(direction);
  const sin = Math.sin(direction);
  // Converts millimetres along and across the septum to coordinates of the pose. The right
  // ventricle is on the positive side.
  const uv = ([forward, side]: Along): [number, number] => [
    centre.u + forward * cos - side * sin,
    centre.v + forward * sin + side * cos,
  ];
  const line = (points: readonly Along[], radius: number) => stroke(pose, points.map(uv), radius);
  const segment = (from: Along, to: Along, radius: number) => line([from, to], radius);
  const shrink = 1 - 0.06 * squeeze;
  const epicardium = ellipse(pose, {
    ...centre,
    a: a * shrink,
    b: b * shrink,
    turn: direction,
  });
  const wall = random.range(0.1, 0.24) * b;
  const septum = random.range(0.08, 0.16) * b;
  const valvesAt = (0.14 * squeeze - random.range(0.16, 0.26)) * a;
  // The septum is offset to give the ventricles their size ratio, but meets the crux in the middle.
  const lean = ((1 - ventricleRatio) / (1 + ventricleRatio)) * (b - wall - septum);
  const septumAt = (forward: number) =>
    lean * Math.min(1, Math.max(0, (forward - valvesAt) / (0.35 * a)));
  const septal: Along[] = [-0.05, 0.15, 0.4, 0.7, 1].map((share) => {
    const forward = valvesAt + share * (a - valvesAt);
    return [forward, septumAt(forward)];
  });
  const thick = wall * (1 + 0.9 * squeeze);
  const inner = grown(epicardium, -thick);
  const ahead = halfPlane(place(pose, ...uv([valvesAt, 0])), pose, direction, 1);
  const behind = halfPlane(place(pose, ...uv([valvesAt, 0])), pose, direction, -1);
  const septumShape = line(septal, septum * (1 + 0.3 * squeeze));
  const interatrial = segment([valvesAt, 0], [-a, 0], 0.5 + 0.04 * b);
  const atrialWall = grown(epicardium, -(0.6 * wall + 0.12 * b * (1 - squeeze)));
  const blood: Tissue = { ...TISSUE.fetalFluid, echo: random.range(-62, -48) };
  const muscle: Tissue = { echo: random.range(-38, -27), loss: 0.02, texture: 5 };
  const membrane: Tissue = { ...TISSUE.membrane, echo: random.range(-32, -21) };
  const moderator = random.range(0.55, 0.75);
  const moderatorBand = segment(
    [moderator * a, 0.1 * b],
    [(moderator + 0.12) * a, 0.7 * b],
    0.08 * b,
  );
  const opening = (1 - squeeze) * random.range(0.3, 0.45) * b;
  const leaflet = (side: 1 | -1) => leafletAt(valvesAt, side, { a, b, wall, opening, line });
  const heart = (shape: Shape, tissue: Tissue): Piece => ({ shape, tissue, structure: 'heart' });
  return {
    epicardium,
    pieces: [
      heart(epicardium, muscle),
      heart(rim(epicardium, 0.5), { ...membrane, echo: membrane.echo - random.range(0, 14) }),
      heart(without(within(inner, ahead), [septumShape]), blood),
      heart(without(within(atrialWall, behind), [interatrial]), blood),
      heart(segment([valvesAt, 0], [-0.95 * a, 0], 0.35), membrane),
      heart(line(septal.slice(0, 3), 0.35 + 0.2 * septum), membrane),
      heart(within(leaflet(1), epicardium), membrane),
      heart(within(leaflet(-1), epicardium), membrane),
      heart(within(moderatorBand, epicardium), muscle),
    ],
    points: {
      septum: [place(pose, ...uv([valvesAt, 0])), place(pose, ...uv([a * shrink, 0]))],
    },
  };
}

/**
 * Returns the half plane bounded by a line through `at`, on the side to which `direction` (in the
 * pose's coordinates) points, or on the opposite side if `sign` is -1.
 */
function halfPlane(at: Point, pose: Pose, direction: number, sign: 1 | -1): Shape {
  const angle = pose.angle + (pose.mirror ? -1 : 1) * direction;
  const nx = sign * Math.cos(angle);
  const ny = sign * Math.sin(angle);
  return {
    centre: at,
    reach: Number.POSITIVE_INFINITY,
    distance: (x, y) => -((x - at.x) * nx + (y - at.y) * ny),
  };
}

function joined(one: Shape, other: Shape): Shape {
  const x = (one.centre.x + other.centre.x) / 2;
  const y = (one.centre.y + other.centre.y) / 2;
  const away = ({ centre, reach }: Shape) => Math.hypot(centre.x - x, centre.y - y) + reach;
  return {
    centre: { x, y },
    reach: Math.max(away(one), away(other)),
    distance: (px, py) => Math.min(one.distance(px, py), other.distance(px, py)),
  };
}

/**
 * A transverse section of a fetal chest through the four chambers; u points to the back, v to the
 * right of the fetus.
 */
interface ChestSizes {
  /** Half axes of the thorax, including the ribs but not the skin, mm. */
  thorax: { u: number; v: number };
  heart: HeartSizes;
  /**
   * Cardiac axis: the angle in degrees between the septum and the line from spine to sternum,
   * positive to the left.
   */
  axisDegrees: number;
  /** Width of the pericardial fluid, mm. */
  effusionMm: number;
}

interface Chest {
  pieces: Piece[];
  surface: Shape;
  points: Readonly<Record<string, readonly Point[]>>;
}

function ribs(pose: Pose, { u, v }: ChestSizes['thorax'], random: Random): Shape[] {
  const arc = (from: number, to: number): Shape =>
    stroke(
      pose,
      Array.from({ length: 9 }, (_, i) => {
        const t = from + ((to - from) * i) / 8;
        return [0.95 * u * Math.cos(t), 0.95 * v * Math.sin(t)] as const;
      }),
      0.035 * v + 0.3,
    );
  const reach = random.range(1.9, 2.4);
  return [arc(0.35, reach), arc(-reach, -0.35)];
}

/**
 * Builds the chest at a phase of the beat (0 at end diastole): thorax, lungs, ribs, spine,
 * descending aorta and the heart. The base of the heart is near the spine; the apex points to the
 * front and left.
 */
function buildChest(pose: Pose, sizes: ChestSizes, phase: number, random: Random): Chest {
  const { thorax, heart, axisDegrees, effusionMm } = sizes;
  const skin = 0.07 * thorax.v + 0.8;
  const noise = createNoise(random.fork('border'), 14);
  const at = (u: number, v: number, a: number, b: number, turn = 0) =>
    ellipse(pose, { u, v, a, b, turn });
  const wall = at(0, 0, thorax.u, thorax.v);
  const body = wavering(grown(wall, skin), noise, 0.4);
  const turn = (axisDegrees * Math.PI) / 180;
  const look = random.fork('look');
  const lung = { echo: look.range(-31, -21), loss: 0.02, texture: 4 };
  const rib = { ...TISSUE.rib, loss: look.range(0.6, 3) };
  const beating = buildHeart(
    pose,
    {
      centre: { u: -0.12 * thorax.u, v: -0.1 * thorax.v },
      direction: Math.atan2(-Math.sin(turn), -Math.cos(turn)),
    },
    heart,
    phase,
    random.fork('heart'),
  );
  const spine = { u: 0.86 * thorax.u, v: 0 };
  const vertebra = 0.09 * thorax.v + 1;
  const pieces: Piece[] = [
    { shape: body, tissue: TISSUE.skin },
    { shape: grown(wall, 0.3), tissue: TISSUE.subcutis },
    { shape: wall, tissue: TISSUE.muscle, structure: 'thorax' },
    { shape: grown(wall, -0.08 * thorax.v), tissue: lung, structure: 'thorax' },
    ...ribs(pose, thorax, random.fork('ribs')).map(
      (shape): Piece => ({ shape, tissue: rib, structure: 'thorax' }),
    ),
    ...[-1, 1].map(
      (side): Piece => ({
        shape: at(spine.u, side * vertebra, 0.8 * vertebra, 0.55 * vertebra),
        tissue: TISSUE.vertebra,
        structure: 'thorax',
      }),
    ),
    {
      shape: at(spine.u - 0.22 * thorax.u, -0.16 * thorax.v, 0.08 * thorax.v, 0.08 * thorax.v),
      tissue: TISSUE.fetalFluid,
      structure: 'thorax',
    },
    ...(effusionMm > 0
      ? [
          {
            shape: grown(beating.epicardium, effusionMm),
            tissue: TISSUE.fetalFluid,
            structure: 'thorax',
          } satisfies Piece,
        ]
      : []),
    ...beating.pieces,
  ];
  return {
    pieces,
    surface: body,
    points: {
      ...beating.points,
      spineToSternum: [place(pose, thorax.u, 0), place(pose, -thorax.u, 0)],
    },
  };
}

/** Milliseconds per frame, for 30 frames per second. */
const FRAME_TIME_MS = 33.3;

/**
 * Samples the dimensions. `anatomy`: `areaRatio` of heart to thorax (normal 0.25 to 0.35),
 * `axisDegrees` (normal 45; negative: to the right), `beatsPerMinute` (0: no cardiac activity),
 * `effusionMm`, `ventricleRatio`: width of the right divided by that of the left ventricle (near 1
 * before the third trimester).
 */
function drawSizes({ sizes, anatomy = {} }: ViewRequest, random: Random): ChestSizes {
  // The chest is a little narrower than the abdomen of the same fetus.
  const v = (sizes.tadMm / 2) * random.range(0.84, 0.94);
  const u = v * random.range(0.86, 1);
  const areaRatio = anatomy.areaRatio ?? random.range(0.22, 0.38);
  const slenderness = random.range(1.15, 1.35);
  const b = Math.sqrt((areaRatio * u * v) / slenderness);
  return {
    thorax: { u, v },
    heart: {
      a: slenderness * b,
      b,
      ventricleRatio: anatomy.ventricleRatio ?? random.range(0.8, 1.25),
    },
    axisDegrees: anatomy.axisDegrees ?? random.range(28, 62),
    effusionMm: anatomy.effusionMm ?? 0,
  };
}

function borderOf(pose: Pose, { u, v }: ChestSizes['thorax']): Point[] {
  return Array.from({ length: 32 }, (_, i) => {
    const t = (i * Math.PI) / 16;
    return place(pose, 1.1 * u * Math.cos(t), 1.1 * v * Math.sin(t));
  });
}

function simulate(request: ViewRequest): PhantomFrame[] {
  const random = createRandom(request.seed);
  const sizes = drawSizes(request, random.fork('sizes'));
  // The spine is never directly above the heart, because the shadow of the spine and ribs would
  // hide the heart. A spine below the heart casts no shadow on it.
  const turn = Math.PI / 2 + random.range(-1.9, 1.9);
  const mirror = random.fork('mirror').chance(0.5);
  const loose: Pose = { centre: { x: 0, y: 0 }, angle: turn, mirror };
  const border = borderOf(loose, sizes.thorax);
  const extent = {
    across: Math.max(...border.map(({ x }) => Math.abs(x))),
    down: Math.max(...border.map(({ y }) => Math.abs(y))),
  };
  const view = drawVisibleView(extent, border, random.fork('view'), request.screen);
  const beatsPerMinute = request.anatomy?.beatsPerMinute ?? random.range(115, 165);
  const start = random.unit();
  const drift = random.fork('drift');
  const speed = { x: drift.normal(0, 0.03), y: drift.normal(0, 0.03) };
  const { thorax, heart, axisDegrees } = sizes;
  const simulateFrame = createSceneSimulator({
    plane: 'four-chamber',
    view,
    random: random.fork('scene'),
    masks: request.masks ?? true,
  });
  return Array.from({ length: request.frames }, (_, frame) => {
    const centre = { x: view.centre.x + speed.x * frame, y: view.centre.y + speed.y * frame };
    const pose: Pose = { centre, angle: turn, mirror };
    const phase = start + (frame * FRAME_TIME_MS * beatsPerMinute) / 60_000;
    const chest = buildChest(pose, sizes, phase, random.fork('chest'));
    const around = buildUterus(view.sector, chest.surface, view.wallMm, random.fork('uterus'));
    return simulateFrame({
      pieces: [...around, ...chest.pieces],
      points: chest.points,
      values: {
        beatsPerMinute,
        axisDegrees,
        phaseOfBeat: phase - Math.floor(phase),
        areaRatio: (heart.a * heart.b) / (thorax.u * thorax.v),
        thoraxHalfDepth: thorax.u,
        thoraxHalfWidth: thorax.v,
        heartHalfLength: heart.a,
        heartHalfWidth: heart.b,
        ventricleRatio: heart.ventricleRatio,
      },
      speckleSeed: request.seed + 7919 * (frame + 1),
    });
  });
}

/** The beating heart of a fetus on a transverse section of its chest. */
export const fourChamber: PhantomView = {
  id: 'four-chamber',
  ages: { youngest: 126, oldest: 266 },
  simulate,
  header: () => ({ frameTimeMs: FRAME_TIME_MS, attributes: { ViewName: '4CH' } }),
};
