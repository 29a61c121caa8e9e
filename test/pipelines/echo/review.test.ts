import { describe, expect, it } from 'vitest';
import {
  type EchoReviewed,
  interpretReviewed,
  reviewRules,
} from '../../../pipelines/echo/review.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { effectsOf } from '../../../pipelines/run/review-effects.ts';
import { outlinedHeart } from './reviewed-heart.ts';

const AT = new Date('2026-01-01T00:00:00Z');

const counting = (key: string, { measurements }: Result) =>
  measurements.find(({ concept, standing }) => concept.key === key && standing === 'counts');

type Points = readonly (readonly [number, number])[];

/**
 * Returns the result after `draw` has changed the end-systolic outline of the four-chamber view.
 */
function redrawn(reviewed: EchoReviewed, draw: (points: Points) => [number, number][]): Result {
  const original = interpretReviewed(reviewed, [], AT);
  const one = original.measurements.find(
    ({ concept, source }) => concept.key === 'lvesv-4c' && source.calipers.length > 0,
  );
  if (!one) throw new Error('no outline of end-systole');
  const change = {
    kind: 'set-outline' as const,
    measurement: one.id,
    points: draw(one.source.calipers[0]?.points ?? []),
  };
  const state = { original, result: original, effects: [] };
  return interpretReviewed(reviewed, effectsOf(change, state, reviewRules(reviewed)), AT);
}

/** Scales the outline's width about the long axis. */
const narrowed = (share: number) => (points: Points) => {
  const middle = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  return points.map(([x, y]): [number, number] => [middle + share * (x - middle), y]);
};

describe('a left ventricular outline that a person has redrawn', () => {
  const reviewed = outlinedHeart();
  const before = interpretReviewed(reviewed, [], AT);

  it.each([0.9, 0.75, 0.5])(
    'narrower by %f at end-systole lowers the volume with the square of that',
    (share) => {
      const after = redrawn(reviewed, narrowed(share));
      const [old, now] = [counting('lvesv-4c', before), counting('lvesv-4c', after)];
      expect(now).toMatchObject({ confirmed: 'edited', origin: 'person' });
      expect((now?.value ?? 0) / (old?.value ?? 1)).toBeCloseTo(share ** 2, 1);
    },
  );

  it('changes the ejection fraction of the plane and of both planes, as well as the impression', () => {
    const after = redrawn(reviewed, narrowed(0.75));
    const changed = (key: string) => {
      const [old, now] = [counting(key, before)?.value ?? 0, counting(key, after)?.value ?? 0];
      return now - old;
    };
    expect(changed('lvef-4c')).toBeGreaterThan(15);
    expect(changed('lvef-biplane')).toBeGreaterThan(5);
    expect(changed('lvesv-biplane')).toBeLessThan(-5);
    expect(changed('lvedv-biplane')).toBe(0);
    const [first] = after.report?.impression ?? [];
    expect(first).toContain('LVEF 68 %');
    expect(before.report?.impression[0]).toContain('LVEF 57 %');
  });

  it('that does not reach the valve is refused, and not replaced by the former outline', () => {
    const apart = (points: Points) =>
      points.map(([x, y]): [number, number] => [100 + (x - 100) / 4, 100 + (y - 150) / 4]);
    expect(() => redrawn(reviewed, apart)).toThrow('does not reach the valve');
  });
});
