import { describe, expect, it } from 'vitest';
import {
  letterbox,
  letterboxLit,
  litArea,
  toSource,
} from '../../../pipelines/inference/letterbox.ts';

/**
 * Draws a grey picture of `width` × `height` at `x`, `y` on a black screen, with optional content
 * outside it.
 */
function screen(
  size: { width: number; height: number },
  picture: { x: number; y: number; width: number; height: number },
  drawn: readonly [x: number, y: number, level: number][] = [],
) {
  const image = { ...size, data: new Uint8Array(size.width * size.height) };
  for (let row = 0; row < picture.height; row++) {
    for (let column = 0; column < picture.width; column++) {
      const level = 40 + ((7 * column + 13 * row) % 200);
      image.data[(picture.y + row) * size.width + picture.x + column] = level;
    }
  }
  for (const [x, y, level] of drawn) image.data[y * size.width + x] = level;
  return image;
}

const SCREEN = { width: 800, height: 600 };
const HALF = { x: 250, y: 180, width: 400, height: 300 };

describe('litArea', () => {
  it('is the picture on a black screen', () => {
    expect(litArea(screen(SCREEN, HALF))).toEqual({ minX: 250, minY: 180, maxX: 649, maxY: 479 });
  });
  it('leaves out a speck and what a JPEG leaves in black', () => {
    const noise = Array.from({ length: 600 }, (_, y): [number, number, number] => [20, y, 12]);
    const image = screen(SCREEN, HALF, [[5, 5, 255], ...noise]);
    expect(litArea(image)).toEqual({ minX: 250, minY: 180, maxX: 649, maxY: 479 });
  });
  it('is the whole image if nothing is lit', () => {
    const dark = { width: 30, height: 20, data: new Uint8Array(600) };
    expect(litArea(dark)).toEqual({ minX: 0, minY: 0, maxX: 29, maxY: 19 });
  });
});

describe('letterboxLit', () => {
  it('shows the picture as if it had been sent without the screen, and keeps its position', () => {
    const onScreen = letterboxLit(screen(SCREEN, HALF), 256, 192);
    const alone = letterbox(screen(HALF, { ...HALF, x: 0, y: 0 }), 256, 192);
    expect(onScreen.pixels).toEqual(alone.pixels);
    const point = { x: 100, y: 50 };
    const there = toSource(alone.placement, point);
    const here = toSource(onScreen.placement, point);
    expect(here.x).toBeCloseTo(there.x + 250, 9);
    expect(here.y).toBeCloseTo(there.y + 180, 9);
  });
  it.each([
    ['black', 0],
    ['dark grey', 14],
  ])('leaves out the words and lines around the picture of a screen on %s', (_, ground) => {
    const image = screen(SCREEN, HALF);
    image.data.forEach((value, i) => {
      if (value === 0) image.data[i] = ground;
    });
    // Draws lines of text above the picture and a ruler next to it.
    for (const row of [20, 21, 40, 41, 60, 61]) {
      for (let x = 30; x < 500; x += 3) image.data[row * SCREEN.width + x] = 230;
    }
    for (let y = 180; y < 480; y += 10)
      image.data.fill(230, y * SCREEN.width + 760, y * SCREEN.width + 766);
    const { scaleX } = letterboxLit(image, 256, 192).placement;
    expect(scaleX).toBeGreaterThan(0.85 * (256 / HALF.width));
  });
  it('extracts a landscape picture from a portrait screen, which is dark only above and below it', () => {
    const picture = { x: 0, y: 250, width: 400, height: 300 };
    const onScreen = letterboxLit(screen({ width: 400, height: 800 }, picture), 256, 192);
    const alone = letterbox(screen(picture, { ...picture, x: 0, y: 0 }), 256, 192);
    expect(onScreen.pixels).toEqual(alone.pixels);
  });
  it.each([
    ['grows by a fifth without its surrounding: alone', 500, true],
    ['would grow by less: with it', 501, false],
  ])('a picture that %s', (_, height, alone) => {
    const image = screen(SCREEN, { x: 0, y: 0, width: 600, height });
    const shown = letterboxLit(image, 256, 192).placement;
    const whole = letterbox(image, 256, 192).placement;
    expect(shown.scaleY > 1.1 * whole.scaleY).toBe(alone);
  });
});
