import type { Moment } from './motion.ts';
import type { HeartSizes } from './sizes.ts';
import { across, dot, type Place, sum, unit } from './space.ts';
import type { Ventricle } from './ventricle.ts';

/** Returns a signed distance in mm, negative inside. It is exact on the border. */
type Distance = (x: number, y: number, z: number) => number;

interface Ellipsoid {
  centre: Place;
  /** Direction of the half axis `a`. `b` is across it, `c` along the long axis of the heart. */
  axis: Place;
  a: number;
  b: number;
  c: number;
}

function ellipsoid({ centre, axis, a, b, c }: Ellipsoid): Distance {
  return (x, y, z) => {
    const dx = x - centre.x;
    const dy = y - centre.y;
    const u = (dx * axis.x + dy * axis.y) / a;
    const v = (dy * axis.x - dx * axis.y) / b;
    const w = (z - centre.z) / c;
    const level = Math.sqrt(u * u + v * v + w * w);
    if (level < 1e-6) return -Math.min(a, b, c);
    const slope = Math.sqrt((u / a) ** 2 + (v / b) ** 2 + (w / c) ** 2) / level;
    return (level - 1) / slope;
  };
}

/** Returns the distance to a tube: all points within `radius` of a chain of points. */
function tube(points: readonly Place[], radius: number): Distance {
  return (x, y, z) => {
    let nearest = Number.POSITIVE_INFINITY;
    for (let i = 1; i < points.length; i++) {
      const from = points[i - 1] as Place;
      const to = points[i] as Place;
      const dx = to.x - from.x;
      const dy = to.y - from.y;
      const dz = to.z - from.z;
      const px = x - from.x;
      const py = y - from.y;
      const pz = z - from.z;
      const along = (px * dx + py * dy + pz * dz) / (dx * dx + dy * dy + dz * dz);
      const t = Math.max(0, Math.min(1, along));
      const ex = px - t * dx;
      const ey = py - t * dy;
      const ez = pz - t * dz;
      nearest = Math.min(nearest, ex * ex + ey * ey + ez * ez);
    }
    return Math.sqrt(nearest) - radius;
  };
}

/** Angle of the bull's-eye at which the aorta begins: the anteroseptal wall. */
export const OUTFLOW_ANGLE = 150;

/**
 * Direction in which the aortic root leans: away from the four-chamber plane, which it must not
 * enter.
 */
const ROOT_LEAN_ANGLE = 126;

/**
 * Returns the distance in mm from the aortic annulus to the long axis, given the radius of the
 * ventricle's base.
 */
const rootOutMm = (baseRadiusMm: number) => Math.max(16, 0.88 * baseRadiusMm);

/** The aortic root, a tube leaving the ventricle obliquely. Its axis begins at the annulus. */
interface AorticRoot {
  annulus: Place;
  direction: Place;
  /**
   * Returns a place's position along the axis of the root (negative in the outflow tract) and its
   * distance to the inner wall.
   */
  at(x: number, y: number, z: number): { along: number; inner: number };
  radius(along: number): number;
}

/** Length of the part of the outflow tract inside the ventricle, mm. */
export const OUTFLOW_MM = 13;

function createAorta(sizes: HeartSizes, ventricle: Ventricle): AorticRoot {
  const { annulusMm, sinusMm, ascendingMm } = sizes.aorta;
  const away = across(OUTFLOW_ANGLE);
  const base = sizes.ventricle.radiusMm * sizes.ventricle.baseShare;
  const annulus = sum([rootOutMm(base), away], [ventricle.baseZ + 2, { x: 0, y: 0, z: 1 }]);
  const direction = unit(sum([0.5, across(ROOT_LEAN_ANGLE)], [-1, { x: 0, y: 0, z: 1 }]));
  const radius = (along: number) => {
    if (along < 0) return annulusMm / 2;
    const bulge = Math.exp(-(((along - 11) / 8) ** 2));
    const tract = annulusMm / 2 + (ascendingMm / 2 - annulusMm / 2) * Math.min(1, along / 24);
    return tract + Math.max(0, sinusMm / 2 - (annulusMm + ascendingMm) / 4) * bulge;
  };
  return {
    annulus,
    direction,
    radius,
    at: (x, y, z) => {
      const from = { x: x - annulus.x, y: y - annulus.y, z: z - annulus.z };
      const along = dot(from, direction);
      const out = Math.sqrt(Math.max(0, dot(from, from) - along * along));
      return { along, inner: out - radius(along) };
    },
  };
}

