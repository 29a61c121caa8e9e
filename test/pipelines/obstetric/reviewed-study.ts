import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import type { ObstetricReviewed } from '../../../pipelines/obstetric/review.ts';
import { MEDIAN_28_WEEKS } from './evidence-sample.ts';

/** Returns a fetus at 28 weeks with median lengths, as the pipeline leaves it. */
export function reviewedStudy(
  accept: ObstetricReviewed['given']['accept'] = 'simulated',
  readings = MEDIAN_28_WEEKS(),
): ObstetricReviewed {
  const clips = readings.map(({ clip }) => clip);
  return {
    given: {
      study: { clips, refused: [], files: clips.length, series: 1 },
      options: parseOptions({ report: true, dating: { ga_days: 196, basis: 'lmp' } }),
      accept,
      planes: readings.map(({ clip, frame, estimate }) => ({ clip, frame, estimate })),
      readings,
      withoutModel: [],
      uncertainty: { hcPercent: 3, acPercent: 5, flMm: 4 },
      views: {},
      priors: [],
    },
    refusedFrames: [],
    models: [],
    indication: null,
  };
}
