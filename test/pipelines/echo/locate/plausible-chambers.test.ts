import { describe, expect, test } from 'vitest';
import { jumpingFrames, shapeFaults } from '../../../../pipelines/echo/locate/ventricle-pose.ts';
import { drawVentricle } from './ventricle-masks.ts';

describe('the shape of a left ventricle', () => {
  test('an ordinary one has no fault, upright or leaning', () => {
    expect(shapeFaults(drawVentricle())).toEqual([]);
    expect(shapeFaults(drawVentricle({ lean: 0.5 }))).toEqual([]);
  });

  test('a picture without cavity or wall shows none', () => {
    const masks = drawVentricle();
    masks.labels.fill(0);
    expect(shapeFaults(masks)).toEqual(['no-ventricle']);
    expect(shapeFaults(drawVentricle({ wall: 0 }))).toEqual(['no-ventricle']);
  });

  test('a slit and a ball are not plausible', () => {
    const slit = drawVentricle({ halfWidth: 14, wall: 9 });
    const ball = drawVentricle({ length: 120, halfWidth: 64, wall: 24 });
    expect(shapeFaults(slit)).toEqual(['slender-or-round']);
    expect(shapeFaults(ball)).toEqual(['slender-or-round']);
  });

  test('a wall on one side alone is not enough', () => {
    const masks = drawVentricle();
    masks.labels.forEach((label, pixel) => {
      if (label === 2 && pixel % masks.width > 115) masks.labels[pixel] = 0;
    });
    expect(shapeFaults(masks)).toContain('wall-missing');
  });

  test('a wall out of proportion to the cavity is reported', () => {
    expect(shapeFaults(drawVentricle({ wall: 3 }))).toEqual(['wall-out-of-proportion']);
    const thick = drawVentricle({ halfWidth: 16, length: 60, wall: 32 });
    expect(shapeFaults(thick)).toEqual(['wall-out-of-proportion']);
  });

  test('a cavity cut off at the edge of the fan is reported', () => {
    const masks = drawVentricle({ centre: { x: 8, y: 120 } });
    expect(shapeFaults(masks)).toContain('out-of-sector');
  });
});

describe('areas along a clip', () => {
  test('a beat has no jump', () => {
    const beat = Array.from({ length: 30 }, (_, n) => 3000 + 900 * Math.cos(n / 4.5));
    expect(jumpingFrames(beat)).toEqual([]);
  });

  test('a frame a quarter away from both neighbours is reported, and one just below that is not', () => {
    expect(jumpingFrames([100, 126, 100])).toEqual([1]);
    expect(jumpingFrames([100, 125, 100])).toEqual([]);
    expect(jumpingFrames([100, 74, 100])).toEqual([1]);
    expect(jumpingFrames([100, 76, 100])).toEqual([]);
  });

  test('a lasting step is not a jump of one frame, and the ends have only one neighbour', () => {
    expect(jumpingFrames([100, 100, 160, 160])).toEqual([]);
    expect(jumpingFrames([500, 100, 100, 500])).toEqual([]);
  });
});
