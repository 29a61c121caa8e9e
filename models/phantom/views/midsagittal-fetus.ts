import { type Point, type Pose, place } from '../geometry.ts';
import type { Random } from '../random.ts';
import { ellipse, rim, type Shape } from '../shapes.ts';
import { type Layer, TISSUE } from '../tissue.ts';
import { MEDIAN_TISSUE, unitFrame } from './midsagittal-frame.ts';
import { headLayers } from './midsagittal-head.ts';
import { back, nuchalLayers } from './midsagittal-nape.ts';

/**
 * A fetus of 11 to 14 weeks cut in its median plane. Axes: u from crown to rump, v from face to
 * back, one unit = 1 mm at a crown-rump length of 75 units; the middle of the head is the origin.
 * Proportions follow real mid-sagittal images (positions of the structures relative to the head).
 */
export interface MedianFetus {
  layers: Layer[];
  surface: Shape;
  crown: Point;
  rump: Point;
  /** The widest place of the nuchal translucency, from its inner to its outer border. */
  nuchal: [Point, Point];
  /** Corner points of each structure of the nuchal view, by name. */
  structures: Readonly<Record<string, readonly Point[]>>;
}

export interface MedianSizes {
  crlMm: number;
  ntMm: number;
  nasalBone: boolean;
  /** Of the head against the trunk, radians: positive bends the chin to the chest. */
  flexion: number;
  amnionSeen: boolean;
}

const CROWN = { u: -13.5, v: -1 };
const RUMP = { u: 61.5, v: 3 };
const UNITS = Math.hypot(RUMP.u - CROWN.u, RUMP.v - CROWN.v);
const NECK = { u: 7, v: 9 };

/** Trunk, spine, heart and limbs. */
function trunkLayers(pose: Pose, unit: number, random: Random): Layer[] {
  const { oval, line } = unitFrame(pose, unit);
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
    {
      shape: line(
        [
          [44, -6],
          [47, -12 - rise],
        ],
        0.5,
      ),
      tissue: TISSUE.rib,
    },
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

/** The fetus with its crown-rump length exactly `crlMm` between `crown` and `rump`. */
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
