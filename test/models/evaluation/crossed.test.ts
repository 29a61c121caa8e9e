import { describe, expect, it } from 'vitest';
import {
  countCrossed,
  countNamed,
  countScreens,
  crossedOf,
  framesOf,
  screenOf,
} from '../../../models/evaluation/crossed.ts';
import { LAYOUTS, onScreen } from '../../../models/evaluation/screens.ts';
import { letterboxLit } from '../../../pipelines/inference/letterbox.ts';
import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { interpretReadings } from '../../pipelines/obstetric/evidence-sample.ts';

const NOTHING = interpretReadings({ readings: [] });

const measured = (key: string, changes: Partial<Measurement> = {}): Measurement => ({
  id: key,
  section: 'biometry',
  concept: { key, system: '', code: '', display: '' },
  label: key,
  value: 40,
  unit: 'mm',
  method: '',
  derivation: 'measured',
  source: { provenance: 'model', file: null, sop_instance_uid: null, frame: null, calipers: [] },
  site: null,
  laterality: null,
  fetus: null,
  phase: null,
  confidence: 0.9,
  uncertainty: null,
  quality: 'accepted',
  reference: null,
  interpretation: null,
  inputs: [],
  origin: 'image',
  standing: 'counts',
  remarks: [],
  note: null,
  ...changes,
});

const partsOf = (measurements: Measurement[], plane: string | null) =>
  crossedOf({ ...NOTHING, measurements }, plane).map(({ part }) => part);

describe('a result about a structure that the image does not show', () => {
  it.each<[string, string | null, string[]]>([
    ['hc', 'transthalamic', []],
    ['hc', 'abdominal', ['head']],
    ['ac', 'transthalamic', ['abdomen']],
    ['fl', 'femur', []],
    ['fl', null, ['femur']],
  ])('%s on an image of %s', (key, plane, parts) => {
    expect(partsOf([measured(key)], plane)).toEqual(parts);
  });

  it('counts a value of another section under its name', () => {
    const pocket = measured('deepest-pocket', { section: 'amniotic-fluid' });
    expect(partsOf([pocket], 'abdominal')).toEqual(['amniotic-fluid']);
  });

  it.each<[string, Partial<Measurement>]>([
    ['below its gate', { quality: 'low' }],
    ['calculated from others', { derivation: 'calculated' }],
  ])('a value that is %s is not counted', (_, changes) => {
    expect(partsOf([measured('ac', changes)], null)).toEqual([]);
  });

  it('counts an image once in total, and once for each part', () => {
    const abdomen = { part: 'abdomen', said: 'AC 40' };
    const femur = { part: 'femur', said: 'FL 40' };
    expect(countCrossed([[abdomen, abdomen], [femur, abdomen], []])).toEqual({
      images: 2,
      by: { abdomen: 2, femur: 1 },
    });
  });
});

const named = (counts: Record<string, number>) => {
  const planes: Result['sections'][number] = {
    id: 'planes',
    title: '',
    status: 'complete',
    reason: null,
    summary: '',
    data: { counts },
    artifacts: [],
  };
  return { ...NOTHING, sections: [planes] };
};

describe('the result of a single image of a known plane', () => {
  it.each([
    ['another axial head plane', { transventricular: 1, femur: 0 }, 'right'],
    ['no plane', { other: 1 }, 'unnamed'],
    ['another organ', { abdominal: 1 }, 'wrong'],
  ])('%s', (_, counts, name) => {
    expect(screenOf(named(counts), 'transthalamic', null, '').name).toBe(name);
  });

  it('an accepted length is compared with the reference; a withheld one is not', () => {
    const of = (changes: Partial<Measurement>) =>
      screenOf(
        { ...named({ femur: 1 }), measurements: [measured('fl', changes)] },
        'femur',
        38,
        'a',
      );
    expect(of({}).length).toEqual({ key: 'fl', measuredMm: 40, referenceMm: 38 });
    expect(of({ quality: 'low' })).toMatchObject({ length: null, accepted: false });
    const { all, byLayout } = countScreens([of({}), of({ quality: 'low' })]);
    expect(all).toMatchObject({ images: 2, right: 2, accepted: 1, compared: 1, biasMm: 2 });
    expect(byLayout.a?.meanAbsoluteErrorMm).toBe(2);
  });

  it('the frames of a file are counted, whether or not they are recognized', () => {
    expect(countNamed(named({ femur: 2, other: 3, abdominal: 0 }))).toEqual({ femur: 2, other: 3 });
    expect(framesOf(named({ femur: 2, other: 3 }))).toBe(5);
  });
});

describe('a picture on a full screen', () => {
  const data = Uint8Array.from({ length: 320 * 240 }, (_, i) => 60 + ((7 * i) % 150));
  const picture = { width: 320, height: 240, data };

  it.each(LAYOUTS.map((layout) => [layout.name, layout] as const))(
    '%s: the product shows the picture to the models at nearly its full size',
    (_, layout) => {
      const { screen, scale } = onScreen(picture, layout, 3);
      const { scaleX } = letterboxLit(screen, 256, 192).placement;
      const alone = 256 / (scale * picture.width);
      expect(scaleX).toBeGreaterThan(0.7 * alone);
      expect(scaleX).toBeLessThan(1.05 * alone);
    },
  );
});
