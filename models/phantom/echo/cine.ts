import type { PhantomFrame } from '../frame.ts';
import { type Point, toPixel } from '../geometry.ts';
import { createHeartImager, type HeartShot, labelHeart, masksOf } from '../heart/frame.ts';
import type { HeartMoment } from '../heart/heart.ts';
import { createRandom } from '../random.ts';
import { overlayMarks } from './overlay.ts';
import { type EchoRequest, type EchoViewId, FRAME_TIME_MS } from './view.ts';

/**
 * The dimensions that a perfect reader would measure on one frame, and the points that this reader
 * would mark, in mm of the image.
 */
export interface FrameReading {
  values: Readonly<Record<string, number>>;
  points: Readonly<Record<string, readonly Point[]>>;
}

/** Number of beats on the trace below the image. */
const TRACE_BEATS = 3;

/**
 * Simulates a cine of one shot. Tissue and machine stay the same while the heart beats and the
 * trace advances.
 */
export function cineOf(
  plane: EchoViewId,
  shot: HeartShot,
  request: EchoRequest,
  read: (heart: HeartMoment) => FrameReading,
): PhantomFrame[] {
  const { heart, seed, frames, startS = 0, frameTimeMs = FRAME_TIME_MS, masks = true } = request;
  const random = createRandom(seed);
  const { window } = shot.acquisition;
  const image = createHeartImager(shot, random.fork('texture'));
  return Array.from({ length: frames }, (_, index) => {
    const seconds = startS + (index * frameTimeMs) / 1000;
    const beats = seconds / heart.beat.lengthS;
    const phaseOfBeat = beats - Math.floor(beats);
    const moment = heart.after(seconds);
    const gray = image(moment, seed + 7919 * (index + 1));
    const from = Math.floor(beats / TRACE_BEATS) * TRACE_BEATS;
    overlayMarks(gray, shot.acquisition, {
      trace: { from, beats: TRACE_BEATS, now: (beats - from) / TRACE_BEATS },
      ruler: true,
      text: ['PHANTOM'],
    });
    const { values, points } = read(moment);
    return {
      columns: window.columns,
      rows: window.rows,
      gray,
      acquisition: shot.acquisition,
      truth: {
        plane,
        mmPerPixel: window.mmPerPixel,
        values: {
          phaseOfBeat,
          secondsAfterR: phaseOfBeat * heart.beat.lengthS,
          squeeze: moment.moment.squeeze,
          beatsPerMinute: heart.sizes.beatsPerMinute,
          ...values,
        },
        points: Object.fromEntries(
          Object.entries(points).map(([name, list]) => [name, list.map((p) => toPixel(window, p))]),
        ),
        ...(masks ? { masks: masksOf(labelHeart(moment, shot)) } : {}),
      },
    };
  });
}
