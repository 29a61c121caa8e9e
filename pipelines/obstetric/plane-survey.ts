import type { Clip, RefusedFile, Study } from '../contract/study.ts';
import { DECODING, decodeBatch, frameBatches } from '../input/decode-frames.ts';
import type { FramePlane } from './frame-plane.ts';
import type { Locator, PlaneEstimate } from './locator.ts';

export interface Survey {
  planes: FramePlane[];
  /** Frames that could not be decoded after their file was accepted. */
  refused: RefusedFile[];
}

/** The header says that it is no plane: a classifier that never saw a sweep may take it for one. */
const SWEEP: PlaneEstimate = { label: 'other', confidence: 1 };

const isSweep = ({ mode }: Clip) => mode === 'spectral' || mode === 'm-mode';

/** Gives every frame of the study its plane; `progress` is told the share that is done. */
export async function surveyPlanes(
  study: Pick<Study, 'clips'>,
  { planes: classify, framesAtOnce = DECODING.frames }: Pick<Locator, 'planes' | 'framesAtOnce'>,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<Survey> {
  if (!classify) throw new TypeError('no model classifies planes');
  const total = study.clips.reduce((sum, clip) => sum + clip.frames.length, 0);
  const survey: Survey = { planes: [], refused: [] };
  let done = 0;
  for (const batch of frameBatches(study.clips, { ...DECODING, frames: framesAtOnce })) {
    signal.throwIfAborted();
    const { decoded, refused } = await decodeBatch(batch, signal);
    survey.refused.push(...refused);
    const estimates = await classify(decoded.map(({ image }) => image));
    for (const [index, { clip, frame }] of decoded.entries()) {
      const estimate = isSweep(clip) ? SWEEP : estimates[index];
      if (estimate) survey.planes.push({ clip, frame, estimate });
    }
    done += batch.length;
    progress(done / total);
  }
  return survey;
}
