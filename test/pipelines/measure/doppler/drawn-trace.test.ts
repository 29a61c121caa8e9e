import { describe, expect, it } from 'vitest';
import { drawnTrace } from '../../../../pipelines/measure/doppler/envelope.ts';

/**
 * A display that starts at column 50 of the frame, with its baseline in its row 150 and 0.5 cm/s
 * per row.
 */
const DISPLAY = { left: 50, top: 200, zeroRow: 150, velocityPerRow: 0.5 };
const CURVE = Float64Array.of(0, 20, 40, -10);

describe('a velocity curve on its frame', () => {
  it('rises above the baseline, and falls below it for reversed flow', () => {
    const { baselineRow, points } = drawnTrace(CURVE, 'above', DISPLAY, []);
    expect(baselineRow).toBe(350);
    expect(points).toEqual([
      [50, 350],
      [51, 310],
      [52, 270],
      [53, 370],
    ]);
  });

  it('of a flow away from the probe is below the baseline', () => {
    const { points } = drawnTrace(CURVE, 'below', DISPLAY, []);
    expect(points.map(([, y]) => y)).toEqual([350, 390, 430, 330]);
  });

  it('marks its beats in columns of the frame', () => {
    expect(drawnTrace(CURVE, 'above', DISPLAY, [0, 3]).beats).toEqual([50, 53]);
  });
});
