import type { Frame } from '../contract/study.ts';
import { type Pixels, toGray, toRgb } from './pixels.ts';

/** Frames of one size, decoded one by one when asked for. */
export interface FrameSource {
  width: number;
  height: number;
  frames: number;
  /** Seconds of each frame from the first as the stream itself says it; null: it does not. */
  times: readonly number[] | null;
  /** Throws a Refusal for a frame that is damaged. */
  decode(index: number): Promise<Pixels>;
}

/** The frames of a clip at `times` (seconds from the first; 0 where it has none). */
export function framesOf(source: FrameSource, times: readonly number[]): Frame[] {
  return Array.from({ length: source.frames }, (_, index) => ({
    index,
    time: times[index] ?? 0,
    gray: async () => toGray(await source.decode(index)),
    rgb: async () => toRgb(await source.decode(index)),
  }));
}
