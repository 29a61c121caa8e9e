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
  test('refuse the next association at the maximum until one has ended', () => {
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

  test('let objects arrive in a burst and then evenly; beyond that, no association is accepted', () => {
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

  test('let the object that exceeds the bytes per minute finish, and refuse the next', () => {
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

  test('do not apply to a source that has none configured', () => {
    const { limits } = limitsOf();
    const cart = source('cart', {});
    for (let n = 0; n < 1000; n++) limits.countBytes(cart, 1e9);
    expect(limits.admitObject(cart)).toBe(true);
    expect(limits.associate(cart)).toBeTypeOf('function');
  });
});
