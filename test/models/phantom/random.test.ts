import { describe, expect, it } from 'vitest';
import { createNoise, createRandom, fillScatterers } from '../../../models/phantom/random.ts';

const draws = (seed: number) => {
  const random = createRandom(seed);
  return Array.from({ length: 20 }, () => random.unit());
};

describe('seeded random numbers', () => {
  it('repeat for the same seed and differ for another', () => {
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
  });

  it('can be forked by name, independently of what was drawn before', () => {
    const fresh = createRandom(7);
    const used = createRandom(7);
    used.unit();
    used.normal(0, 1);
    expect(used.fork('skull').unit()).toBe(fresh.fork('skull').unit());
    expect(fresh.fork('skull').unit()).not.toBe(fresh.fork('skin').unit());
  });

  it('keep whole numbers within both ends, and reach both', () => {
    const random = createRandom(1);
    const seen = new Set(Array.from({ length: 200 }, () => random.integer(3, 5)));
    expect([...seen].sort()).toEqual([3, 4, 5]);
  });

  it('make scatterers with mean 0 and variance 1', () => {
    const field = new Float32Array(100_000);
    fillScatterers(field, 5);
    const mean = field.reduce((sum, value) => sum + value, 0) / field.length;
    const variance = field.reduce((sum, value) => sum + (value - mean) ** 2, 0) / field.length;
    expect(mean).toBeCloseTo(0, 1);
    expect(variance).toBeCloseTo(1, 1);
  });

  it('make noise that is smooth within a cell and stays within -1 to 1', () => {
    const noise = createNoise(createRandom(2), 10);
    for (let x = -50; x < 50; x += 3.7) {
      expect(Math.abs(noise(x, 2 * x))).toBeLessThanOrEqual(1);
      expect(Math.abs(noise(x, 5) - noise(x + 0.1, 5))).toBeLessThan(0.05);
    }
  });
});