/**
 * Angle of the middle of the right ventricle around the left ventricle, and the angle that it
 * covers on either side, degrees.
 */
const RIGHT = { angle: 195, reach: 82 } as const;

/**
 * Distance from the middle of the atrium to the mitral plane, as a share of the atrium's half
 * length.
 */
const ATRIUM_BELOW = 0.6;

/** Share of the ellipsoid's volume that remains after the mitral plane cuts it at ATRIUM_BELOW. */
const ATRIUM_SHARE = 1 - ((1 - ATRIUM_BELOW) ** 2 * (2 + ATRIUM_BELOW)) / 4;

/**
 * Returns the distance to a chamber that the aortic root indents. `root` is the distance to the
 * inner wall of the root.
 */
type DistanceBesideRoot = (x: number, y: number, z: number, root: number) => number;

export interface Chambers {
  aorta: AorticRoot;
  leftAtrium: DistanceBesideRoot;
  leftAtriumMl: number;
  atriumMiddle: Place;
  rightAtrium: DistanceBesideRoot;
  /**
   * Returns the distance to the right ventricle without its outflow tract. `epicardium` is the
   * distance to the left ventricular epicardium. Outside the wall, the fluid and the pericardium,
   * the distance may be underestimated, but never so much that a place would count as part of them.
   */
  rightVentricle(x: number, y: number, z: number, epicardium: number): number;
  /**
   * Distance to the right ventricular outflow tract and the pulmonary trunk. `pulmonaryValve`
   * separates them.
   */
  outflow: DistanceBesideRoot;
  pulmonaryValve: Place;
  tricuspidZ: number;
  /**
   * Returns the inner width of the right ventricle from the septum outwards; negative outside the
   * ventricle.
   */
  rightWidth(angle: number, z: number): number;
  /** Middle of the tricuspid annulus and half its width. */
  tricuspid: { centre: Place; radiusMm: number };
  descendingAorta: Distance;
}

const ALONG_HEART: Place = { x: 0, y: 0, z: 1 };

/** Angle of the bull's-eye towards the right atrium and the tricuspid valve. */
const RIGHT_BASE_ANGLE = 205;

/** Thickness of the atrial septum, mm. */
const SEPTUM_MM = 2.5;

function leftAtriumAt({ leftAtrium }: HeartSizes, moment: Moment, baseZ: number) {
  const ml = leftAtrium.volumeMl * (1 - leftAtrium.emptying * (1 - moment.reservoir));
  const half =
    ((1000 * ml) / (ATRIUM_SHARE * (4 / 3) * Math.PI * leftAtrium.slenderness)) ** (1 / 3);
  const centre = sum(
    [0.25 * half, across(OUTFLOW_ANGLE + 180)],
    [baseZ - ATRIUM_BELOW * leftAtrium.slenderness * half, ALONG_HEART],
  );
  const body = ellipsoid({
    centre,
    axis: across(0),
    a: half * 1.04,
    b: half / 1.04,
    c: leftAtrium.slenderness * half,
  });
  return { ml, centre, body };
}

/** Thickness of the pericardium, mm. */
export const PERICARDIUM_MM = 1.6;

