import { locate } from '../exposure.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import type { Random } from '../random.ts';
import { ellipse, grown, rim, type Shape, stroke, within } from '../shapes.ts';
import { type Layer, risingFrom, TISSUE, type Tissue } from '../tissue.ts';

/** A position along (u) and across (v) a part of the fetus, in that part's own units. */
type UV = readonly [u: number, v: number];

/** Tissues that differ from `TISSUE` at 11 to 14 weeks, when fetal bone is still thin. */
const MEDIAN_TISSUE = {
  body: { echo: -33, loss: 0.01, texture: 6 },
  faceBone: { echo: -15, mirror: 2, loss: 0.5, texture: 3, rough: 8 },
  nuchalLine: { echo: -17, mirror: 3, loss: 0.05, texture: 3, rough: 6 },
} as const satisfies Record<string, Tissue>;

/**
 * Returns functions that build shapes for a part of the fetus in the given pose. Coordinates are
 * multiples of `unit`; `unit` and the radii of lines are in mm.
 */
function unitFrame(pose: Pose, unit: number) {
  const line = (points: readonly UV[], radius: number): Shape =>
    stroke(
      pose,
      points.map(([u, v]) => [u * unit, v * unit] as const),
      radius,
    );
  return {
    at: (u: number, v: number): Point => place(pose, u * unit, v * unit),
    oval: (u: number, v: number, a: number, b: number, turn = 0): Shape =>
      ellipse(pose, { u: u * unit, v: v * unit, a: a * unit, b: b * unit, turn }),
    line,
    segment: (from: UV, to: UV, radius: number): Shape => line([from, to], radius),
  };
}
type UnitFrame = ReturnType<typeof unitFrame>;

