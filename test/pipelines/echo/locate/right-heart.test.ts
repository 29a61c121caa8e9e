import { expect, test } from 'vitest';
import type { ChamberMasks } from '../../../../pipelines/echo/locate/chambers.ts';
import { withRightHeart } from '../../../../pipelines/echo/locate/chambers.ts';

const masks = (labels: readonly number[], rv: number): ChamberMasks => ({
  area: { minX: 0, minY: 0, maxX: labels.length - 1, maxY: 0 },
  width: labels.length,
  height: 1,
  labels: Uint8Array.from(labels),
  confidence: { lv: 0.9, myocardium: 0.9, la: 0.9, rv, ra: rv },
  accepted: true,
});

test('the right heart comes from the model that outlines it, and never covers the left heart', () => {
  const joined = withRightHeart(masks([0, 0, 0, 2, 1, 3], 0), masks([4, 5, 1, 4, 5, 0], 0.7));
  expect([...joined.labels]).toEqual([4, 5, 0, 2, 1, 3]);
  expect(joined.confidence).toEqual({ lv: 0.9, myocardium: 0.9, la: 0.9, rv: 0.7, ra: 0.7 });
});
