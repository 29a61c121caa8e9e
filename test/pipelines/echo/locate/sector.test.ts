import { expect, test } from 'vitest';
import type { GrayImage } from '../../../../pipelines/contract/image.ts';
import { mirroredImage, sectorOf } from '../../../../pipelines/echo/locate/sector.ts';
import { cropped } from '../../../../pipelines/inference/letterbox.ts';

/** Draws a screen of 400 × 300 pixels with lit rectangles on black. */
function screen(...lit: { x: number; y: number; width: number; height: number }[]): GrayImage {
  const image = { width: 400, height: 300, data: new Uint8Array(400 * 300) };
  for (const { x, y, width, height } of lit) {
    for (let row = y; row < y + height; row++) {
      image.data.fill(90, row * 400 + x, row * 400 + x + width);
    }
  }
  return image;
}

const FAN = { x: 100, y: 20, width: 200, height: 220 };
const BLOCK = 5;

test('the fan is found beside text and an ECG strip, to a block', () => {
  const image = screen(
    FAN,
    { x: 5, y: 5, width: 60, height: 10 },
    { x: 0, y: 270, width: 400, height: 3 },
  );
  const found = sectorOf([image]);
  expect(Math.abs(found.minX - 100)).toBeLessThanOrEqual(BLOCK);
  expect(Math.abs(found.minY - 20)).toBeLessThanOrEqual(BLOCK);
  expect(Math.abs(found.maxX - 299)).toBeLessThanOrEqual(BLOCK);
  expect(Math.abs(found.maxY - 239)).toBeLessThanOrEqual(BLOCK);
});

test('a part that only one frame lights belongs to the fan', () => {
  const left = screen({ ...FAN, width: 100 });
  const right = screen({ ...FAN, x: 200, width: 100 });
  expect(sectorOf([left, right])).toEqual(sectorOf([screen(FAN)]));
});

test('on a duplex screen, only the region in the header is searched', () => {
  const image = screen(
    { x: 0, y: 0, width: 400, height: 140 },
    { x: 150, y: 160, width: 90, height: 90 },
  );
  const found = sectorOf([image], { minX: 100, minY: 150, maxX: 399, maxY: 299 });
  expect(found.minY).toBeGreaterThanOrEqual(150);
  expect(found.maxX).toBeLessThanOrEqual(240 + BLOCK);
});

test('the tip of a fan beyond a dark cavity belongs to it, but a corner of text does not', () => {
  const tip = { x: 180, y: 20, width: 40, height: 40 };
  const body = { x: 100, y: 110, width: 200, height: 130 };
  const text = { x: 5, y: 5, width: 60, height: 40 };
  expect(Math.abs(sectorOf([screen(tip, body, text)]).minY - 20)).toBeLessThanOrEqual(BLOCK);
  expect(sectorOf([screen(tip, body, text)]).minX).toBeGreaterThan(90);
  expect(sectorOf([screen(body, text)]).minY).toBeGreaterThan(100);
});

test('a black screen is itself the fan: nothing is cut away unseen', () => {
  expect(sectorOf([screen()])).toEqual({ minX: 0, minY: 0, maxX: 399, maxY: 299 });
});

test('a crop keeps the pixels of its rectangle', () => {
  const image = screen({ x: 10, y: 20, width: 1, height: 1 });
  const crop = cropped(image, { minX: 8, minY: 19, maxX: 11, maxY: 21 });
  expect([crop.width, crop.height]).toEqual([4, 3]);
  expect([...crop.data]).toEqual([0, 0, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0]);
});

test('mirroring an image twice restores it', () => {
  const image = screen(FAN, { x: 5, y: 5, width: 60, height: 10 });
  expect(mirroredImage(mirroredImage(image))).toEqual(image);
  expect(mirroredImage(image)).not.toEqual(image);
});
