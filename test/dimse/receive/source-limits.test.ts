import { describe, expect, test } from 'vitest';
import { createSourceLimits } from '../../../dimse/receive/admission.ts';
import { source } from './source.ts';

/** Creates limits with a clock that the test can advance. */
function limitsOf() {
  let seconds = 0;
  const limits = createSourceLimits(() => seconds * 1000);
  return { limits, pass: (more: number) => (seconds += more) };
}

describe('the limits of a source', () => {
  test('associations at a time: the next one is refused until one has ended', () => {
    const { limits } = limitsOf();
    const cart = source('cart', { limits: { associations: 2 } });
    limits.associate(cart);
    const ended = limits.associate(cart);
    expect(limits.associate(cart)).toEqual({ refused: 'too_many_associations' });
    expect(limits.associate(source('other', { limits: { associations: 1 } }))).toBeTypeOf(
      'function',
    );
    if (typeof ended === 'function') ended();
    expect(limits.associate(cart)).toBeTypeOf('function');
  });

  test('objects per minute may come at once, then evenly; then no association is let in', () => {
    const { limits, pass } = limitsOf();
    const cart = source('cart', { limits: { objectsPerMinute: 6 } });
    const taken = () => limits.admitObject(cart);
    expect(Array.from({ length: 7 }, taken)).toEqual([...Array(6).fill(true), false]);
    expect(limits.associate(cart)).toEqual({ refused: 'source_congested' });
    pass(9.9);
    expect(taken()).toBe(false);
    pass(0.1);
    expect(taken()).toBe(true);
    expect(taken()).toBe(false);
  });

  test('bytes per minute: the object that crosses the limit is finished, the next refused', () => {
    const { limits, pass } = limitsOf();
    const cart = source('cart', { limits: { bytesPerMinute: 600 } });
    expect(limits.admitObject(cart)).toBe(true);
    limits.countBytes(cart, 599);
    expect(limits.admitObject(cart)).toBe(true);
    limits.countBytes(cart, 101);
    expect(limits.admitObject(cart)).toBe(false);
    pass(10);
    expect(limits.admitObject(cart)).toBe(false);
    pass(0.1);
    expect(limits.admitObject(cart)).toBe(true);
  });

  test('a source without configured limits is not limited', () => {
    const { limits } = limitsOf();
    const cart = source('cart', {});
    for (let n = 0; n < 1000; n++) limits.countBytes(cart, 1e9);
    expect(limits.admitObject(cart)).toBe(true);
    expect(limits.associate(cart)).toBeTypeOf('function');
  });
});