function rightVentricleAt(
  { rightVentricle, effusionMm }: HeartSizes,
  moment: Moment,
  apexZ: number,
) {
  const tricuspidZ = 5 + rightVentricle.tapseMm * moment.squeeze;
  const basalMm = rightVentricle.basalMm * (1 - rightVentricle.narrowing * moment.squeeze);
  const rightApexZ = rightVentricle.lengthShare * apexZ;
  const widthAt = (angle: number, z: number) => {
    const from = Math.min(1.15, (rightApexZ - z) / (rightApexZ - tricuspidZ));
    const off = Math.abs(((angle - RIGHT.angle + 540) % 360) - 180);
    if (from <= 0 || off >= RIGHT.reach) return -1;
    const level = (1 - Math.max(0, 1 - from) ** 1.7) ** 0.85;
    return basalMm * level * Math.cos((off / RIGHT.reach) * (Math.PI / 2)) ** 0.65;
  };
  const nearMm = rightVentricle.wallMm + effusionMm + PERICARDIUM_MM;
  const body: Chambers['rightVentricle'] = (x, y, z, epicardium) => {
    const least = Math.max(epicardium - basalMm, tricuspidZ - z);
    if (least > nearMm) return least;
    const beyond = widthAt((Math.atan2(y, x) * 180) / Math.PI, z);
    if (beyond < 0) return Number.POSITIVE_INFINITY;
    return Math.max(epicardium - beyond, -epicardium, tricuspidZ - z);
  };
  return { tricuspidZ, basalMm, widthAt, body };
}

function rightAtriumAt(
  { rightAtrium, rightVentricle }: HeartSizes,
  moment: Moment,
  septumOut: number,
  tricuspidZ: number,
): Distance {
  const half = rightAtrium.radiusMm * (1 + 0.1 * moment.reservoir);
  return ellipsoid({
    centre: sum(
      [septumOut + 0.5 * rightVentricle.basalMm, across(RIGHT_BASE_ANGLE)],
      [tricuspidZ - 0.85 * rightAtrium.slenderness * half, ALONG_HEART],
    ),
    axis: across(RIGHT_BASE_ANGLE),
    a: half,
    b: 1.05 * half,
    c: rightAtrium.slenderness * half,
  });
}

export function chambersAt(
  sizes: HeartSizes,
  moment: Moment,
  ventricle: Ventricle,
  diastolic: Ventricle,
): Chambers {
  const aorta = createAorta(sizes, ventricle);
  const { baseZ } = ventricle;
  const baseRadius = diastolic.radius(0, 1);
  const septumOut = baseRadius + diastolic.wall(RIGHT_BASE_ANGLE, 1);
  const left = leftAtriumAt(sizes, moment, baseZ);
  const right = rightVentricleAt(sizes, moment, diastolic.apexZ);
  const rightAtrium = rightAtriumAt(sizes, moment, septumOut, right.tricuspidZ);

  const rootOut = rootOutMm(baseRadius) + sizes.aorta.sinusMm / 2;
  const outflowRadius = 11.5 * (1 - 0.15 * moment.squeeze);
  const pulmonaryValve = sum([rootOut + 13, across(118)], [baseZ - 26, ALONG_HEART]);
  const outflow = tube(
    [
      sum([septumOut + 11, across(150)], [baseZ + 18, ALONG_HEART]),
      sum([rootOut + 17, across(132)], [baseZ - 10, ALONG_HEART]),
      pulmonaryValve,
      sum([rootOut + 8, across(112)], [baseZ - 46, ALONG_HEART]),
    ],
    outflowRadius,
  );
  const descending = sum([baseRadius + 26, across(-32)], [baseZ - 26, ALONG_HEART]);
  return {
    aorta,
    leftAtriumMl: left.ml,
    atriumMiddle: left.centre,
    leftAtrium: (x, y, z, root) => Math.max(left.body(x, y, z), -root + 2.5),
    rightAtrium: (x, y, z, root) => {
      const body = rightAtrium(x, y, z);
      if (body > 30) return body;
      const besideLeft = SEPTUM_MM - left.body(x, y, z);
      return Math.max(body, z - right.tricuspidZ, besideLeft, 3 - root);
    },
    rightVentricle: right.body,
    outflow: (x, y, z, root) => Math.max(outflow(x, y, z), 2.5 - root),
    pulmonaryValve,
    tricuspidZ: right.tricuspidZ,
    rightWidth: right.widthAt,
    tricuspid: {
      centre: sum(
        [septumOut + 0.5 * right.basalMm, across(RIGHT_BASE_ANGLE)],
        [right.tricuspidZ, ALONG_HEART],
      ),
      radiusMm: 0.48 * right.basalMm,
    },
    descendingAorta: tube(
      [sum([1, descending], [-30, across(60)]), sum([1, descending], [30, across(60)])],
      11,
    ),
  };
}
