import { describe, expect, it } from 'vitest';
import type { CartMeasurement } from '../../../pipelines/contract/cart.ts';
import { cartMeasurements } from '../../../pipelines/result/cart-measurements.ts';
import type { ConceptKey } from '../../../pipelines/result/concepts.ts';
import { cartValue } from '../cart-sample.ts';

const CONCEPT = { scheme: 'LN', code: '1-8', meaning: 'a quantity' };

function standing(key: ConceptKey, ...given: (number | [number, Partial<CartMeasurement>])[]) {
  const cart = given.map((one) => {
    const [value, details] = typeof one === 'number' ? [one, {}] : one;
    return cartValue({ key, concept: CONCEPT, value, unit: '1', ...details });
  });
  return cartMeasurements(cart, 'any', [key])[0];
}

describe('of several values of which the machine chose none', () => {
  it('the median stands', () => {
    expect(standing('lvot-vti', 18, 22, 19)).toMatchObject({
      value: 19,
      derivation: 'median',
      note: 'median of 3 values, of which the machine chose none',
    });
  });

  it.each(['av-vmax', 'tr-vmax', 'lvot-diameter', 'ivc-diameter'] as const)(
    'the highest %s stands, with its image',
    (key) => {
      const image = { sopInstanceUid: '2.25.7', frame: 3 };
      expect(standing(key, 2, [2.6, { image }], 2.1)).toMatchObject({
        value: 2.6,
        source: { sop_instance_uid: '2.25.7', frame: 3 },
        note: 'highest of 3 values, of which the machine chose none',
      });
    },
  );

  it('a single one stands as it is', () => {
    expect(standing('av-vmax', 4.2)).toMatchObject({ value: 4.2, note: null });
  });
});

describe('what the machine chose', () => {
  it('stands before a higher value', () => {
    const chosen = standing('av-vmax', [3.9, { selection: 'user' }], 4.2);
    expect(chosen).toMatchObject({ value: 3.9, note: 'chosen by the operator on the machine' });
  });
  it('and its mean stand before a higher value: so are beats of an irregular rhythm', () => {
    expect(standing('av-vmax', 4.4, [4, { derivation: 'mean' }])?.value).toBe(4);
  });
});
