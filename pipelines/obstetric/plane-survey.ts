import type { GrayImage } from '../contract/image.ts';
import type { Clip, Frame, RefusedFile, Study } from '../contract/study.ts';
import { Refusal } from '../input/refusal.ts';
import type { FramePlane } from './frame-plane.ts';
import type { Locator } from './locator.ts';

/** Frames decoded at a time: bounds the memory of a long cine. */
const BATCH = 16;

export interface Survey {
  planes: FramePlane[];
  /** Frames that could not be decoded after their file was accepted. */
  refused: RefusedFile[];
}

interface Decoded {
  clip: Clip;
  frame: Frame;
  image: GrayImage;
}

async function decode(clip: Clip, frame: Frame, refused: RefusedFile[]): Promise<Decoded | null> {
  try {
    return { clip, frame, image: await frame.gray() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused.push({ file: clip.file, reason: `frame ${frame.index + 1}: ${error.message}` });
    return null;
  }
}

/** Gives every frame of the study its plane; `progress` is told the share that is done. */
export async function surveyPlanes(
  study: Study,
  classify: NonNullable<Locator['planes']>,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<Survey> {
  const all = study.clips.flatMap((clip) => clip.frames.map((frame) => ({ clip, frame })));
  const survey: Survey = { planes: [], refused: [] };
  for (let start = 0; start < all.length; start += BATCH) {
    signal.throwIfAborted();
    const batch: Decoded[] = [];
    for (const { clip, frame } of all.slice(start, start + BATCH)) {
      const decoded = await decode(clip, frame, survey.refused);
      if (decoded) batch.push(decoded);
    }
    const estimates = await classify(batch.map(({ image }) => image));
    for (const [index, { clip, frame }] of batch.entries()) {
      const estimate = estimates[index];
      if (estimate) survey.planes.push({ clip, frame, estimate });
    }
    progress(Math.min((start + BATCH) / all.length, 1));
  }
  return survey;
}
