import { describe, expect, it } from 'vitest';
import type { PhantomFrame } from '../../../../models/phantom/frame.ts';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import type { PhantomView } from '../../../../models/phantom/view.ts';
import { cerebellum, lateralVentricle } from '../../../../models/phantom/views/brain-structures.ts';

const GA_DAYS = 154;

function simulate(view: PhantomView, seed: number, anatomy = {}): PhantomFrame {
  const request = { gaDays: GA_DAYS, sizes: sizesAt(GA_DAYS), seed, frames: 1, anatomy };
  return view.simulate(request)[0] as PhantomFrame;
}

/** Returns the distance between both ends of a measurement, mm. */
function between({ truth }: PhantomFrame, name: string): number {
  const [one, other] = truth.points?.[name] ?? [];
  if (!one || !other) throw new Error(`no ${name}`);
  return truth.mmPerPixel * Math.hypot(one.x - other.x, one.y - other.y);
}

const inside = (mask: Uint8Array | undefined) => mask?.reduce((sum, one) => sum + one, 0) ?? 0;

describe('a transcerebellar phantom', () => {
  it.each([1, 2, 3])('with seed %i has the requested sizes between its ends', (seed) => {
    const frame = simulate(cerebellum, seed, { tcdMm: 23, cisternaMm: 6 });
    expect(between(frame, 'cerebellum')).toBeCloseTo(23, 6);
    expect(between(frame, 'cisternaMagna')).toBeCloseTo(6, 6);
    expect(frame.truth.plane).toBe('transcerebellar');
  });

  it('shows a cerebellum as wide as the distance between its ends', () => {
    const { truth, columns, rows } = simulate(cerebellum, 4, { tcdMm: 23, cisternaMm: 6 });
    const mask = truth.masks?.cerebellum ?? new Uint8Array();
    const [one, other] = truth.points?.cerebellum ?? [];
    if (!one || !other) throw new Error('no ends');
    const length = Math.hypot(other.x - one.x, other.y - one.y);
    const along = { x: (other.x - one.x) / length, y: (other.y - one.y) / length };
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        if (!mask[row * columns + column]) continue;
        const at = (column - one.x) * along.x + (row - one.y) * along.y;
        low = Math.min(low, at);
        high = Math.max(high, at);
      }
    }
    expect(Math.abs(high - low - length) * truth.mmPerPixel).toBeLessThan(0.6);
  });
});

describe('a transventricular phantom', () => {
  it.each([5, 12])('has an atrium of %i mm', (atrialMm) => {
    const frame = simulate(lateralVentricle, 5, { atrialMm });
    expect(between(frame, 'atrium')).toBeCloseTo(atrialMm, 6);
    expect(inside(frame.truth.masks?.ventricle)).toBeGreaterThan(0);
  });

  it('is the same for the same seed', () => {
    const [one, other] = [simulate(lateralVentricle, 6), simulate(lateralVentricle, 6)];
    expect(Buffer.from(one.gray).equals(Buffer.from(other.gray))).toBe(true);
  });
});
