import type { PixelScale } from '../../contract/image.ts';
import { type Beat, cardiacPhases } from '../../measure/cardiac-phases.ts';
import { averaging } from '../chambers/beats.ts';
import type { HeartView } from '../locate/names.ts';
import type { Line, LongAxisLine } from '../locate/parasternal.ts';
import type { ShortAxisWall } from './short-axis-wall.ts';

/** Readings of one parasternal or subcostal frame, in pixels of the stored frame. */
export interface ParasternalFrame {
  /** Frame number, 0-based. */
  frame: number;
  /** Seconds from the first frame of the clip. */
  time: number;
  /** Area of the LV cavity in pixels. The phases are determined from its course over time. */
  cavity: number;
  lines: Partial<Record<LongAxisLine, Line>>;
  /**
   * Line across the fluid around the heart, where the fluid is deepest. Null if no fluid was
   * outlined.
   */
  fluid: Line | null;
  /** Line across the echo-free space that the picture shows behind the posterior wall, or null. */
  gap: Line | null;
  /**
   * Wall around the cavity in a short axis. Null in other views, or if the cavity is not surrounded
   * by muscle.
   */
  wall: ShortAxisWall | null;
  /** Mean probability over the cavity's pixels; `fluidConfidence` is the same for the fluid. */
  confidence: number;
  fluidConfidence: number;
  accepted: boolean;
}

export interface ParasternalClip {
  file: string;
  sopInstanceUid: string | null;
  family: 'PLAX' | 'PSAX' | 'subcostal';
  view: HeartView;
  scale: PixelScale | null;
  heartRate: number | null;
  rWaves: readonly number[];
  frames: readonly ParasternalFrame[];
}

/** The accepted frames of a clip, and its beats as indices into these frames. */
export interface BeatsOfClip {
  frames: readonly ParasternalFrame[];
  beats: readonly Beat[];
  /** True if the RR intervals are even; null if fewer than three R waves are known. */
  regular: boolean | null;
}

/** Returns the beats of a parasternal or subcostal clip, up to the number to be averaged. */
export function beatsOf(clip: ParasternalClip): BeatsOfClip {
  const frames = clip.frames.filter(({ accepted }) => accepted);
  const samples = frames.map(({ time, cavity }) => ({ time, area: cavity }));
  const { beats } = cardiacPhases(samples, clip.rWaves, clip.heartRate);
  const { regular, most } = averaging(clip.rWaves);
  return { frames, beats: beats.slice(0, most), regular };
}
