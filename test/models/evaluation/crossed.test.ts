import { describe, expect, it } from 'vitest';
import { countCrossed, crossedOf } from '../../../models/evaluation/crossed.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
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

describe('the answer about a structure that the image does not show', () => {
  it.each<[string, string | null, string[]]>([
    ['hc', 'transthalamic', []],
    ['hc', 'abdominal', ['head']],
    ['ac', 'transthalamic', ['abdomen']],
    ['fl', 'femur', []],
    ['fl', null, ['femur']],
  ])('%s on an image of %s', (key, plane, parts) => {
    expect(partsOf([measured(key)], plane)).toEqual(parts);
  });

  it('a value of another section counts under its name', () => {
    const pocket = measured('deepest-pocket', { section: 'amniotic-fluid' });
    expect(partsOf([pocket], 'abdominal')).toEqual(['amniotic-fluid']);
  });

  it.each<[string, Partial<Measurement>]>([
    ['below its gate', { quality: 'low' }],
    ['calculated from others', { derivation: 'calculated' }],
  ])('a value %s is not counted', (_, changes) => {
    expect(partsOf([measured('ac', changes)], null)).toEqual([]);
  });

  it('an image counts once, and once for each part', () => {
    const abdomen = { part: 'abdomen', said: 'AC 40' };
    const femur = { part: 'femur', said: 'FL 40' };
    expect(countCrossed([[abdomen, abdomen], [femur, abdomen], []])).toEqual({
      images: 2,
      by: { abdomen: 2, femur: 1 },
    });
  });
});
