import type { Screen } from '../acquisition.ts';
import type { ImageHeader } from '../dicom.ts';
import type { PhantomFrame } from '../frame.ts';
import type { Heart } from '../heart/heart.ts';

/** The views and sweeps of an adult study that the phantom can take. */
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
  /** Fixes the hand, the machine and the speckle. */
  seed: number;
  /** Number of frames from the R wave on; 1 for a still. */
  frames: number;
  /** Time of the first frame after the R wave, seconds. */
  startS?: number;
  frameTimeMs?: number;
  screen?: Screen;
  /**
   * Clarity of the clip: 0 for the wide spread of the training images, 1 for a good window and a
   * steady hand (the default).
   */
  clarity?: number;
  /** Whether truth has masks, which cost as much time as the image; true when absent. */
  masks?: boolean;
}

/** A view of an adult heart: frames with their truth, and the attributes of its DICOM header. */
export interface EchoView {
  id: EchoViewId;
  /** Simulates the frames. Views of structures that do not beat also give a cine. */
  simulate(request: EchoRequest): PhantomFrame[];
  header(request: EchoRequest): Partial<ImageHeader>;
}

/** Milliseconds per frame, for 30 frames per second. */
export const FRAME_TIME_MS = 33.3;

export const DEFAULT_SCREEN: Screen = { columns: 480, rows: 400 };

/** R waves of the clip, ms from its first frame (PS3.3 C.8.5.5, R Wave Time Vector). */
function rWaves({ heart, frames, startS = 0, frameTimeMs = FRAME_TIME_MS }: EchoRequest): number[] {
  const beatMs = 1000 * heart.beat.lengthS;
  const first = (((-1000 * startS) % beatMs) + beatMs) % beatMs;
  const waves: number[] = [];
  for (let at = first; at < frames * frameTimeMs; at += beatMs) waves.push(Number(at.toFixed(1)));
  return waves;
}

/** Heart rate, pace and R waves as a cart writes them; `viewName` as it names the view. */
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
