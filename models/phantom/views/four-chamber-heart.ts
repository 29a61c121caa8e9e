import { type Point, type Pose, place } from '../geometry.ts';
import type { Random } from '../random.ts';
import { ellipse, grown, rim, type Shape, stroke, within, without } from '../shapes.ts';
import { TISSUE, type Tissue } from '../tissue.ts';
import type { Piece } from './scene.ts';

export interface HeartSizes {
  /** Half axes in end diastole, along and across the septum, mm. */
  a: number;
  b: number;
  /** Right to left ventricle, across, in end diastole. */
  ventricleRatio: number;
}

/** Where the heart lies in the chest: middle of the epicardium, and the way of the apex, radians. */
export interface HeartPlace {
  centre: { u: number; v: number };
  direction: number;
}

export interface Heart {
  pieces: Piece[];
  epicardium: Shape;
  points: { septum: [Point, Point] };
}

/** How much the chambers are emptied over the beat, 0 in end diastole to 1 in end systole. */
export function systole(phase: number): number {
  const p = phase - Math.floor(phase);
  return p < 0.4
    ? Math.sin((Math.PI / 2) * (p / 0.4)) ** 2
    : Math.cos((Math.PI / 2) * ((p - 0.4) / 0.6)) ** 2;
}

type Along = readonly [forward: number, side: number];

/**
 * Four chambers that fill the epicardium up to their walls, a septum from crux to apex, valves that
 * open in diastole. The plane of the valves moves to the apex in systole; the ventricles empty and the
 * atria fill meanwhile.
 */
export function buildHeart(
  pose: Pose,
  { centre, direction }: HeartPlace,
  { a, b, ventricleRatio }: HeartSizes,
  phase: number,
  random: Random,
): Heart {
  const squeeze = systole(phase);
  const cos = Math.cos(direction);
  const sin = Math.sin(direction);
  // Millimetres along the septum and across it; the right ventricle lies on the positive side.
  const uv = ([forward, side]: Along): [number, number] => [
    centre.u + forward * cos - side * sin,
    centre.v + forward * sin + side * cos,
  ];
  const line = (points: readonly Along[], radius: number) => stroke(pose, points.map(uv), radius);
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
  // The septum stands where it gives the ventricles their ratio, and meets the crux in the middle.
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
  const interatrial: Along[] = [
    [valvesAt, 0],
    [-a, 0],
  ];
  const atrialWall = grown(epicardium, -(0.6 * wall + 0.12 * b * (1 - squeeze)));
  const blood: Tissue = { ...TISSUE.fetalFluid, echo: random.range(-62, -48) };
  const muscle: Tissue = { echo: random.range(-38, -27), loss: 0.02, texture: 5 };
  const membrane: Tissue = { ...TISSUE.membrane, echo: random.range(-32, -21) };
  const moderator = random.range(0.55, 0.75);
  const opening = (1 - squeeze) * random.range(0.3, 0.45) * b;
  const leaflet = (side: 1 | -1): Shape => {
    const lateral: Along = [valvesAt, side * (b - wall) * 0.82];
    const hinge: Along = [valvesAt + (side > 0 ? 0.04 * a : 0), 0];
    const middle: Along = [valvesAt + opening, side * 0.42 * b];
    const gap = 0.5 * opening;
    return opening > 0.15 * b
      ? joined(
          line([hinge, [middle[0], middle[1] - side * gap]], 0.35),
          line([lateral, [middle[0], middle[1] + side * gap]], 0.35),
        )
      : line([hinge, [valvesAt + 0.05 * a, side * 0.42 * b], lateral], 0.4);
  };
  const heart = (shape: Shape, tissue: Tissue): Piece => ({ shape, tissue, structure: 'heart' });
  return {
    epicardium,
    pieces: [
      heart(epicardium, muscle),
      heart(rim(epicardium, 0.5), { ...membrane, echo: membrane.echo - random.range(0, 14) }),
      heart(without(within(inner, ahead), [septumShape]), blood),
      heart(without(within(atrialWall, behind), [line(interatrial, 0.5 + 0.04 * b)]), blood),
      heart(
        line(
          [
            [valvesAt, 0],
            [-0.95 * a, 0],
          ],
          0.35,
        ),
        membrane,
      ),
      heart(line(septal.slice(0, 3), 0.35 + 0.2 * septum), membrane),
      heart(within(leaflet(1), epicardium), membrane),
      heart(within(leaflet(-1), epicardium), membrane),
      heart(
        within(
          line(
            [
              [moderator * a, 0.1 * b],
              [(moderator + 0.12) * a, 0.7 * b],
            ],
            0.08 * b,
          ),
          epicardium,
        ),
        muscle,
      ),
    ],
    points: {
      septum: [place(pose, ...uv([valvesAt, 0])), place(pose, ...uv([a * shrink, 0]))],
    },
  };
}

/** The side of a line through `at` that `direction` (of the pose, times `sign`) points to. */
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

/** All that lies in one of two shapes. */
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
