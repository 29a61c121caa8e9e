import { expect, test } from 'vitest';
import { completeVentricle } from '../../../../pipelines/echo/locate/chambers.ts';
import { convexHull } from '../../../../pipelines/measure/polygon.ts';

const GRID = { width: 6, height: 5, classes: 4 };
const SIZE = GRID.width * GRID.height;

/**
 * Returns probabilities for a picture of classes: 0.7 for the class shown, and 0.1 for every other
 * class.
 */
function shares(picture: readonly number[]): Float32Array {
  const out = new Float32Array(GRID.classes * SIZE).fill(0.1);
  picture.forEach((label, pixel) => {
    out[label * SIZE + pixel] = 0.7;
  });
  return out;
}

function labels(given: Float32Array): number[] {
  return Array.from({ length: SIZE }, (_, pixel) => {
    const own = Array.from({ length: GRID.classes }, (_, c) => given[c * SIZE + pixel] ?? 0);
    return own.indexOf(Math.max(...own));
  });
}

test('a dent in the wall takes the better class of the left heart; nothing changes outside', () => {
  // biome-ignore format: a picture; 1 cavity, 2 wall, 3 atrium
  const given = shares([
    0, 2, 2, 2, 2, 0,
    0, 2, 1, 1, 2, 0,
    0, 2, 1, 1, 0, 0,
    0, 2, 1, 1, 2, 0,
    0, 0, 3, 3, 0, 0,
  ]);
  const dent = 2 * GRID.width + 4;
  given[2 * SIZE + dent] = 0.2;
  completeVentricle(given, GRID, [1, 2, 3]);
  const found = labels(given);
  expect(found[dent]).toBe(2);
  expect(found[GRID.width + 5]).toBe(0);
  expect(found.slice(4 * GRID.width)).toEqual([0, 0, 3, 3, 0, 0]);
});

test('an atrium within the hull is left unchanged', () => {
  // biome-ignore format: a picture
  const given = shares([
    0, 2, 2, 2, 2, 0,
    0, 2, 1, 1, 2, 0,
    0, 2, 1, 1, 2, 0,
    0, 2, 3, 3, 2, 0,
    0, 2, 3, 3, 2, 0,
  ]);
  completeVentricle(given, GRID, [1, 2, 3]);
  expect(labels(given).slice(3 * GRID.width, 4 * GRID.width)).toEqual([0, 2, 3, 3, 2, 0]);
});

test('without a ventricle nothing changes', () => {
  const given = shares(new Array(SIZE).fill(0));
  const before = given.slice();
  completeVentricle(given, GRID, [1, 2, 3]);
  expect(given).toEqual(before);
});

test('the hull of a square is its corners, whatever lies within', () => {
  const points = [0, 1, 2].flatMap((x) => [0, 1, 2].map((y) => ({ x, y })));
  expect(convexHull(points)).toHaveLength(4);
});
