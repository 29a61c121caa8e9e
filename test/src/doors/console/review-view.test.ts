import { describe, expect, it } from 'vitest';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { withStanding } from '../../../../pipelines/result/standing.ts';
import type { ReviewObject } from '../../../../src/core/reviews/reviews.ts';
import { viewResult } from '../../../../src/doors/console/result-view.ts';
import { viewReview } from '../../../../src/doors/console/review-view.ts';
import { RESULT } from '../../../pipelines/artifacts/example-result.ts';

type Key = 'body-surface-area' | 'lvef-biplane' | 'lv-ed-area-4c';

const inSection = (key: Key, section: string, value = 1) =>
  createMeasurement(key, key, value, 'biplane-discs', {
    section,
    derivation: 'measured',
    source: { ...NO_FRAME, provenance: 'model' },
  });

const titled = (id: string) => ({ ...RESULT.sections[0], id, title: id });

function stepsOf(measurements: readonly ReturnType<typeof inSection>[]) {
  const result = {
    ...RESULT,
    sections: ['segment-chambers', 'lvef', 'lv-size'].map(titled),
    measurements: withStanding(measurements),
  } as Result;
  const shown = viewResult({ requestId: 'req_1', result, gestationalAge: null, prior: null });
  const review = { result, original: {}, changes: [], signatures: [] };
  return viewReview(review as unknown as ReviewObject, shown).steps;
}

describe('the values that a reader decides on', () => {
  it('have the decimals that are displayed, so that typing starts from the value on the page', () => {
    const [ejection] = stepsOf([inSection('lvef-biplane', 'lvef', 57.346)]);
    expect(ejection).toMatchObject({ value: 57, text: '57' });
  });

  it('are in the order of the table, section by section, with mere inputs last', () => {
    const steps = stepsOf([
      inSection('lv-ed-area-4c', 'segment-chambers'),
      inSection('body-surface-area', 'lv-size'),
      inSection('lvef-biplane', 'lvef'),
    ]);
    expect(steps.map(({ id }) => id)).toEqual([
      'lvef-biplane',
      'body-surface-area',
      'lv-ed-area-4c',
    ]);
  });
});
