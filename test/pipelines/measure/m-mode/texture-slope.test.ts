import { describe, expect, it } from 'vitest';
import { textureSlopes } from '../../../../pipelines/measure/m-mode/edges.ts';
import type { MModePlane } from '../../../../pipelines/measure/m-mode/plane.ts';

const ROWS = 90;
const COLUMNS = 40;

/** Returns an M-mode whose texture is a function of `depth - rowsPerSample * time`. */
function moving(rowsPerSample: number, texture: (row: number) => number): MModePlane {
  const levels = Float32Array.from({ length: ROWS * COLUMNS }, (_, i) =>
    texture(Math.floor(i / COLUMNS) - rowsPerSample * (i % COLUMNS)),
  );
  return {
    left: 0,
    top: 0,
    columns: COLUMNS,
    width: 1,
    rows: ROWS,
    levels,
    depthPerRow: 0.05,
    secondsPerColumn: 0.01,
  };
}

/** Irregular, so that it matches itself at no other offset. */
const speckle = (row: number) => 100 + 60 * Math.sin(row * 0.9) + 40 * Math.sin(row * 0.37 + 1);

const middle = (slopes: Float32Array) => slopes[(ROWS >> 1) * COLUMNS + (COLUMNS >> 1)] ?? 0;

describe('textureSlopes', () => {
  it.each([0, 1, -1, 2.5, -2.5])(
    'returns the speed of a texture that moves %f rows per sample',
    (slope) => {
      expect(middle(textureSlopes(moving(slope, speckle)))).toBeCloseTo(slope, 1);
    },
  );

  it('returns 0 if there is no texture', () => {
    expect(new Set(textureSlopes(moving(1, () => 30)))).toEqual(new Set([0]));
  });
});
