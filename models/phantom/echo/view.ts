import type { Screen } from '../acquisition.ts';
import type { ImageHeader } from '../dicom.ts';
import type { PhantomFrame } from '../frame.ts';
import type { Heart } from '../heart/heart.ts';

/** Views and sweeps of an adult study that the phantom supports. */
export const ECHO_VIEW_IDS = [
  'PLAX',
  'PSAX-AV',
  'PSAX-MV',
  'PSAX-PM',
  'PSAX-AP',
  'A4C',
  'A2C',
  'A3C',
  'A5C',
  'SUBCOSTAL-4C',
  'SUBCOSTAL-IVC',
  'SUPRASTERNAL',
] as const;
export type EchoViewId = (typeof ECHO_VIEW_IDS)[number];

export interface EchoRequest {
  heart: Heart;
  /** The only input that determines the probe position, the machine and the speckle. */
  seed: number;
  /** Number of frames, starting at the R wave; 1 for a still. */
  frames: number;
  /** Time of the first frame after the R wave, seconds. */
  startS?: number;
  frameTimeMs?: number;
  screen?: Screen;
  /**
   * Image quality of the clip, 0 to 1. At 0, it varies as widely as in the training images. At 1
   * (the default), the window is good and the hand is steady.
   */
  clarity?: number;
  /**
   * True (the default) if masks are calculated for the truth. This takes as long as calculating the
   * image.
   */
  masks?: boolean;
}

/** A view of an adult heart: frames with their truth, and the attributes of its DICOM header. */
export interface EchoView {
  id: EchoViewId;
  /** Simulates the frames. A view of a structure that does not beat is also simulated as a cine. */
  simulate(request: EchoRequest): PhantomFrame[];
  header(request: EchoRequest): Partial<ImageHeader>;
}

/** Milliseconds per frame, for 30 frames per second. */
export const FRAME_TIME_MS = 33.3;

export const DEFAULT_SCREEN: Screen = { columns: 480, rows: 400 };

/**
 * Returns the times of the R waves in ms from the first frame (R Wave Time Vector, PS3.3 C.8.5.5).
 */
function rWaves({ heart, frames, startS = 0, frameTimeMs = FRAME_TIME_MS }: EchoRequest): number[] {
  const beatMs = 1000 * heart.beat.lengthS;
  const first = (((-1000 * startS) % beatMs) + beatMs) % beatMs;
  const waves: number[] = [];
  for (let at = first; at < frames * frameTimeMs; at += beatMs) waves.push(Number(at.toFixed(1)));
  return waves;
}

/**
 * Returns the heart rate, frame time and R waves as a cart writes them. `viewName` is the cart's
 * name for the view.
 */
export function cineHeader(request: EchoRequest, viewName?: string): Partial<ImageHeader> {
  const frameTimeMs = request.frameTimeMs ?? FRAME_TIME_MS;
  return {
    frameTimeMs,
    attributes: {
      HeartRate: Math.round(request.heart.sizes.beatsPerMinute),
      CineRate: Math.round(1000 / frameTimeMs),
      RecommendedDisplayFrameRate: Math.round(1000 / frameTimeMs),
      RWaveTimeVector: rWaves(request),
      ...(viewName ? { ViewName: viewName } : {}),
    },
  };
}
