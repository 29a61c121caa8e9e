import { drawAcquisition, type Screen, type View } from '../acquisition.ts';
import { createExposer, maskOf } from '../exposure.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Ellipse, type Point, type Pose, place, toPixel, toPolar } from '../geometry.ts';
import type { Acquisition } from '../image-formation.ts';
import type { FrameTruth } from '../labels.ts';
import { createNoise, createRandom, type Random } from '../random.ts';
import { ellipse, everywhere, grown, rim, type Shape, stroke, within } from '../shapes.ts';
import { type Layer, risingFrom, TISSUE } from '../tissue.ts';
import type { PhantomView, ViewRequest } from '../view.ts';

/**
 * Symphysis and fetal head in the maternal median plane, seen from the perineum (ISUOG 2018). The
 * mother's front is on the left of the screen, her head at the bottom. Angles are directions on the
 * screen, in radians from +x to +y.
 */
interface Pelvis {
  /** Upper and lower end of the long axis of the symphysis, mm. */
  upper: Point;
  lower: Point;
  halfThicknessMm: number;
  /** Outer border of the skull. */
  head: Ellipse;
  /** Point at which the tangent from the lower end of the symphysis touches the skull. */
  touch: Point;
  angleOfProgression: number;
  /**
   * Distance in mm from the lower end of the symphysis to the skull, perpendicular to the
   * symphysis; null if that line misses the head.
   */
  headSymphysisMm: number | null;
}

const DEGREE = Math.PI / 180;
const direction = (angle: number): Point => ({ x: Math.cos(angle), y: Math.sin(angle) });
const along = (from: Point, way: Point, mm: number): Point => ({
  x: from.x + mm * way.x,
  y: from.y + mm * way.y,
});

/**
 * Returns the vector from the centre of the ellipse to its outermost point in the direction `way`.
 */
function support({ a, b, angle }: Omit<Ellipse, 'centre'>, way: Point): Point {
  const axis = direction(angle);
  const u = way.x * axis.x + way.y * axis.y;
  const v = way.y * axis.x - way.x * axis.y;
  const length = Math.hypot(a * u, b * v);
  const p = (a * a * u) / length;
  const q = (b * b * v) / length;
  return { x: p * axis.x - q * axis.y, y: p * axis.y + q * axis.x };
}

/**
 * Returns the distance in mm from `from` to the first intersection of a ray with an ellipse; null
 * if the ray misses it.
 */
function crossing({ centre, a, b, angle }: Ellipse, from: Point, way: Point): number | null {
  const axis = direction(angle);
  const to = (p: Point) =>
    [(p.x * axis.x + p.y * axis.y) / a, (p.y * axis.x - p.x * axis.y) / b] as const;
  const [ou, ov] = to({ x: from.x - centre.x, y: from.y - centre.y });
  const [du, dv] = to(way);
  const square = du * du + dv * dv;
  const half = (ou * du + ov * dv) / square;
  const rest = half * half - (ou * ou + ov * ov - 1) / square;
  if (rest < 0) return null;
  const distance = -half - Math.sqrt(rest);
  return distance > 0 ? distance : null;
}

function drawPelvis(angleOfProgression: number, random: Random): Pelvis {
  const lower = { x: random.range(-24, -2), y: random.range(16, 32) };
  const tilt = random.range(0, 50) * DEGREE;
  const axis = Math.PI - tilt;
  const upper = along(lower, direction(axis), random.range(30, 42));
  const ray = axis - angleOfProgression * DEGREE;
  const touch = along(lower, direction(ray), random.range(22, 62));
  const shape = {
    a: random.range(48, 60),
    b: random.range(40, 47),
    angle: random.range(0, Math.PI),
  };
  const outermost = support(shape, direction(ray - Math.PI / 2));
  const head = { ...shape, centre: { x: touch.x - outermost.x, y: touch.y - outermost.y } };
  return {
    upper,
    lower,
    halfThicknessMm: random.range(6, 9.5),
    head,
    touch,
    angleOfProgression,
    headSymphysisMm: crossing(head, lower, direction(axis - Math.PI / 2)),
  };
}

