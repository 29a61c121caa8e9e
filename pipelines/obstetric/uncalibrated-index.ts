import { axisEnds } from '../measure/ellipse.ts';
import type { Measurement } from '../result/envelope.ts';
import { lineBetween, measuredOn } from '../result/source.ts';
import { cephalicIndex } from './charts/ratios.ts';
import { OUTER_INDEX_NOTE } from './derived-biometry.ts';
import { BPD_PLANES } from './key-frames.ts';
import { createMeasurement } from './measurement.ts';
import { excludedBy } from './plane-quality.ts';
import { LOWEST_AXIS_RATIO } from './plausibility.ts';
import type { FrameReading, ObstetricEvidence } from './section.ts';

type HeadReading = Extract<FrameReading, { structure: 'head' }>;

const PIXELS_NOTE = 'of an image without a physical scale, its pixels taken as square';

/** A refused scale says that something is wrong with the picture: no ratio is taken of it. */
function isUsable(reading: FrameReading): reading is HeadReading {
  const { clip, structure, located } = reading;
  if (structure !== 'head' || !located?.accepted || excludedBy(reading) !== null) return false;
  const { a, b } = located.ellipse;
  const unscaled = clip.regions.length === 0 && clip.calibrationRefused === null;
  return unscaled && Math.min(a, b) / Math.max(a, b) >= LOWEST_AXIS_RATIO.head;
}

/**
 * The cephalic index of a head without a scale, in whose image a ratio is all that can be told
 * (obstetric reference 0.4). HC/AC would need head and abdomen on one picture.
 */
export function uncalibratedIndex({
  readings,
}: Pick<ObstetricEvidence, 'readings'>): Measurement[] {
  const heads = readings.filter(isUsable);
  const [found] = BPD_PLANES.flatMap((planes) =>
    heads.filter(({ estimate }) => planes.includes(estimate.label)),
  );
  if (!found?.located) return [];
  const { clip, frame, located } = found;
  const [a1, a2, b1, b2] = axisEnds(located.ellipse);
  const { a, b } = located.ellipse;
  const index = cephalicIndex(Math.min(a, b), Math.max(a, b));
  return [
    createMeasurement('cephalic-index', 'cephalic-index', index, 'ratio', {
      source: measuredOn(clip, frame.index, 'model', [lineBetween(a1, a2), lineBetween(b1, b2)]),
      confidence: located.confidence,
      note: `${PIXELS_NOTE}; ${OUTER_INDEX_NOTE}`,
    }),
  ];
}
