import { describe, expect, it } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement } from '../../../pipelines/contract/study.ts';
import { cartValue } from '../cart-sample.ts';
import { measurementOf, sectionOf } from './evidence-sample.ts';
import { reviewedViews, reviewedWith } from './reviewed-study.ts';

/** A change to one value must not change another value of the same quantity. */

function machine(key: ConceptKey, value: number, given: Partial<CartMeasurement> = {}) {
  const { unit } = CONCEPTS[key];
  const concept = { scheme: 'LN', code: key, meaning: key };
  return cartValue({ key, concept, value, unit, ...given });
}

const type = (measurement: string, value: number) =>
  ({ kind: 'set-value', measurement, value }) as const;
const reject = (measurement: string) => ({ kind: 'reject', measurement }) as const;

describe('the machine’s values of two fetuses in one report', () => {
  const twins = reviewedViews(
    {},
    {
      cart: [
        machine('hc', 250, { fetus: 'A' }),
        machine('hc', 260, { fetus: 'B' }),
        machine('efw', 1000, { fetus: 'A' }),
        machine('efw', 1200, { fetus: 'B' }),
      ],
    },
  );

  it('are corrected one by one', () => {
    const result = reviewedWith(twins, type('cart-efw-A', 900));
    expect(measurementOf(result, 'cart-efw-A')).toMatchObject({ value: 900, confirmed: 'entered' });
    expect(measurementOf(result, 'cart-efw-B')).toMatchObject({ value: 1200, origin: 'machine' });
    expect(sectionOf(result, 'growth').data.discordance_percent).toBe(25);
  });

  it('may be corrected again, even if both were set to one value', () => {
    const result = reviewedWith(
      twins,
      type('cart-efw-A', 900),
      type('cart-efw-B', 900),
      type('cart-efw-A', 950),
    );
    expect(measurementOf(result, 'cart-efw-A').value).toBe(950);
    expect(measurementOf(result, 'cart-efw-B').value).toBe(900);
  });

  it('are rejected one by one', () => {
    const result = reviewedWith(twins, reject('cart-hc-A'));
    expect(measurementOf(result, 'cart-hc-A').standing).toBe('withheld');
    expect(measurementOf(result, 'cart-hc-B').standing).toBe('counts');
  });
});

describe('two heart rates of the machine on both sides of a limit', () => {
  const rates = reviewedViews(
    {},
    { cart: [machine('fetal-heart-rate', 70), machine('fetal-heart-rate', 140)] },
  );
  const counting = (...changes: Parameters<typeof reviewedWith>[1][]) =>
    reviewedWith(rates, ...changes)
      .measurements.filter(({ standing }) => standing === 'counts')
      .map(({ value }) => value);

  it('are rejected one by one', () => {
    expect(counting(reject('fetal-heart-rate'))).toEqual([140]);
    expect(counting(reject('cart-fetal-heart-rate-2'))).toEqual([70]);
  });

  it('are corrected one by one, and again', () => {
    const [slow, fast] = ['fetal-heart-rate', 'cart-fetal-heart-rate-2'];
    expect(counting(type(slow, 135), reject(fast))).toEqual([135]);
    expect(counting(type(slow, 80), type(slow, 135))).toEqual([135]);
  });
});

describe('a cervical length that the machine lists with a fetus', () => {
  it('is the mother’s, and may be corrected', () => {
    const cart = [machine('cervical-length', 34, { fetus: '1' })];
    const result = reviewedWith(reviewedViews({}, { cart }), type('cervical-length', 31));
    expect(measurementOf(result, 'cervical-length')).toMatchObject({ value: 31, fetus: null });
  });
});
