import { describe, expect, test } from 'vitest';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { createMeasurement } from '../../../pipelines/result/measurement.ts';
import { standingFirst, standingValues } from '../../../pipelines/result/standing-values.ts';

const rate = (id: string, given: Partial<Measurement> = {}) =>
  createMeasurement(id, 'fetal-heart-rate', 146, 'm-mode-trace', {
    section: 'fetal-heart',
    derivation: 'measured',
    ...given,
  });
const hc = (id: string, value: number, given: Partial<Measurement> = {}) =>
  createMeasurement(id, 'hc', value, 'hc-ellipse', { derivation: 'measured', ...given });

const ids = (measurements: readonly Measurement[]) => measurements.map(({ id }) => id);

describe('of several values of a quantity', () => {
  test('the one that the section chose stands, not its numbered repeats', () => {
    const given = [
      rate('fetal-heart-rate-doppler-1'),
      rate('fetal-heart-rate'),
      rate('fetal-heart-rate-chest-2'),
    ];
    expect(ids(standingValues(given))).toEqual(['fetal-heart-rate']);
  });

  test('all stand where none was chosen, or where the chosen one was not accepted', () => {
    const repeats = [rate('fetal-heart-rate-doppler-1'), rate('fetal-heart-rate-doppler-2')];
    expect(standingValues(repeats)).toHaveLength(2);
    const rejected = rate('fetal-heart-rate', { quality: 'low' });
    expect(standingValues([rejected, ...repeats])).toHaveLength(3);
  });

  test('one side does not stand for the other, nor one section for another', () => {
    const side = (laterality: 'left' | 'right') =>
      createMeasurement(
        `uterine-artery-pi-${laterality}`,
        'uterine-artery-pi',
        0.9,
        'spectral-trace',
        { section: 'doppler', laterality },
      );
    expect(standingValues([side('left'), side('right')])).toHaveLength(2);
    const elsewhere = rate('fetal-heart-rate-2', { section: 'early-pregnancy' });
    expect(standingValues([rate('fetal-heart-rate'), elsewhere])).toHaveLength(2);
  });

  test('a median stands before what it was made of', () => {
    const median = hc('hc', 264, { derivation: 'median', inputs: ['hc-1', 'hc-2'] });
    const given = [hc('hc-1', 262), hc('hc-2', 266), median];
    expect(ids(standingValues(given))).toEqual(['hc']);
    expect(ids(standingFirst(given))).toEqual(['hc', 'hc-1', 'hc-2']);
  });
});
