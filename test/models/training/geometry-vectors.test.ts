import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Ellipse, GrayImage } from '../../../pipelines/contract/image.ts';
import { letterbox, toSource } from '../../../pipelines/inference/letterbox.ts';
import { perimeter, toMillimetres } from '../../../pipelines/measure/ellipse.ts';
import { distanceToEllipse } from '../../../pipelines/measure/ellipse-fit.ts';
import { borderStrip, moved } from '../../../pipelines/obstetric/shared/head-border.ts';
import { cropHead, fromCrop } from '../../../pipelines/obstetric/shared/head-crop.ts';

type Pair = [number, number];
type Levels = [column: number, row: number, level: number][];
type Axes = [x: number, y: number, a: number, b: number, angle: number];

interface Vectors {
  letterbox: {
    image: Pair;
    network: Pair;
    scale: Pair;
    shift: Pair;
    sum: number;
    sumWithin: number;
    levels: Levels;
  }[];
  headCrop: {
    image: Pair;
    head: Axes;
    places: { crop: Pair; image: Pair }[];
    levels: Levels;
    mirrored: Levels;
  }[];
  headBorder: {
    image: Pair;
    head: Axes;
    levels: Levels;
    harmonics: [number, number, number, number, number];
    moved: { centre: Pair; axes: Pair };
  }[];
  ellipse: {
    ellipse: Axes;
    circumference: number;
    scale: Pair;
    scaledAxes: Pair;
    points: { at: Pair; distance: number }[];
  }[];
}

/** models/training/test_geometry.py checks the Python training code against the same file. */
const vectors: Vectors = JSON.parse(
  await readFile(
    new URL('../../../models/training/geometry-vectors.json', import.meta.url),
    'utf8',
  ),
);

function image([width, height]: Pair, level: (x: number, y: number) => number): GrayImage {
  const data = Uint8Array.from({ length: width * height }, (_, i) =>
    level(i % width, Math.floor(i / width)),
  );
  return { width, height, data };
}

const pattern = (size: Pair) => image(size, (x, y) => (x * 7 + y * 13 + ((x * y) % 31) * 5) % 256);
const waves = (size: Pair) =>
  image(size, (x, y) => Math.floor(127.5 + 60 * Math.sin(x / 9) + 60 * Math.cos(y / 7)));
const ellipseOf = ([x, y, a, b, angle]: Axes): Ellipse => ({ centre: { x, y }, a, b, angle });

function expectLevels(pixels: Float32Array, width: number, levels: Levels, tolerance: number) {
  for (const [column, row, level] of levels) {
    const found = (pixels[row * width + column] ?? Number.NaN) * 255;
    expect(Math.abs(found - level)).toBeLessThanOrEqual(tolerance);
  }
}

describe('the letterbox is the same as in training', () => {
  it.each(vectors.letterbox)('for an image of $image pixels', (one) => {
    const [width, height] = one.network;
    const { pixels, placement } = letterbox(pattern(one.image), width, height);
    // The training code maps source to network; `toSource` maps back.
    const back = toSource(placement, { x: one.shift[0], y: one.shift[1] });
    expect(back.x).toBeCloseTo(0, 4);
    expect(back.y).toBeCloseTo(0, 4);
    expect([placement.scaleX, placement.scaleY]).toEqual([
      expect.closeTo(one.scale[0], 6),
      expect.closeTo(one.scale[1], 6),
    ]);
    const sum = pixels.reduce((total, value) => total + value * 255, 0);
    expect(Math.abs(sum / one.sum - 1)).toBeLessThan(one.sumWithin);
    expectLevels(pixels, width, one.levels, 1.01);
  });
});

describe('the level crop of a head is the same as in training', () => {
  it.each(vectors.headCrop)('for the head $head', (one) => {
    const head = ellipseOf(one.head);
    const toImage = fromCrop(head, 224, 192);
    for (const { crop, image: expected } of one.places) {
      const found = toImage({ x: crop[0], y: crop[1] });
      expect(found.x).toBeCloseTo(expected[0], 3);
      expect(found.y).toBeCloseTo(expected[1], 3);
    }
    const source = waves(one.image);
    const level = cropHead(source, head, 224, 192, { along: 1, across: 1 });
    const mirrored = cropHead(source, head, 224, 192, { along: -1, across: 1 });
    expectLevels(level, 224, one.levels, 2);
    expectLevels(mirrored, 224, one.mirrored, 2);
  });
});

describe('the ring around a head is the same as in training', () => {
  it.each(vectors.headBorder)('for the head $head', (one) => {
    const head = ellipseOf(one.head);
    expectLevels(borderStrip(waves(one.image), head, 128, 64), 128, one.levels, 0.5);
    const { centre, a, b } = moved(head, one.harmonics);
    expect([centre.x, centre.y]).toEqual(one.moved.centre.map((value) => expect.closeTo(value, 3)));
    expect([a, b]).toEqual(one.moved.axes.map((value) => expect.closeTo(value, 3)));
  });
});

describe('ellipses are the same as in training', () => {
  it.each(vectors.ellipse)('for $ellipse', (one) => {
    const ellipse = ellipseOf(one.ellipse);
    expect(perimeter(ellipse.a, ellipse.b) / one.circumference).toBeCloseTo(1, 4);
    const scaled = toMillimetres(ellipse, { x: one.scale[0], y: one.scale[1] });
    expect([scaled.a, scaled.b]).toEqual([
      expect.closeTo(one.scaledAxes[0], 4),
      expect.closeTo(one.scaledAxes[1], 4),
    ]);
    for (const { at, distance } of one.points) {
      expect(distanceToEllipse(ellipse, { x: at[0], y: at[1] })).toBeCloseTo(distance, 3);
    }
  });
});
