import { expect, it } from 'vitest';
import { assembleResult, type OpenModel } from '../../../pipelines/result/assemble.ts';

const model = (id: string, used?: boolean): OpenModel => ({
  ...{ id, version: '1.0.0', sha256: 'a'.repeat(64), licence: 'CC-BY-4.0' },
  ...{ pack: 'permissive', provider: 'cpu' },
  ...(used !== undefined && { used }),
});

const resultWith = (models: OpenModel[]) =>
  assembleResult({
    ...{ endpoint: 'us/obstetric/interpret', version: '1.0.0', generatedAt: new Date(0) },
    study: { clips: [], refused: [], files: 0, series: 1 },
    ...{ refusedFrames: [], priors: 0, sections: [], measurements: [], models },
  });

it('lists the models that ran for the study, and no open model that was not needed', () => {
  const { models } = resultWith([model('fetal-head', true), model('symphysis-head', false)]);
  const { used: _, ...listed } = model('fetal-head', true);
  expect(models).toEqual([listed]);
});

it('lists all models of evidence that was stored without this record', () => {
  expect(resultWith([model('fetal-head')]).models.map(({ id }) => id)).toEqual(['fetal-head']);
});
