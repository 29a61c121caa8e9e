import { describe, expect, it } from 'vitest';
import type { PhantomFrame } from '../../../../models/phantom/frame.ts';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import { fourChamber, systole } from '../../../../models/phantom/views/four-chamber.ts';

const GA_DAYS = 154;

function simulate(seed: number, anatomy: Record<string, number>, frames = 1): PhantomFrame[] {
  return fourChamber.simulate({ gaDays: GA_DAYS, sizes: sizesAt(GA_DAYS), seed, frames, anatomy });
}

const area = (mask: Uint8Array | undefined) => mask?.reduce((sum, one) => sum + one, 0) ?? 0;

function areaRatio({ truth }: PhantomFrame): number {
  const heart = area(truth.masks?.heart);
  return heart / (heart + area(truth.masks?.thorax));
}

describe('a four-chamber phantom', () => {
  it.each([0.25, 0.4])(
    'has a heart with the area ratio %d in end diastole, and a smaller one otherwise',
    (ratio) => {
      const [frame] = simulate(11, { areaRatio: ratio });
      const squeeze = systole(frame?.truth.values?.phaseOfBeat ?? Number.NaN);
      const expected = ratio * (1 - 0.06 * squeeze) ** 2;
      expect(frame && areaRatio(frame)).toBeCloseTo(expected, 2);
    },
  );

  it.each([30, 60])(
    'has a septum at %d degrees to the line from spine to sternum',
    (axisDegrees) => {
      const [frame] = simulate(12, { axisDegrees });
      const direction = (name: string) => {
        const [from, to] = frame?.truth.points?.[name] ?? [];
        return from && to ? Math.atan2(to.y - from.y, to.x - from.x) : Number.NaN;
      };
      const turn = direction('septum') - direction('spineToSternum');
      const degrees = (Math.abs(Math.atan2(Math.sin(turn), Math.cos(turn))) * 180) / Math.PI;
      expect(degrees).toBeCloseTo(axisDegrees, 6);
    },
  );

  it('beats: its heart is smaller in systole, and the same again one beat later', () => {
    const frames = simulate(13, { beatsPerMinute: 150 }, 13);
    const sizes = frames.map(({ truth }) => area(truth.masks?.heart));
    expect(Math.min(...sizes)).toBeLessThan(0.93 * Math.max(...sizes));
    expect(Math.abs((sizes[0] ?? 0) - (sizes[12] ?? 0))).toBeLessThan(0.02 * (sizes[0] ?? 0));
  });

  it('does not move at a rate of 0', () => {
    const sizes = simulate(14, { beatsPerMinute: 0 }, 3).map(({ truth }) =>
      area(truth.masks?.heart),
    );
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(0.01 * (sizes[0] ?? 0));
  });

  it('shows the same without masks, if the caller does not need them', () => {
    const request = { gaDays: GA_DAYS, sizes: sizesAt(GA_DAYS), seed: 15, frames: 1 };
    const [masked] = fourChamber.simulate(request);
    const [frame] = fourChamber.simulate({ ...request, masks: false });
    expect(frame?.truth).toEqual({ ...masked?.truth, masks: undefined });
    expect(frame?.gray).toEqual(masked?.gray);
  });
});
