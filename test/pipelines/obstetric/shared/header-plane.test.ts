import { describe, expect, it } from 'vitest';
import { surveyPlanes } from '../../../../pipelines/obstetric/planes/read.ts';
import { headerPlane } from '../../../../pipelines/obstetric/shared/view-names.ts';
import { clip } from '../evidence-sample.ts';

describe('the view stated in a header', () => {
  it.each([
    ['AFI RUQ', 'amniotic-fluid'],
    ['AFI_LLQ', 'amniotic-fluid'],
    ['Deepest vertical pocket', 'amniotic-fluid'],
    ['Placenta', 'placenta'],
    ['Cervix TV', 'cervix'],
    ['Placenta to cervix', null],
    ['Femur', null],
    ['Fetal heart', null],
    [null, null],
  ])('%s is %s', (viewName, plane) => {
    expect(headerPlane({ viewName, stageName: null })).toBe(plane);
  });

  const named = async (viewName: string | null, label: 'placenta' | 'femur') => {
    const { planes } = await surveyPlanes(
      { clips: [clip('one.dcm', { viewName })] },
      null,
      { planes: async (images) => images.map(() => ({ label, confidence: 0.9 })) },
      new AbortController().signal,
      () => {},
    );
    return planes.map(({ estimate }) => estimate.label);
  };

  it('is evidence against the classifier, which mistakes fluid for placenta', async () => {
    expect(await named('AFI RUQ', 'placenta')).toEqual(['amniotic-fluid']);
    expect(await named(null, 'placenta')).toEqual(['placenta']);
    expect(await named('Femur', 'placenta')).toEqual(['placenta']);
  });
});
