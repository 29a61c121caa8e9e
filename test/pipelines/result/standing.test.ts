import { describe, expect, test } from 'vitest';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { asRepeat, NO_FRAME } from '../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../pipelines/result/measurement.ts';
import {
  countingFirst,
  countingValues,
  withoutComparisons,
  withStanding,
} from '../../../pipelines/result/standing.ts';

const rate = (id: string, given: Partial<Measurement> = {}) =>
  createMeasurement(id, 'fetal-heart-rate', 146, 'm-mode-trace', {
    section: 'fetal-heart',
    derivation: 'measured',
    ...given,
  });
const hc = (id: string, value: number, given: Partial<Measurement> = {}) =>
  createMeasurement(id, 'hc', value, 'hc-ellipse', {
    section: 'biometry',
    derivation: 'measured',
    ...given,
  });

const ids = (measurements: readonly Measurement[]) => measurements.map(({ id }) => id);

describe('of several values of a quantity', () => {
  test('are represented by the one that the section chose, not by its numbered repeats', () => {
    const given = [
      asRepeat(rate('fetal-heart-rate-doppler-1')),
      rate('fetal-heart-rate'),
      asRepeat(rate('fetal-heart-rate-chest-2')),
    ];
    expect(ids(countingValues(withStanding(given)))).toEqual(['fetal-heart-rate']);
  });

  test('all count if none was chosen, or if the chosen one was not accepted', () => {
    const repeats = [
      asRepeat(rate('fetal-heart-rate-doppler-1')),
      asRepeat(rate('fetal-heart-rate-doppler-2')),
    ];
    expect(countingValues(withStanding(repeats))).toHaveLength(2);
    const rejected = rate('fetal-heart-rate', { quality: 'low' });
    expect(ids(countingValues(withStanding([rejected, ...repeats])))).toEqual(ids(repeats));
  });

  test('are mentioned once if none was accepted, and not at all beside one that counts', () => {
    const low = ['hc-1', 'hc-2', 'hc-3'].map((id) => hc(id, 262, { quality: 'inadequate' }));
    expect(ids(countingValues(withStanding(low)))).toEqual(['hc-1']);
    expect(ids(countingValues(withStanding([...low, hc('hc', 264)])))).toEqual(['hc']);
    const ofTwins = low.map((one, index) => ({ ...one, fetus: index === 0 ? 'A' : 'B' }));
    expect(ids(countingValues(withStanding(ofTwins)))).toEqual(['hc-1', 'hc-2']);
  });

  const standings = (given: readonly Measurement[]) =>
    withStanding(given).map(({ id, standing }) => [id, standing]);

  test('are not proposed for review beside the accepted value that the section chose', () => {
    const sweep = rate('fetal-heart-rate');
    const cine = asRepeat(rate('fetal-heart-rate-chest-1', { quality: 'review' }));
    expect(standings([sweep, cine])).toEqual([
      ['fetal-heart-rate', 'counts'],
      ['fetal-heart-rate-chest-1', 'repeat'],
    ]);
  });

  test('propose for review only the one that the section chose, or all if it chose none', () => {
    const chosen = rate('fetal-heart-rate', { quality: 'review', standing: 'proposed' });
    const cine = asRepeat(rate('fetal-heart-rate-chest-1', { quality: 'review' }));
    expect(standings([chosen, cine])).toEqual([
      ['fetal-heart-rate', 'proposed'],
      ['fetal-heart-rate-chest-1', 'repeat'],
    ]);
    expect(standings([cine])).toEqual([['fetal-heart-rate-chest-1', 'proposed']]);
  });

  test('do not replace those of another side or section', () => {
    const side = (laterality: 'left' | 'right') =>
      createMeasurement(
        `uterine-artery-pi-${laterality}`,
        'uterine-artery-pi',
        0.9,
        'spectral-trace',
        { section: 'doppler', laterality },
      );
    expect(countingValues(withStanding([side('left'), side('right')]))).toHaveLength(2);
    const elsewhere = asRepeat(rate('fetal-heart-rate-2', { section: 'early-pregnancy' }));
    expect(countingValues(withStanding([rate('fetal-heart-rate'), elsewhere]))).toHaveLength(2);
  });

  test('count separately for twins', () => {
    const of = (fetus: string, id: string) => rate(`${id}-fetus-${fetus.toLowerCase()}`, { fetus });
    const given = [
      of('A', 'fetal-heart-rate'),
      asRepeat(of('A', 'fetal-heart-rate-doppler-2')),
      asRepeat(of('B', 'fetal-heart-rate-doppler-3')),
    ];
    expect(ids(countingValues(withStanding(given)))).toEqual([
      'fetal-heart-rate-fetus-a',
      'fetal-heart-rate-doppler-3-fetus-b',
    ]);
    // A fetus number must not be mistaken for the index of a repeated value.
    const numbered = [of('1', 'fetal-heart-rate'), of('2', 'fetal-heart-rate')];
    expect(countingValues(withStanding(numbered))).toHaveLength(2);
  });

  test('are represented by their median, which takes precedence', () => {
    const median = hc('hc', 264, { derivation: 'median', inputs: ['hc-1', 'hc-2'] });
    const given = [hc('hc-1', 262), hc('hc-2', 266), median];
    expect(ids(countingValues(withStanding(given)))).toEqual(['hc']);
    expect(ids(countingFirst(withStanding(given)))).toEqual(['hc', 'hc-1', 'hc-2']);
  });
});

describe('a value of the ultrasound machine', () => {
  const pi = (id: string, given: Partial<Measurement>) =>
    createMeasurement(id, 'uterine-artery-pi', 0.9, 'spectral-trace', {
      section: 'doppler',
      ...given,
    });
  const cart = (given: Partial<Measurement>) =>
    pi('cart', { source: { ...NO_FRAME, provenance: 'cart-sr' }, ...given });
  const kept = (ours: Partial<Measurement>, machine: Partial<Measurement>) =>
    ids(withoutComparisons(withStanding([pi('ours', ours), cart(machine)]))).includes('cart');

  test.each([
    [{ laterality: 'left' }, { laterality: 'left' }, false],
    [{ laterality: 'left' }, { laterality: 'right' }, true],
    [{ laterality: 'left' }, {}, false],
    [{ fetus: 'A' }, { fetus: 'A' }, false],
    [{ fetus: 'A' }, { fetus: '1' }, false],
    [{ fetus: 'A' }, { fetus: 'B' }, true],
    [{}, { fetus: 'A' }, false],
    [{ quality: 'low' }, {}, true],
  ] as const)('of ours, %j, and one of %j: it is kept: %s', (ours, machine, stays) => {
    expect(kept(ours, machine)).toBe(stays);
  });

  test('of another quantity is kept', () => {
    const length = hc('cart-hc', 264, { source: { ...NO_FRAME, provenance: 'cart-sr' } });
    expect(ids(withoutComparisons(withStanding([pi('ours', {}), length])))).toContain('cart-hc');
  });
});
