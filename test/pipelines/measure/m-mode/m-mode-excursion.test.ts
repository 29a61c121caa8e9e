import { describe, expect, it } from 'vitest';
import { annularExcursion } from '../../../../pipelines/measure/m-mode/excursion.ts';
import type { MModePlane } from '../../../../pipelines/measure/m-mode/plane.ts';

const DEPTH_PER_ROW = 0.04;
const SECONDS_PER_COLUMN = 0.02;

/**
 * Returns the depth in cm of a structure that moves by `excursion` towards the probe with each
 * beat.
 */
const beating = (depth: number, excursion: number) => (column: number) => {
  const phase = ((column * SECONDS_PER_COLUMN) / 0.8) % 1;
  return depth - (excursion * (1 - Math.cos(2 * Math.PI * phase))) / 2;
};

/**
 * Draws three beats: grey tissue, then nothing from `blood` on, then tissue again from `wall` on,
 * and a 3 mm ring if requested. Depths are in centimetres.
 */
function sweep(ring: ((column: number) => number) | null, level: number): MModePlane {
  const [columns, rows] = [120, 330];
  const blood = beating(9.3, 1);
  const wall = beating(11, 1.2);
  const levels = Float32Array.from({ length: columns * rows }, (_, i) => {
    const column = i % columns;
    const depth = Math.floor(i / columns) * DEPTH_PER_ROW;
    const tissue = depth > wall(column) || depth < blood(column) ? 90 : 0;
    const at = ring ? depth - ring(column) : -1;
    return at >= 0 && at < 0.3 ? level : tissue;
  });
  return {
    columns,
    rows,
    levels,
    depthPerRow: DEPTH_PER_ROW,
    secondsPerColumn: SECONDS_PER_COLUMN,
    left: 0,
    top: 0,
    width: 1,
  };
}

const meanOf = (plane: MModePlane) => {
  const found = annularExcursion(plane);
  const sizes = found?.beats.map(({ excursion }) => excursion) ?? [];
  return {
    certain: found?.certain,
    ring: found?.ring,
    excursion: sizes.reduce((sum, size) => sum + size, 0) / sizes.length,
  };
};

describe('the excursion of an annulus', () => {
  it('is that of the ring, a bright line, even if a wall behind it is the clearer edge', () => {
    const { excursion, certain, ring } = meanOf(sweep(beating(9, 2), 230));
    expect(excursion).toBeCloseTo(2, 1);
    expect({ certain, ring }).toEqual({ certain: true, ring: true });
  });
  it('without such a ring is that of the clear edge that moves furthest', () => {
    const { excursion, ring } = meanOf(sweep(null, 0));
    expect(excursion).toBeCloseTo(1.2, 1);
    expect(ring).toBe(false);
  });
  it('is null if nothing beats', () => {
    const still = sweep(null, 0);
    expect(annularExcursion({ ...still, levels: still.levels.fill(60) })).toBeNull();
  });
});
