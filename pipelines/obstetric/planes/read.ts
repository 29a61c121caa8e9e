import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { GrayImage } from '../../contract/image.ts';
import type { Clip, RefusedFile, Study } from '../../contract/study.ts';
import { type ClipFrame, DECODING, decodeBatch, frameBatches } from '../../input/decode-frames.ts';
import type { FramePlane, PlaneEstimate } from '../shared/plane.ts';
import { headerPlane, withHeaderPlane } from '../shared/view-names.ts';

export interface PlaneModels {
  /**
   * Null if no permitted model classifies planes. `gaDays` is the gestational age of the study;
   * null if unknown.
   */
  planes:
    | ((images: readonly GrayImage[], gaDays?: number | null) => Promise<PlaneEstimate[]>)
    | null;
  /** Number of frames to pass to `planes` at once. Defaults to the number decoded at once. */
  framesAtOnce?: number;
}

interface Survey {
  planes: FramePlane[];
  /** Frames that could not be decoded after their file was accepted. */
  refused: RefusedFile[];
}

/**
 * Estimate for an M-mode or Doppler sweep, which is recognised by its header. The classifier was
 * not trained on sweeps and may mistake one for a plane.
 */
const SWEEP: PlaneEstimate = { label: 'other', confidence: 1 };

const isSweep = ({ mode }: Clip) => mode === 'spectral' || mode === 'm-mode';

/**
 * Classifies the plane of every frame of the study. `gaDays` is the gestational age; null if
 * unknown. `progress` receives the completed share, 0 to 1.
 */
export async function surveyPlanes(
  study: Pick<Study, 'clips'>,
  gaDays: number | null,
  { planes: classify, framesAtOnce = DECODING.frames }: PlaneModels,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<Survey> {
  if (!classify) throw new TypeError('no model classifies planes');
  const total = study.clips.reduce((sum, clip) => sum + clip.frames.length, 0);
  let done = 0;
  const surveyBatch = async (batch: readonly ClipFrame[]): Promise<Survey> => {
    signal.throwIfAborted();
    const { decoded, refused } = await decodeBatch(batch, signal);
    const estimates = await classify(
      decoded.map(({ image }) => image),
      gaDays,
    );
    const planes = decoded.flatMap(({ clip, frame }, index) => {
      if (isSweep(clip)) return [{ clip, frame, estimate: SWEEP }];
      const seen = estimates[index];
      return seen ? [{ clip, frame, estimate: withHeaderPlane(seen, headerPlane(clip)) }] : [];
    });
    done += batch.length;
    progress(done / total);
    return { planes, refused };
  };
  const batches = [...frameBatches(study.clips, { ...DECODING, frames: framesAtOnce })];
  const surveys = await inParallel(batches, DECODING.batches, surveyBatch);
  return {
    planes: surveys.flatMap(({ planes }) => planes),
    refused: surveys.flatMap(({ refused }) => refused),
  };
}