/** Returns the corner points of the structures in a nuchal view, by name. */
function headBoxes({ at }: UnitFrame, nasalBone: boolean): Record<string, readonly Point[]> {
  const corners = (u: number, v: number, wide: number, high: number): Point[] => {
    const [left, right, top, bottom] = [u - wide / 2, u + wide / 2, v - high / 2, v + high / 2];
    return [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
  };
  return {
    thalami: corners(-0.3, -0.7, 8.9, 6.5),
    midbrain: corners(-1.6, 6.8, 5.7, 8),
    IT: corners(3.2, 9.7, 7.5, 2.7),
    CM: corners(4, 13.2, 8.7, 2.2),
    palate: corners(13.2, -4.8, 10.5, 7),
    'nasal skin': corners(11.4, -12.8, 2.9, 1),
    'nasal tip': corners(14.2, -12.9, 2.9, 1),
    ...(nasalBone && { 'nasal bone': corners(10.9, -10.9, 4.2, 1.6) }),
  };
}

/** Builds the brain within the skull. */
function brainLayers({ oval, segment }: UnitFrame, inside: Shape, random: Random): Layer[] {
  const tilt = random.normal(0, 0.08);
  const brain = (shape: Shape, tissue: Layer['tissue']): Layer => ({
    shape: within(shape, inside),
    tissue,
  });
  return [
    { shape: inside, tissue: { ...TISSUE.brain, echo: -37 } },
    brain(oval(-6, -6, 5, 4.5, 0.4), TISSUE.fetalFluid),
    brain(oval(-7, -4, 3.4, 2.6), TISSUE.choroidPlexus),
    brain(oval(-0.3, -0.7, 4.4, 3.2, tilt), TISSUE.thalamus),
    brain(segment([-5, -4], [3, -4.4], 0.3), TISSUE.basalGanglia),
    brain(oval(-1.6, 6.8, 2.8, 4, tilt), { echo: -41, loss: 0, texture: 2 }),
    brain(segment([-4.6, 3.6], [1.4, 3.2], 0.3), TISSUE.basalGanglia),
    brain(oval(3.2, 9.7, 3.7, 1.3, 0.1), TISSUE.fetalFluid),
    brain(segment([-0.4, 8.2], [6.8, 8.4], 0.3), TISSUE.membrane),
    brain(segment([-0.2, 11.4], [7, 11.3], 0.4), TISSUE.membrane),
    brain(oval(4, 13.2, 4.2, 1.1, 0.05), TISSUE.fetalFluid),
  ];
}

/** Builds the vault over the forehead and the thinner bone at the back of the head. */
function skullLayers({ oval, line }: UnitFrame, skull: Shape, unit: number): Layer[] {
  const vault: readonly UV[] = [
    [-13, -4],
    [-10, -13],
    [0, -15],
    [8, -12],
  ];
  return [
    {
      shape: within(rim(skull, Math.max(0.5, 0.55 * unit)), line(vault, 5 * unit)),
      tissue: TISSUE.skull,
    },
    {
      shape: within(rim(skull, Math.max(0.4, 0.5 * unit)), oval(-9, 7, 12, 12)),
      tissue: { ...TISSUE.skull, mirror: 0, loss: 0.6 },
    },
  ];
}

/** Builds the palate, the mandible, the skin over the nose, its tip and the nasal bone. */
function faceLayers(
  { segment }: UnitFrame,
  unit: number,
  nasalBone: boolean,
  random: Random,
): Layer[] {
  const { faceBone } = MEDIAN_TISSUE;
  const layers = [
    { shape: segment([8.4, -6.8], [17.2, -2.4], 0.9 * unit), tissue: faceBone },
    { shape: segment([14.5, 2.6], [18.5, -0.4], 0.7 * unit), tissue: faceBone },
    { shape: segment([10.2, -12.8], [12.7, -12.8], 0.35), tissue: TISSUE.skin },
    { shape: segment([13, -12.7], [15.2, -12.9], 0.45), tissue: TISSUE.skin },
  ];
  if (!nasalBone) return layers;
  const bone = segment([9.2, -11], [12.6, -10.8], random.range(0.45, 0.75));
  return [...layers, { shape: bone, tissue: faceBone }];
}

/**
 * Builds brain, face and skull in the axes of the head, which is rotated by flexion. Also returns
 * the corner points of the structures in a nuchal view.
 */
function headLayers(
  pose: Pose,
  unit: number,
  { nasalBone }: { nasalBone: boolean },
  random: Random,
) {
  const frame = unitFrame(pose, unit);
  const { oval } = frame;
  const skull = oval(-0.5, 0.5, 13, 15);
  const layers: Layer[] = [
    { shape: oval(12, -5, 5.5, 8, 0.5), tissue: MEDIAN_TISSUE.body },
    { shape: oval(17, -2.5, 3, 4.5, 0.6), tissue: MEDIAN_TISSUE.body },
    ...brainLayers(frame, grown(skull, -0.5), random),
    ...skullLayers(frame, skull, unit),
    ...faceLayers(frame, unit, nasalBone, random),
  ];
  return { layers, boxes: headBoxes(frame, nasalBone) };
}

/** Positions along the back at which the lucency begins, ends and is widest. */
const LUCENCY = { from: 5, to: 33, widest: 16 } as const;

const lucencyShare = (u: number) => {
  const t =
    u < LUCENCY.widest
      ? (u - LUCENCY.from) / (LUCENCY.widest - LUCENCY.from)
      : (LUCENCY.to - u) / (LUCENCY.to - LUCENCY.widest);
  return Math.sin((Math.PI / 2) * Math.max(0, Math.min(1, t))) ** 0.8;
};

/**
 * Returns the dorsal border of the soft tissue. The lucency lies between this border and the skin.
 */
const back = (u: number) => 16.2 - 0.0035 * (u - 20) ** 2;

/** Returns the region between two dorsal curves, over `range` in units along the back. */
function band(
  pose: Pose,
  unit: number,
  range: UV,
  inner: (u: number) => number,
  outer: (u: number) => number,
): Shape {
  const middle = (range[0] + range[1]) / 2;
  return {
    centre: place(pose, middle * unit, inner(middle) * unit),
    reach: ((range[1] - range[0]) / 2 + 8) * unit,
    distance: (x, y) => {
      const at = locate(pose, x, y);
      const u = at.u / unit;
      const v = at.v / unit;
      return unit * Math.max(range[0] - u, u - range[1], inner(u) - v, v - outer(u));
    },
  };
}

/**
 * Builds the back: soft tissue under a bright line, the lucency, the skin, and the amnion behind
 * it.
 */
function nuchalLayers(
  pose: Pose,
  unit: number,
  sizes: { ntMm: number; amnionSeen: boolean },
  random: Random,
) {
  const thickness = (u: number) => Math.max(0.3, sizes.ntMm * lucencyShare(u)) / unit;
  const skin = random.range(0.55, 0.85) / unit;
  const whole: UV = [2, 58];
  const outer = (u: number) => back(u) + thickness(u);
  const amnionAt = random.range(2.5, 6) / unit;
  const amnion = (u: number) => outer(u) + skin + amnionAt + 0.002 * (u - 25) ** 2;
  const layers: Layer[] = [
    {
      shape: band(
        pose,
        unit,
        whole,
        () => 6,
        (u) => back(u),
      ),
      tissue: MEDIAN_TISSUE.body,
    },
    {
      shape: band(pose, unit, [3, 56], (u) => back(u) - 0.75 / unit, back),
      tissue: MEDIAN_TISSUE.nuchalLine,
      rigid: true,
      modulation: risingFrom(
        band(pose, unit, whole, () => -50, back),
        { depthMm: 0.4, dip: 10 },
      ),
    },
    { shape: band(pose, unit, whole, back, outer), tissue: TISSUE.fetalFluid, rigid: true },
    {
      shape: band(pose, unit, whole, outer, (u) => outer(u) + skin),
      tissue: MEDIAN_TISSUE.nuchalLine,
      rigid: true,
      modulation: risingFrom(
        band(pose, unit, whole, outer, () => 90),
        { depthMm: 0.4, dip: 10 },
      ),
    },
    ...(sizes.amnionSeen
      ? [
          {
            shape: band(pose, unit, [-4, 50], amnion, (u) => amnion(u) + 0.5 / unit),
            tissue: TISSUE.membrane,
          },
        ]
      : []),
  ];
  const { at } = unitFrame(pose, unit);
  const widest = LUCENCY.widest;
  const nuchal: [Point, Point] = [at(widest, back(widest)), at(widest, outer(widest))];
  const seen = [LUCENCY.from + 1, LUCENCY.to - 4] as const;
  const box = seen.flatMap((u) => [at(u, back(u)), at(u, outer(u))]).concat(nuchal);
  return { layers, nuchal, box };
}

/**
 * A median section of a fetus at 11 to 14 weeks. Axes: u from crown to rump, v from face to back,
 * with the origin in the middle of the head. One unit is 1 mm for a crown-rump length of 75 mm.
 * Proportions follow real midsagittal images (positions of the structures relative to the head).
 */
export interface MedianFetus {
  layers: Layer[];
  surface: Shape;
  crown: Point;
  rump: Point;
  /** Line across the widest part of the nuchal translucency, from its inner to its outer border. */
  nuchal: [Point, Point];
  /** Corner points of each structure in the nuchal view, by name. */
  structures: Readonly<Record<string, readonly Point[]>>;
}

export interface MedianSizes {
  crlMm: number;
  ntMm: number;
  nasalBone: boolean;
  /** Flexion of the head against the trunk in radians, positive with the chin towards the chest. */
  flexion: number;
  amnionSeen: boolean;
}

const CROWN = { u: -13.5, v: -1 };
const RUMP = { u: 61.5, v: 3 };
const UNITS = Math.hypot(RUMP.u - CROWN.u, RUMP.v - CROWN.v);
const NECK = { u: 7, v: 9 };

/** Builds the trunk, spine, heart and limbs. */
function trunkLayers(pose: Pose, unit: number, random: Random): Layer[] {
  const { oval, line, segment } = unitFrame(pose, unit);
  const trunk = oval(38, 4.5, 24, 11.2, random.normal(0, 0.02));
  const vertebrae = Array.from({ length: 14 }, (_, i) =>
    oval(12 + 3.3 * i, back(12 + 3.3 * i) - 3.6, 1.1, 0.8),
  );
  const rise = random.range(-6, 4);
  return [
    {
      shape: line(
        [
          [43, -4],
          [47, -12 - rise],
          [56, -9 - rise],
        ],
        2.6 * unit,
      ),
      tissue: TISSUE.muscle,
    },
    { shape: segment([44, -6], [47, -12 - rise], 0.5), tissue: TISSUE.rib },
    { shape: oval(14, 7.5, 11, 8), tissue: MEDIAN_TISSUE.body },
    { shape: trunk, tissue: MEDIAN_TISSUE.body },
    { shape: rim(trunk, 0.5), tissue: TISSUE.skin },
    { shape: oval(27, 1.5, 3.6, 3), tissue: { echo: -46, loss: 0, texture: 3 } },
    { shape: oval(37, 1, 6, 5), tissue: TISSUE.liver },
    { shape: oval(40, 5.5, 1.8, 1.3), tissue: TISSUE.fetalFluid },
    { shape: oval(54, 0.5, 2, 1.4), tissue: TISSUE.fetalFluid },
    ...vertebrae.map((shape) => ({ shape, tissue: { ...TISSUE.vertebra, loss: 1 } })),
  ];
}

/** Builds the fetus. The distance between `crown` and `rump` is exactly `crlMm`. */
export function buildMedianFetus(pose: Pose, sizes: MedianSizes, random: Random): MedianFetus {
  const unit = sizes.crlMm / UNITS;
  const pivot = place(pose, NECK.u * unit, NECK.v * unit);
  const turned = { ...pose, angle: pose.angle + (pose.mirror ? -1 : 1) * sizes.flexion };
  const offset = place({ ...turned, centre: { x: 0, y: 0 } }, NECK.u * unit, NECK.v * unit);
  const headPose: Pose = { ...turned, centre: { x: pivot.x - offset.x, y: pivot.y - offset.y } };
  const head = headLayers(headPose, unit, sizes, random.fork('head'));
  const body = trunkLayers(pose, unit, random.fork('trunk'));
  const nape = nuchalLayers(pose, unit, sizes, random.fork('nape'));
  const surface = ellipse(pose, { u: 24 * unit, v: 3 * unit, a: 39 * unit, b: 18 * unit });
  return {
    layers: [...body, ...nape.layers, ...head.layers],
    surface,
    crown: place(pose, CROWN.u * unit, CROWN.v * unit),
    rump: place(pose, RUMP.u * unit, RUMP.v * unit),
    nuchal: nape.nuchal,
    structures: { ...head.boxes, NT: nape.box },
  };
}
