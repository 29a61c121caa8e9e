import { expect, it } from 'vitest';
import { sizesAt } from '../../../models/phantom/sizes.ts';
import { shotsAt } from '../../../models/phantom/study-shots.ts';

const GA_DAYS = 203;

/** 5th and 95th centile of the amniotic fluid index at 29 weeks, mm (Moore and Cayle 1990). */
const USUAL_INDEX = { low: 92, high: 231 };

it('a normal pregnancy has a normal amount of amniotic fluid', () => {
  const quadrants = shotsAt(GA_DAYS, 'stills').filter(({ viewName }) =>
    viewName?.startsWith('AFI'),
  );
  expect(quadrants).toHaveLength(4);
  const pockets = quadrants.map(({ of, anatomy }, i) => {
    if (typeof of === 'string') throw new Error('a plane of biometry is not a quadrant');
    const [frame] = of.simulate({
      gaDays: GA_DAYS,
      sizes: sizesAt(GA_DAYS),
      seed: 5000 + i,
      frames: 1,
      screen: { columns: 640, rows: 480 },
      anatomy: anatomy?.(GA_DAYS / 7) ?? {},
    });
    return frame?.truth.values?.pocketMm ?? Number.NaN;
  });
  const index = pockets.reduce((sum, depth) => sum + depth, 0);
  expect(index).toBeGreaterThan(USUAL_INDEX.low);
  expect(index).toBeLessThan(USUAL_INDEX.high);
});