function drawView({ upper, touch }: Pelvis, random: Random, screen?: Screen): View {
  const { columns, rows } =
    screen ??
    random.pick([
      { columns: 640, rows: 480 },
      { columns: 800, rows: 600 },
      { columns: 1024, rows: 768 },
    ]);
  const radiusMm = random.range(40, 62);
  const needed = [upper, touch].map(({ x, y }) => Math.abs(Math.atan2(x, y + radiusMm)));
  const halfAngle = Math.min(
    0.78,
    Math.max(random.range(0.55, 0.7), ...needed.map((a) => a + 0.05)),
  );
  const depthMm = random.range(105, 150);
  const rise = radiusMm * (1 - Math.cos(halfAngle));
  const mmPerPixel = (depthMm + rise) / (rows * random.range(0.9, 1));
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: {
      columns,
      rows,
      mmPerPixel,
      origin: {
        x: columns * random.range(0.46, 0.54),
        y: rise / mmPerPixel + rows * random.range(0.005, 0.03),
      },
    },
    centre: { x: 0, y: random.range(35, 70) },
    wallMm: 6,
  };
}

const symphysisPose = ({ upper, lower }: Pelvis): Pose => ({
  centre: { x: (upper.x + lower.x) / 2, y: (upper.y + lower.y) / 2 },
  angle: Math.atan2(lower.y - upper.y, lower.x - upper.x),
  mirror: false,
});

function shapesOf(pelvis: Pelvis): { symphysis: Shape; skull: Shape } {
  const { upper, lower, halfThicknessMm, head } = pelvis;
  const half = Math.hypot(lower.x - upper.x, lower.y - upper.y) / 2;
  return {
    symphysis: ellipse(symphysisPose(pelvis), { u: 0, v: 0, a: half, b: halfThicknessMm }),
    skull: ellipse(
      { centre: head.centre, angle: head.angle, mirror: false },
      { u: 0, v: 0, a: head.a, b: head.b },
    ),
  };
}

/**
 * Returns true if a sonographer would have stored this image, with both structures visible and
 * separate.
 */
function isShown(pelvis: Pelvis, { sector }: View): boolean {
  const { symphysis, skull } = shapesOf(pelvis);
  const seen = ({ x, y }: Point) => {
    const { range, angle } = toPolar(sector, x, y);
    return range > 4 && range < sector.depthMm - 8 && Math.abs(angle) < 0.95 * sector.halfAngle;
  };
  const pose = symphysisPose(pelvis);
  const half = symphysis.reach;
  const apart = Array.from({ length: 24 }, (_, i) => (i * Math.PI) / 12).every((t) => {
    const { x, y } = place(pose, half * Math.cos(t), pelvis.halfThicknessMm * Math.sin(t));
    return skull.distance(x, y) > 4;
  });
  return (
    apart && [pelvis.upper, pelvis.lower, pelvis.touch].every(seen) && skull.distance(0, 0) > 8
  );
}

