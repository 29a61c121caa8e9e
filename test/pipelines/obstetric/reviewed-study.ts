import type { Change } from '../../../pipelines/contract/review.ts';
import type { CartMeasurement } from '../../../pipelines/contract/study.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import {
  interpretReviewed,
  type ObstetricReviewed,
  reviewRules,
} from '../../../pipelines/obstetric/review.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { effectsOf } from '../../../pipelines/run/review-effects.ts';
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

/** Returns a study of which only these views and these values of the machine are known. */
export function reviewedViews(
  views: ObstetricReviewed['given']['views'],
  {
    accept = 'real',
    cart = [],
    options = {},
  }: {
    accept?: ObstetricReviewed['given']['accept'];
    cart?: readonly CartMeasurement[];
    options?: Record<string, unknown>;
  } = {},
): ObstetricReviewed {
  const { given, ...rest } = reviewedStudy(accept, []);
  const dated = { report: true, dating: { ga_days: 210, basis: 'crl' }, ...options };
  return {
    ...rest,
    given: { ...given, study: { ...given.study, cart }, options: parseOptions(dated), views },
  };
}

export type PersonChange = Exclude<Change, { kind: 'undo' }>;

/** Returns the result after a person has made these changes, one after another. */
export function reviewedWith(
  study: ObstetricReviewed,
  ...changes: readonly PersonChange[]
): Result {
  const at = new Date('2026-01-01T00:00:00Z');
  const original = interpretReviewed(study, [], at);
  const rules = reviewRules(study);
  let state: Parameters<typeof effectsOf>[1] = { original, result: original, effects: [] };
  for (const change of changes) {
    const effects = [...state.effects, ...effectsOf(change, state, rules)];
    state = { original, effects, result: interpretReviewed(study, effects, at) };
  }
  return state.result;
}
