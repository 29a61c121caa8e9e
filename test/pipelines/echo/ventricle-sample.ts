import type { Point } from '../../../pipelines/contract/image.ts';
import type { ApicalView } from '../../../pipelines/echo/chambers/gaps.ts';
import type { ChamberClip, ChamberFrame } from '../../../pipelines/echo/chambers/geometry.ts';
import type {
  ParasternalClip,
  ParasternalFrame,
} from '../../../pipelines/echo/parasternal/clip.ts';

/**
 * A ventricle in one plane, in millimetres: half an ellipse on its valve plane, with the apex at
 * the top.
 */
export interface VentricleShape {
  /** Width of the valve. */
  base: number;
  length: number;
  wall: number;
  /**
   * Factor by which only the left half of the cavity is scaled: 1 leaves it unchanged, and less
   * moves it inwards.
   */
  leftShare?: number;
  /** Thickness of the left wall, if it differs. */
  leftWall?: number;
}

const STEPS = 48;

/**
 * Returns half an ellipse around `centre`, from its left to its right end, with the apex at the
 * top.
 */
function dome(centre: Point, left: number, right: number, height: number): Point[] {
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const angle = Math.PI - (Math.PI * i) / STEPS;
    const side = Math.cos(angle) < 0 ? left : right;
    return { x: centre.x + side * Math.cos(angle), y: centre.y - height * Math.sin(angle) };
  });
}

/** Adds points along straight edges, since outlines of masks have such points. */
function closed(points: readonly Point[], step: number): Point[] {
  return points.flatMap((from, i) => {
    const to = points[(i + 1) % points.length] ?? from;
    const parts = Math.max(1, Math.round(Math.hypot(to.x - from.x, to.y - from.y) / step));
    return Array.from({ length: parts }, (_, k) => ({
      x: from.x + (k / parts) * (to.x - from.x),
      y: from.y + (k / parts) * (to.y - from.y),
    }));
  });
}

/**
 * Returns the outlines of ventricle, wall and atrium in millimetres, with the valve plane at y =
 * 150.
 */
export function ventricleOutlines({ base, length, wall, ...left }: VentricleShape) {
  const { leftShare = 1, leftWall = wall } = left;
  const centre = { x: 100, y: 150 };
  const half = base / 2;
  const inner = dome(centre, half * leftShare, half, length);
  const outer = dome(centre, half * leftShare + leftWall, half + wall, length + wall);
  const atrium = dome({ x: centre.x, y: centre.y }, half * 0.9, half * 0.9, -45);
  return {
    lv: closed(inner, 2),
    myocardium: closed([...outer, ...inner.toReversed()], 2),
    la: closed(atrium, 2),
  };
}

const ALL_SURE = { lv: 0.95, myocardium: 0.9, la: 0.9, rv: 0, ra: 0 } as const;

/** Returns one frame with these outlines, converted to pixels of `mmPerPixel`. */
export function chamberFrame(
  frame: number,
  time: number,
  shape: VentricleShape,
  mmPerPixel = 1,
): ChamberFrame {
  const outlines = Object.fromEntries(
    Object.entries(ventricleOutlines(shape)).map(([name, points]) => [
      name,
      points.map(({ x, y }) => ({ x: x / mmPerPixel, y: y / mmPerPixel })),
    ]),
  );
  return { frame, time, outlines, confidence: ALL_SURE, pose: null, faults: [], chamberFaults: {} };
}

export interface BeatingShape {
  diastole: VentricleShape;
  systole: VentricleShape;
}

export const HEALTHY: BeatingShape = {
  diastole: { base: 50, length: 90, wall: 9 },
  systole: { base: 36, length: 74, wall: 13 },
};

const between = (a: VentricleShape, b: VentricleShape, share: number): VentricleShape => {
  const mix = (one: number, other: number) => one + share * (other - one);
  return {
    base: mix(a.base, b.base),
    length: mix(a.length, b.length),
    wall: mix(a.wall, b.wall),
    leftShare: mix(a.leftShare ?? 1, b.leftShare ?? 1),
    leftWall: mix(a.leftWall ?? a.wall, b.leftWall ?? b.wall),
  };
};

/** Seconds from end-diastole to end-systole; the next constant is the length of a beat. */
export const SYSTOLE = 0.36;
export const BEAT = 0.9;
const FRAMES_PER_SECOND = 50;

/**
 * Returns a clip of whole beats that starts at end-diastole. Contraction and relaxation follow a
 * cosine.
 */
export function beatingClip(
  view: ApicalView,
  { diastole, systole }: BeatingShape,
  given: Partial<ChamberClip> = {},
  beats = 2,
): ChamberClip {
  const mmPerPixel = given.scale?.x ?? 1;
  const count = Math.round(beats * BEAT * FRAMES_PER_SECOND) + 4;
  const frames = Array.from({ length: count }, (_, index) => {
    const time = index / FRAMES_PER_SECOND;
    const within = time % BEAT;
    const phase = within < SYSTOLE ? within / SYSTOLE : 1 - (within - SYSTOLE) / (BEAT - SYSTOLE);
    const share = (1 - Math.cos(Math.PI * phase)) / 2;
    return chamberFrame(index, time, between(diastole, systole, share), mmPerPixel);
  });
  return {
    file: `${view}.dcm`,
    sopInstanceUid: null,
    view,
    scale: { x: mmPerPixel, y: mmPerPixel },
    heartRate: 60 / BEAT,
    rWaves: [],
    framesInClip: count,
    stride: 1,
    mirrored: false,
    frames,
    ejections: [],
    ...given,
  };
}

/**
 * Returns a short axis at the papillary level that contracts everywhere except in one mid segment
 * (7 to 12).
 */
export function shortAxisClip(still: number | null): ParasternalClip {
  const stillAngle = still === null ? null : 90 + 60 * (still - 7);
  const wall = (squeeze: number) => ({
    septum: 180,
    rays: Array.from({ length: 72 }, (_, i) => {
      const angle = 5 * i;
      const away = stillAngle === null ? 180 : Math.abs(((angle - stillAngle + 540) % 360) - 180);
      const share = away <= 30 ? 0 : squeeze;
      return { angle, radius: 25 * (1 - 0.35 * share), thickness: 9 * (1 + 0.5 * share) };
    }),
  });
  return shortAxisBeat('PSAX-PM', wall);
}

const SHORT_AXIS = { frames: 48, perBeat: 36 } as const;

/**
 * Returns one short-axis beat, filled in the first frame and smallest in the middle of the beat.
 */
export function shortAxisBeat(
  view: ParasternalClip['view'],
  wallAt: (squeeze: number) => ParasternalFrame['wall'],
): ParasternalClip {
  const frames = Array.from({ length: SHORT_AXIS.frames }, (_, frame): ParasternalFrame => {
    const squeeze = (1 - Math.cos((2 * Math.PI * frame) / SHORT_AXIS.perBeat)) / 2;
    return {
      frame,
      time: frame / FRAMES_PER_SECOND,
      cavity: 2000 - 1000 * squeeze,
      lines: {},
      fluid: null,
      gap: null,
      wall: wallAt(squeeze),
      confidence: 0.9,
      fluidConfidence: 0,
      accepted: true,
    };
  });
  return {
    file: 'psax.dcm',
    sopInstanceUid: null,
    family: 'PSAX',
    view,
    scale: { x: 1, y: 1 },
    heartRate: 60 / BEAT,
    rWaves: [0],
    frames,
  };
}