function buildLayers(pelvis: Pelvis, random: Random): Layer[] {
  const { symphysis, skull } = shapesOf(pelvis);
  const grain = createNoise(random.fork('grain'), 1);
  const striped = (x: number, y: number) => 8 * grain(x / 6, y / 1.3);
  const headPose: Pose = { centre: pelvis.head.centre, angle: pelvis.head.angle, mirror: false };
  const { a, b } = pelvis.head;
  const inside = grown(skull, -2);
  const bladder = ellipse(
    {
      centre: along(pelvis.upper, { x: 0.5, y: 0.87 }, random.range(14, 20)),
      angle: random.range(-0.4, 0.4),
      mirror: false,
    },
    { u: 0, v: 0, a: random.range(8, 18), b: random.range(3, 6) },
  );
  const rectum = stroke(
    { centre: { x: 40, y: 12 }, angle: random.range(0.9, 1.4), mirror: false },
    [
      [0, 0],
      [45, random.range(-8, 8)],
    ],
    random.range(3, 7),
  );
  const moulding = random.chance(0.3) ? random.range(4, 12) : random.range(2, 4);
  const midline = stroke(
    headPose,
    [
      [-0.85 * a, random.normal(0, 4)],
      [0.85 * a, random.normal(0, 4)],
    ],
    0.5,
  );
  const bone = random.range(1.8, 2.8);
  return [
    { shape: everywhere, tissue: TISSUE.maternalMuscle, modulation: striped },
    {
      shape: { ...everywhere, distance: (x, y) => y - 12 - 3 * grain(x / 12, 3) },
      tissue: TISSUE.maternalFat,
      modulation: striped,
    },
    { shape: rectum, tissue: { ...TISSUE.muscle, echo: -38 } },
    { shape: { ...everywhere, distance: (x, y) => y - 2 - grain(x / 9, 0) }, tissue: TISSUE.skin },
    ...(random.chance(0.5) ? [{ shape: bladder, tissue: TISSUE.fetalFluid }] : []),
    { shape: grown(skull, moulding), tissue: TISSUE.scalp, rigid: true as const },
    { shape: inside, tissue: TISSUE.brain, rigid: true as const },
    ...(random.chance(0.6) ? [{ shape: within(midline, inside), tissue: TISSUE.membrane }] : []),
    ...Array.from({ length: random.integer(2, 8) }, () => ({
      shape: within(
        ellipse(headPose, {
          u: random.range(-0.7, 0.7) * a,
          v: random.range(-0.7, 0.7) * b,
          a: random.range(1, 7),
          b: random.range(0.6, 2),
          turn: random.range(0, Math.PI),
        }),
        inside,
      ),
      tissue: TISSUE.basalGanglia,
    })),
    {
      shape: rim(skull, bone),
      // A skull at term lets part of the beam through: structures behind it are dim but still
      // visible.
      tissue: { ...TISSUE.skull, loss: random.range(0.8, 2) },
      rigid: true,
      modulation: risingFrom(skull, { depthMm: 0.8, dip: 20 }),
    },
    {
      shape: symphysis,
      tissue: { echo: random.range(-40, -27), loss: 0.1, texture: 5 },
      rigid: true,
    },
    {
      shape: rim(symphysis, random.range(0.8, 1.6)),
      tissue: { ...TISSUE.fascia, echo: -20, mirror: -6 },
      rigid: true,
    },
  ];
}

function truthOf(pelvis: Pelvis, acquisition: Acquisition): FrameTruth {
  const { window } = acquisition;
  const { head } = pelvis;
  const axis = direction(head.angle);
  const pixel = (point: Point) => toPixel(window, point);
  const { symphysis, skull } = shapesOf(pelvis);
  return {
    plane: 'transperineal',
    mmPerPixel: window.mmPerPixel,
    values: {
      angleOfProgressionDegrees: pelvis.angleOfProgression,
      ...(pelvis.headSymphysisMm === null ? {} : { headSymphysisMm: pelvis.headSymphysisMm }),
    },
    points: {
      symphysis: [pixel(pelvis.upper), pixel(pelvis.lower)],
      tangent: [pixel(pelvis.lower), pixel(pelvis.touch)],
      headAxis: [pixel(along(head.centre, axis, -head.a)), pixel(along(head.centre, axis, head.a))],
    },
    masks: { symphysis: maskOf(acquisition, symphysis), head: maskOf(acquisition, skull) },
  };
}

function simulate(request: ViewRequest): PhantomFrame[] {
  const random = createRandom(request.seed);
  const angle = request.anatomy?.angleOfProgressionDegrees ?? random.fork('angle').range(75, 165);
  let pelvis = drawPelvis(angle, random.fork('pelvis 0'));
  let view = drawView(pelvis, random.fork('view 0'), request.screen);
  for (let attempt = 1; attempt < 400 && !isShown(pelvis, view); attempt++) {
    pelvis = drawPelvis(angle, random.fork(`pelvis ${attempt}`));
    view = drawView(pelvis, random.fork(`view ${attempt}`), request.screen);
  }
  const acquisition = drawAcquisition(view, random.fork('acquisition'));
  const scene = buildLayers(pelvis, random.fork('layers'));
  const truth = truthOf(pelvis, acquisition);
  const expose = createExposer(acquisition, random);
  return Array.from({ length: request.frames }, (_, index) =>
    expose({ scene, truth, speckleSeed: request.seed + 7919 * (index + 1) }),
  );
}

/** Median plane in labour. `anatomy`: `angleOfProgressionDegrees`, 75 to 165. */
export const transperineal: PhantomView = {
  id: 'transperineal',
  ages: { youngest: 259, oldest: 287 },
  simulate,
};
