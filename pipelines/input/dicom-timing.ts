import type { Timing } from '../contract/study.ts';
import { type DicomHeader, numberOf, numbersOf, textOf } from './dicom-header.ts';

/** What the frames of a cine are timed by. */
export interface FrameTimes {
  timing: Timing;
  /** Seconds of each frame from the first; all 0 where `timing` is `none`. */
  seconds: number[];
}

const FRAME_TIME_VECTOR = '00181065';

/** Increments to the frame before; the first is 0 or of no meaning (PS3.3 C.7.6.5.1.2). */
function byVector(header: DicomHeader, frames: number): number[] | null {
  const vector = numbersOf(header, 'FrameTimeVector');
  // Some carts leave out the increment of the first frame.
  const steps = vector.length === frames - 1 ? [0, ...vector] : vector;
  if (steps.length !== frames || steps.slice(1).some((step) => step < 0)) return null;
  let milliseconds = 0;
  const seconds = steps.map((step, index) => {
    milliseconds += index === 0 ? 0 : step;
    return milliseconds / 1000;
  });
  return milliseconds > 0 ? seconds : null;
}

/** Evenly: by the seconds of one frame; null where that is no positive number. */
function evenly(step: number | null, frames: number): number[] | null {
  if (step === null || !(step > 0) || !Number.isFinite(step)) return null;
  return Array.from({ length: frames }, (_, index) => index * step);
}

function perSecond(rate: number | null): number | null {
  return rate !== null && rate > 0 ? 1 / rate : null;
}

/**
 * When each frame was acquired: by Frame Time Vector or Frame Time, whichever the Frame Increment
 * Pointer names, else by the one that is there; then by the video stream in the object, by Cine Rate,
 * and last by Recommended Display Frame Rate, which tells how to play a cine and not how it was
 * acquired (PS3.3 C.7.6.5).
 * @param stream seconds of each frame as a video stream gives them; null for other pixel data.
 */
export function readFrameTimes(
  header: DicomHeader,
  frames: number,
  stream: readonly number[] | null,
): FrameTimes {
  const none: FrameTimes = { timing: 'none', seconds: Array.from({ length: frames }, () => 0) };
  if (frames < 2) return none;
  const frameTime = numberOf(header, 'FrameTime');
  const vector: [Timing, number[] | null] = ['frame-time-vector', byVector(header, frames)];
  const fixed: [Timing, number[] | null] = [
    'frame-time',
    evenly(frameTime === null ? null : frameTime / 1000, frames),
  ];
  const pointed = textOf(header, 'FrameIncrementPointer').startsWith(FRAME_TIME_VECTOR);
  const cine = evenly(perSecond(numberOf(header, 'CineRate')), frames);
  const display = evenly(perSecond(numberOf(header, 'RecommendedDisplayFrameRate')), frames);
  const ways: [Timing, number[] | null][] = [
    ...(pointed ? [vector, fixed] : [fixed, vector]),
    ['container', stream?.length === frames ? [...stream] : null],
    ['cine-rate', cine],
    ['display-rate', display],
  ];
  for (const [timing, seconds] of ways) if (seconds) return { timing, seconds };
  return none;
}
