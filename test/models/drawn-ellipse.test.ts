import { expect, it } from 'vitest';
import { drawnEllipse } from '../../models/evaluation/cases.ts';
import type { Ellipse, GrayImage } from '../../pipelines/contract/image.ts';

const WIDTH = 400;
const HEIGHT = 300;

/** Draws a line along the ellipse, one pixel wide, as in HC18. */
function drawing({ centre, a, b, angle }: Ellipse): GrayImage {
  const data = new Uint8Array(WIDTH * HEIGHT);
  for (let t = 0; t < 2 * Math.PI; t += 0.002) {
    const [u, v] = [a * Math.cos(t), b * Math.sin(t)];
    const x = Math.round(centre.x + u * Math.cos(angle) - v * Math.sin(angle));
    const y = Math.round(centre.y + u * Math.sin(angle) + v * Math.cos(angle));
    data[y * WIDTH + x] = 255;
  }
  return { width: WIDTH, height: HEIGHT, data };
}

it('returns the ellipse that was drawn, to a fifth of a pixel', () => {
  const drawn = { centre: { x: 205.3, y: 148.6 }, a: 151.2, b: 118.4, angle: 0.4 };
  const found = drawnEllipse(drawing(drawn));
  for (const key of ['a', 'b'] as const) {
    expect(Math.abs(found[key] - drawn[key])).toBeLessThan(0.2);
  }
  expect(Math.hypot(found.centre.x - 205.3, found.centre.y - 148.6)).toBeLessThan(0.2);
  expect(Math.abs(found.angle - 0.4)).toBeLessThan(0.005);
});

it('refuses an image on which nothing is drawn', () => {
  const blank = { width: WIDTH, height: HEIGHT, data: new Uint8Array(WIDTH * HEIGHT) };
  expect(() => drawnEllipse(blank)).toThrow('no ellipse');
});
