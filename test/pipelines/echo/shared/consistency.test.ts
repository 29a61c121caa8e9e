import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import { withConsistency } from '../../../../pipelines/echo/shared/consistency.ts';
import { withPlausibility } from '../../../../pipelines/echo/shared/plausibility.ts';
import { NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { noteOf } from '../rendered.ts';

type Given = Readonly<Partial<Record<EchoConcept, number>>>;

function of(given: Given, provenance: 'cart-sr' | 'model') {
  return Object.entries(given).map(([key, value]) =>
    createMeasurement(`${provenance}-${key}`, key as EchoConcept, value, 'cart-sr', {
      section: 'valves',
      source: { ...NO_FRAME, provenance },
    }),
  );
}

/** Returns the concepts that are still reported after the values were compared with each other. */
const standing = (machine: Given, images: Given = {}) =>
  withConsistency([...of(machine, 'cart-sr'), ...of(images, 'model')])
    .filter(({ quality }) => quality === 'accepted')
    .map(({ id }) => id);

describe('stroke volume of a contour', () => {
  it.each([
    [70, 60, 3],
    [70, 60.1, 0],
    [300, 100, 3],
    [300, 99.9, 0],
    [60, 70, 0],
  ])('of EDV %d and ESV %d ml leaves %d values', (filled, emptied, count) => {
    const biplane = { 'lvedv-biplane': filled, 'lvesv-biplane': emptied, 'lvef-biplane': 50 };
    expect(standing(biplane)).toHaveLength(count);
  });
  it('of A4C also withholds the mean of both networks, of which it is one half', () => {
    expect(standing({}, { 'lvedv-4c': 70, 'lvesv-4c': 65, 'lvef-networks': 60 })).toEqual([]);
  });
  it('of the images does not affect the machine, nor another plane', () => {
    const own = { 'lvedv-2c': 70, 'lvesv-2c': 65, 'lvef-2c': 60, 'lvef-4c': 55 };
    expect(standing({ 'lvef-2c': 60 }, own)).toEqual(['cart-sr-lvef-2c', 'model-lvef-4c']);
  });
  it('is named in the reason', () => {
    const [first] = withConsistency(of({ 'lvedv-4c': 70, 'lvesv-4c': 65 }, 'model'));
    expect(first).toMatchObject({ quality: 'inadequate' });
    expect(noteOf(first)).toContain('stroke volume 5 ml');
  });
});

describe('LVIDs', () => {
  it.each([
    [4.9, ['cart-sr-lvidd', 'cart-sr-lvids', 'cart-sr-fractional-shortening']],
    [5, ['cart-sr-lvidd']],
    [5.1, ['cart-sr-lvidd']],
  ])('of %d cm beside an LVIDd of 5 cm leaves %o', (lvids, expected) => {
    expect(standing({ lvidd: 5, lvids, 'fractional-shortening': 30 })).toEqual(expected);
  });
});

describe('areas of one view', () => {
  it('at end-systole are below those at end-diastole', () => {
    expect(standing({}, { 'lv-ed-area-4c': 30, 'lv-es-area-4c': 29 })).toHaveLength(2);
    expect(standing({}, { 'lv-ed-area-4c': 30, 'lv-es-area-4c': 30 })).toEqual([]);
  });
});

describe('a value of the left heart that is impossible', () => {
  it.each([
    ['lvef-networks', 5, 90],
    ['lvedv-4c', 25, 500],
    ['lvedv-2c', 25, 500],
    ['lv-ed-area-4c', 12, 80],
    ['lv-length-4c', 5, 12],
    ['lv-length-2c', 5, 12],
    ['la-area-4c', 6, 60],
    ['la-area-2c', 6, 60],
    ['rv-ed-area', 5, 60],
    ['body-surface-area', 1, 3.2],
  ] as const)('%s is plausible from %d to %d', (key, low, high) => {
    const quality = (value: number) =>
      withPlausibility(createMeasurement(key, key, value, 'cart-sr', { section: 'valves' }), key)
        .quality;
    expect([low - 0.01, low, high, high + 0.01].map(quality)).toEqual([
      'inadequate',
      'accepted',
      'accepted',
      'inadequate',
    ]);
  });
});
