import { expect, it } from 'vitest';
import { type Clip, UNDESCRIBED } from '../../../../pipelines/contract/study.ts';
import type { HeartLocator } from '../../../../pipelines/echo/locate/heart-locator.ts';
import type { HeartView } from '../../../../pipelines/echo/locate/names.ts';
import { surveyViews } from '../../../../pipelines/echo/locate/view-survey.ts';

const SIZE = 32;

const clipNamed = (viewName: string | null, mode: Clip['mode'] = '2d'): Clip => ({
  ...UNDESCRIBED,
  file: 'clip.dcm',
  width: SIZE,
  height: SIZE,
  frames: [
    {
      index: 0,
      time: 0,
      gray: async () => ({ width: SIZE, height: SIZE, data: new Uint8Array(SIZE ** 2).fill(90) }),
      rgb: async () => ({
        width: SIZE,
        height: SIZE,
        data: new Uint8Array(3 * SIZE ** 2).fill(90),
      }),
    },
  ],
  regions: [],
  calibrationRefused: null,
  mode,
  viewName,
});

/** Surveys one clip that the classifier sees as `seen`, whatever its header names. */
async function surveyed(clip: Clip, seen: HeartView) {
  const locator: HeartLocator = {
    nameView: async () => ({ view: 'other', confidence: 1, belowGate: null }),
    contradictingView: async (_frames, _area, named) => (named === seen ? null : seen),
    isMirrored: null,
    segment: null,
    ejectionFraction: null,
    parasternal: null,
    models: [],
    close: async () => undefined,
  };
  const study = { clips: [clip], refused: [], files: 1, series: 1 };
  const [found] = await surveyViews(study, locator, new AbortController().signal, () => undefined);
  return found;
}

it('a clip that contradicts the view in its header has no view', async () => {
  expect(await surveyed(clipNamed('A4C'), 'A2C')).toMatchObject({
    view: null,
    source: null,
    dispute: { named: 'A4C', seen: 'A2C' },
  });
});

it('a clip that does not contradict its header has the view named there', async () => {
  const found = await surveyed(clipNamed('A4C'), 'A4C');
  expect(found).toMatchObject({ view: 'A4C', source: 'header' });
  expect(found?.dispute).toBeUndefined();
});

it('the name of a colour clip is not examined, because nothing is measured on it', async () => {
  expect(await surveyed(clipNamed('A4C', 'colour'), 'A2C')).toMatchObject({ view: 'A4C' });
});
