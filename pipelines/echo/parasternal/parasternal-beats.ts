import { type Beat, cardiacPhases } from '../../measure/cardiac-phases.ts';
import { averaging } from '../chambers/clip-beats.ts';
import type { ParasternalClip, ParasternalFrame } from './parasternal-clip.ts';

/** The accepted frames of a clip, and its beats by their indices. */
export interface BeatsOfClip {
  frames: readonly ParasternalFrame[];
  beats: readonly Beat[];
}

/** The beats of a parasternal or subcostal clip, at most as many as are averaged. */
export function beatsOf(clip: ParasternalClip): BeatsOfClip {
  const frames = clip.frames.filter(({ accepted }) => accepted);
  const samples = frames.map(({ time, cavity }) => ({ time, area: cavity }));
  const { beats } = cardiacPhases(samples, clip.rWaves, clip.heartRate);
  return { frames, beats: beats.slice(0, averaging(clip.rWaves).most) };
}
