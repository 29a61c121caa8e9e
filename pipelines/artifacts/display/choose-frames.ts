import type { Clip, Study } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { Listed } from './listed-in-sections.ts';

/** What is kept of a study for a viewer. */
export const KEPT = {
  /** Frames of a cine. */
  cineFrames: 60,
  /** Key frames of a study. */
  keyFrames: 200,
  /** Bytes of all cines of a study; the clips after it have key frames only. */
  cineBytes: 48 * 1024 * 1024,
} as const;

/** A frame to be shown by itself. */
export interface ChosenFrame {
  clip: Clip;
  /** 1-based. */
  frame: number;
  view: string | null;
  /** Sections that measured it or chose it. */
  sections: readonly string[];
}

/** Frames of a clip with calipers, and the sections whose they are. */
function measuredFrames(file: string, measurements: readonly Measurement[]) {
  const own = measurements.filter(
    ({ source }) => source.file === file && source.frame !== null && source.calipers.length > 0,
  );
  return Map.groupBy(own, ({ source }) => source.frame ?? 1);
}

/** The frame that stands for a clip of which none was measured: a sweep is whole on its last one. */
function faceOf({ frames, sweeps }: Clip): number {
  return sweeps.length > 0 ? frames.length : 1 + Math.floor(frames.length / 2);
}

/**
 * The frames of a study to show by themselves: those with calipers, the best of each plane, and of
 * every other clip one; in the order of the clips.
 */
export function chosenFrames(
  { clips }: Pick<Study, 'clips'>,
  measurements: readonly Measurement[],
  { bestOf, viewOf }: Pick<Listed, 'bestOf' | 'viewOf'>,
): ChosenFrame[] {
  const chosen = clips.flatMap((clip): ChosenFrame[] => {
    const measured = measuredFrames(clip.file, measurements);
    const best = new Set(bestOf(clip.file));
    const numbers = new Set([...measured.keys(), ...best]);
    if (numbers.size === 0) numbers.add(faceOf(clip));
    return [...numbers]
      .filter((frame) => frame <= clip.frames.length)
      .sort((a, b) => a - b)
      .map((frame) => {
        const sections = (measured.get(frame) ?? []).map(({ section }) => section);
        return {
          clip,
          frame,
          view: viewOf(clip.file, frame),
          sections: [...new Set(best.has(frame) ? ['planes', ...sections] : sections)],
        };
      });
  });
  return chosen.slice(0, KEPT.keyFrames);
}

/**
 * Frames (1-based) of the cine of a clip: every n-th, at most about sixty, and those with calipers.
 * Empty for a still and a sweep.
 * @param withCalipers frames with calipers.
 * @param outlined frames with outlines, evenly spaced: then every n-th of these.
 */
export function cineFrames(
  { frames, mode }: Pick<Clip, 'frames' | 'mode'>,
  withCalipers: readonly number[],
  outlined: readonly number[],
): number[] {
  const still = frames.length < 2 || mode === 'spectral' || mode === 'm-mode';
  if (still) return [];
  const whole = Array.from({ length: frames.length }, (_, index) => index + 1);
  const even = outlined.length > 0 ? [...new Set(outlined)] : whole;
  const step = Math.ceil(even.length / KEPT.cineFrames);
  const kept = even.filter((_, index) => index % step === 0);
  return [...new Set([...kept, ...withCalipers])].sort((a, b) => a - b);
}
