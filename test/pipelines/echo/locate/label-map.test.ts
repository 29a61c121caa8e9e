import { expect, test } from 'vitest';
import { labelsOf, removeSpecks } from '../../../../pipelines/echo/locate/label-map.ts';

const AS_IS = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };

/** Returns probabilities of two classes on a 4 × 4 grid, given the probabilities of class 1. */
function shares(ofOne: readonly number[]): Float32Array {
  return Float32Array.from([...ofOne.map((share) => 1 - share), ...ofOne]);
}

const GRID = { width: 4, height: 4, classes: 2 };
// biome-ignore format: a picture
const SQUARE = [
  0, 0, 0, 0,
  0, 0.9, 0.7, 0,
  0, 0.9, 0.7, 0,
  0, 0, 0, 0,
];

test('a pixel takes the most likely class, and a class the mean share of its pixels', () => {
  const found = labelsOf(shares(SQUARE), GRID, AS_IS, 4, 4);
  expect([...found.labels]).toEqual([0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0]);
  expect(found.confidence[1]).toBeCloseTo(0.8, 6);
});

test('in a source twice as large, the region is at twice the position, with its border between the pixels', () => {
  const half = { scaleX: 0.5, scaleY: 0.5, offsetX: 0, offsetY: 0 };
  const found = labelsOf(shares(SQUARE), GRID, half, 8, 8);
  const columns = [...found.labels.subarray(3 * 8, 4 * 8)];
  expect(columns).toEqual([0, 0, 1, 1, 1, 1, 0, 0]);
});

test('each pixel of any map has the class whose interpolated share is the highest there', () => {
  const grid = { width: 7, height: 6, classes: 4 };
  const plane = grid.width * grid.height;
  const any = Float32Array.from({ length: 4 * plane }, (_, i) => Math.abs(Math.sin(i * i * 0.7)));
  const placement = { scaleX: 0.31, scaleY: 0.27, offsetX: 0.4, offsetY: 0.2 };
  const found = labelsOf(any, grid, placement, 23, 19);
  const within = (value: number, cells: number) => Math.min(Math.max(value, 0), cells - 1);
  const shareAt = (c: number, x: number, y: number) => {
    const u = within((x + 0.5) * 0.31 - 0.5 + 0.4, grid.width);
    const v = within((y + 0.5) * 0.27 - 0.5 + 0.2, grid.height);
    const corner = (column: number, row: number) => {
      const weight = (1 - Math.abs(u - column)) * (1 - Math.abs(v - row));
      return weight > 0 ? weight * (any[c * plane + row * grid.width + column] ?? 0) : 0;
    };
    const [left, top] = [Math.floor(u), Math.floor(v)];
    return (
      corner(left, top) + corner(left + 1, top) + corner(left, top + 1) + corner(left + 1, top + 1)
    );
  };
  for (let y = 0; y < 19; y++) {
    for (let x = 0; x < 23; x++) {
      const own = shareAt(found.labels[y * 23 + x] ?? -1, x, y);
      const best = Math.max(...[0, 1, 2, 3].map((c) => shareAt(c, x, y)));
      expect(own).toBeCloseTo(best, 6);
    }
  }
});

test('of two parts of a class, the larger is kept, and the smaller becomes background', () => {
  // biome-ignore format: a picture
  const labels = Uint8Array.from([
    1, 1, 0, 0, 0,
    1, 1, 0, 0, 1,
    0, 0, 0, 0, 0,
  ]);
  removeSpecks({ width: 5, labels });
  expect([...labels]).toEqual([1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test('a class that may have two parts keeps a second part of at least a fifth of the first', () => {
  const labels = Uint8Array.from([1, 1, 1, 1, 1, 0, 1, 0, 2, 2, 0, 2]);
  removeSpecks({ width: 12, labels }, [1]);
  expect([...labels]).toEqual([1, 1, 1, 1, 1, 0, 1, 0, 2, 2, 0, 0]);
  const longer = Uint8Array.from([1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0]);
  removeSpecks({ width: 12, labels: longer }, [1]);
  expect([...longer]).toEqual([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
});

test('a hole in one class is filled, but background between two classes is kept', () => {
  // biome-ignore format: a picture
  const labels = Uint8Array.from([
    1, 1, 1, 2, 2, 2,
    1, 0, 1, 0, 0, 2,
    1, 1, 1, 2, 2, 2,
  ]);
  removeSpecks({ width: 6, labels });
  expect([...labels.subarray(6, 12)]).toEqual([1, 1, 1, 0, 0, 2]);
});

test('background that reaches the edge of the picture is not a hole', () => {
  // biome-ignore format: a picture
  const labels = Uint8Array.from([
    1, 1, 1,
    1, 0, 1,
    1, 0, 1,
  ]);
  const before = [...labels];
  removeSpecks({ width: 3, labels });
  expect([...labels]).toEqual(before);
});
