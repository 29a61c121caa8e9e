import { expect, it } from 'vitest';
import { freeMemory } from '../../../src/platform/free-memory.ts';

it('frees arrays, also those that share their memory', () => {
  const whole = new Float32Array(8);
  const parts = [whole.subarray(0, 4), whole.subarray(4)];
  const large = Buffer.alloc(2 * Buffer.poolSize);
  freeMemory([...parts, large]);
  expect([...parts, large].map(({ byteLength }) => byteLength)).toEqual([0, 0, 0]);
});

it('leaves a small Buffer alone, because others share its memory', () => {
  const [one, other] = [Buffer.from('one'), Buffer.from('other')];
  freeMemory([one]);
  expect(String(other)).toBe('other');
});
