import type { OverlayClip } from '../../../pipelines/artifacts/display/overlay-contract.ts';

/** A frame that can be shown, and when it was acquired in seconds of the clip. */
export interface ShownFrame {
  frame: number;
  time: number;
}

/** Pure: the frames of a clip that there are pictures of, in order. */
export function framesOf({ cine, key_frames }: OverlayClip): ShownFrame[] {
  const all = cine ? [...cine.frames, ...key_frames] : key_frames;
  const byFrame = new Map(all.map(({ frame, time }) => [frame, { frame, time }]));
  return [...byFrame.values()].sort((one, other) => one.frame - other.frame);
}

/** Pure: the frame to begin with: the first that was measured, else the first. */
export function firstFrame(clip: OverlayClip): number {
  const frames = framesOf(clip).map(({ frame }) => frame);
  const measured = clip.key_frames.find(({ sections }) => sections.length > 0)?.frame;
  return measured ?? clip.key_frames[0]?.frame ?? frames[0] ?? 1;
}

/** Pure: the frame `step` places on, around the end of the clip. */
export function stepped(frames: readonly ShownFrame[], frame: number, step: number): number {
  const at = frames.findIndex((one) => one.frame === frame);
  const next = frames[(((at + step) % frames.length) + frames.length) % frames.length];
  return next?.frame ?? frame;
}

/** Pure: milliseconds for which a frame stays when the clip plays at its own speed. */
export function stayOf(frames: readonly ShownFrame[], frame: number): number {
  const at = frames.findIndex((one) => one.frame === frame);
  const [here, next] = [frames[at], frames[at + 1]];
  const seconds = here && next ? next.time - here.time : 0.04;
  return Math.min(500, Math.max(15, seconds * 1000));
}

/** Pure: what a frame is in its beat; '' for one that is neither. */
export function phaseText({ beats }: OverlayClip, frame: number): string {
  if (beats.some(({ end_diastole }) => end_diastole === frame)) return 'end-diastole';
  return beats.some(({ end_systole }) => end_systole === frame) ? 'end-systole' : '';
}
