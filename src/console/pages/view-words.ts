import type { Overlays } from '../../../pipelines/artifacts/display/overlay-contract.ts';
import type { ResultView } from '../contract.ts';

/** Pure: overlays that say what each image shows in words, where a result has only an id for it. */
export function inWords(overlays: Overlays, names: ResultView['viewNames']): Overlays {
  const worded = <Shown extends { view: string | null }>(shown: Shown): Shown => {
    const name = shown.view === null ? undefined : names[shown.view];
    return name ? { ...shown, view: name.charAt(0).toUpperCase() + name.slice(1) } : shown;
  };
  return {
    ...overlays,
    clips: overlays.clips.map((clip) =>
      worded({ ...clip, key_frames: clip.key_frames.map(worded) }),
    ),
  };
}
