import type { Point } from '../contract/image.ts';
import type { Clip } from '../contract/study.ts';
import { APICAL_VIEWS, type ApicalView } from '../echo/chambers/gaps.ts';
import type { ChamberClip, ChamberFrame } from '../echo/chambers/geometry.ts';
import { CENTRE, MM_PER_PIXEL } from './picture.ts';
import type { Seed } from './seed.ts';

/** Duration of a heartbeat and of its systole, and the interval between frames, in seconds. */
export const BEAT = { seconds: 0.9, systole: 0.375, perFrame: 0.075 } as const;

/** Number of frames in a clip: one heartbeat and part of the next. */
export const BEAT_FRAMES = 15;

/**
 * A ventricle in one plane, in millimetres: half an ellipse, with its base at the valve and its
 * apex at the top.
 */
interface Ventricle {
  base: number;
  length: number;
  wall: number;
}

const FILLED: Ventricle = { base: 47, length: 88, wall: 9 };
const EMPTIED: Ventricle = { base: 35, length: 72, wall: 12.5 };

/**
 * The atrium below the valve: its width as a share of the valve's width, and its depth in
 * millimetres.
 */
const ATRIUM = { width: 0.85, depth: 44 } as const;

const STEPS = 24;
/** Distance in pixels between the points of an outline along its straight edges. */
const STEP = 8;
const VALVE: Point = { x: CENTRE.x, y: 0.72 * 300 };

/**
 * Returns half an ellipse centred on the middle of the valve, from left to right. With a negative
 * height it points down.
 */
function dome(width: number, height: number): Point[] {
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const angle = Math.PI - (Math.PI * i) / STEPS;
    return {
      x: VALVE.x + (width / 2 / MM_PER_PIXEL) * Math.cos(angle),
      y: VALVE.y - (height / MM_PER_PIXEL) * Math.sin(angle),
    };
  });
}

/**
 * Adds points along the straight edges, because the outline of a mask has points along its whole
 * length.
 */
function closed(points: readonly Point[]): Point[] {
  return points.flatMap((from, i) => {
    const to = points[(i + 1) % points.length] ?? from;
    const parts = Math.max(1, Math.round(Math.hypot(to.x - from.x, to.y - from.y) / STEP));
    return Array.from({ length: parts }, (_, k) => ({
      x: from.x + (k / parts) * (to.x - from.x),
      y: from.y + (k / parts) * (to.y - from.y),
    }));
  });
}

function outlinesOf({ base, length, wall }: Ventricle): ChamberFrame['outlines'] {
  const inner = dome(base, length);
  const outer = dome(base + 2 * wall, length + wall);
  return {
    lv: closed(inner),
    myocardium: closed([...outer, ...inner.toReversed()]),
    la: closed(dome(ATRIUM.width * base, -ATRIUM.depth)),
  };
}

/**
 * Returns the degree of contraction: 0 at end-diastole, 1 at end-systole, with a cosine in between.
 */
function contraction(time: number): number {
  const within = time % BEAT.seconds;
  const share =
    within < BEAT.systole
      ? within / BEAT.systole
      : 1 - (within - BEAT.systole) / (BEAT.seconds - BEAT.systole);
  return (1 - Math.cos(Math.PI * share)) / 2;
}

function frameAt(frame: number, size: number): ChamberFrame {
  const time = frame * BEAT.perFrame;
  const share = contraction(time);
  const mix = (of: keyof Ventricle) => size * (FILLED[of] + share * (EMPTIED[of] - FILLED[of]));
  return {
    frame,
    time,
    outlines: outlinesOf({ base: mix('base'), length: mix('length'), wall: mix('wall') }),
    confidence: { lv: 0.94, myocardium: 0.9, la: 0.9, rv: 0, ra: 0 },
    pose: null,
    faults: [],
    chamberFaults: {},
  };
}

const heartRate = 60 / BEAT.seconds;

/**
 * Returns outlines of a normal left ventricle for one apical clip, in the form returned by the
 * networks.
 */
function apicalClip({ file }: Clip, view: ApicalView, seed: Seed): ChamberClip {
  const size = 0.98 + 0.04 * seed.share(7);
  const percent = 57 + 6 * seed.share(8);
  return {
    file,
    sopInstanceUid: null,
    view,
    scale: { x: MM_PER_PIXEL, y: MM_PER_PIXEL },
    heartRate,
    rWaves: [0, BEAT.seconds],
    framesInClip: BEAT_FRAMES,
    stride: 1,
    mirrored: false,
    frames: Array.from({ length: BEAT_FRAMES }, (_, frame) => frameAt(frame, size)),
    ejections:
      view === 'A4C'
        ? [
            {
              percent,
              confidence: 0.96,
              accepted: true,
              diastole: 0,
              systole: Math.round(BEAT.systole / BEAT.perFrame),
            },
          ]
        : [],
  };
}

/** Returns outlines for the apical clips among `clips`, by view. */
export function apicalClips(
  clips: readonly { view: string; clip: Clip }[],
  seed: Seed,
): ChamberClip[] {
  return clips.flatMap(({ view, clip }) => {
    const apical = APICAL_VIEWS.find((one) => one === view);
    return apical ? [apicalClip(clip, apical, seed)] : [];
  });
}
