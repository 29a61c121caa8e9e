import { expect, test } from 'vitest';
import { ventricleCrop, ventriclePose } from '../../../../pipelines/echo/locate/ventricle-pose.ts';
import { drawVentricle } from './ventricle-masks.ts';

test('the apex is where the wall closes, however the ventricle is rotated', () => {
  for (const lean of [0, 0.6, -0.6, 2.5]) {
    const pose = ventriclePose(drawVentricle({ lean }));
    const up = { x: Math.sin(lean), y: -Math.cos(lean) };
    expect(Math.cos(pose?.toApex ?? 0)).toBeCloseTo(up.x, 1);
    expect(Math.sin(pose?.toApex ?? 0)).toBeCloseTo(up.y, 1);
  }
});

test('the length follows the cavity', () => {
  const short = ventriclePose(drawVentricle({ length: 80 }))?.length ?? 0;
  const long = ventriclePose(drawVentricle({ length: 120 }))?.length ?? 0;
  expect(long / short).toBeCloseTo(1.5, 1);
});

test('without a wall there is neither apex nor pose', () => {
  expect(ventriclePose(drawVentricle({ wall: 0 }))).toBeNull();
});

test('the view shows the same ventricle upright, whatever its position, size and rotation', () => {
  const picture = (drawn: Parameters<typeof drawVentricle>[0]) => {
    const masks = drawVentricle(drawn);
    const data = masks.labels.map((label) => (label === 1 ? 40 : label === 2 ? 200 : 90));
    const pose = ventriclePose(masks);
    if (!pose) throw new Error('the drawing has a pose');
    return ventricleCrop({ width: masks.width, height: masks.height, data }, pose, 64, 1.2);
  };
  const upright = picture({});
  const turned = picture({
    lean: 0.7,
    length: 90,
    halfWidth: 30 * (90 / 110),
    wall: 12 * (90 / 110),
  });
  const differing = upright.filter((value, i) => Math.abs(value - (turned[i] ?? 0)) > 0.2).length;
  expect(differing / upright.length).toBeLessThan(0.06);
});

test('beyond the picture the view is black', () => {
  const image = { width: 20, height: 20, data: new Uint8Array(400).fill(255) };
  const pose = { centre: { x: 0, y: 0 }, toApex: -Math.PI / 2, length: 20 };
  const view = ventricleCrop(image, pose, 16, 1);
  expect(view[0]).toBe(0);
  expect(view[16 * 12 + 12]).toBe(1);
});
