import { describe, expect, it } from 'vitest';
import type { GrayImage } from '../../../../pipelines/contract/image.ts';
import { pocketOf } from '../../../../pipelines/obstetric/amniotic-fluid/read.ts';
import {
  UTERINE_STRUCTURES,
  type UterineMaps,
  type UterineStructure,
} from '../../../../pipelines/obstetric/shared/uterine-maps.ts';

const WIDTH = 256;
const HEIGHT = 192;
const region = {
  area: { minX: 0, minY: 0, maxX: WIDTH - 1, maxY: HEIGHT - 1 },
  scale: { x: 0.5, y: 0.5 },
  source: 'region' as const,
};
/** The pocket in pixels of the image: 60 wide and 80 high. */
const isPocket = (x: number, y: number) => x >= 100 && x < 160 && y >= 40 && y < 120;

function image(inside: number, wall: (y: number) => number): GrayImage {
  const data = Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => {
    const y = Math.floor(i / WIDTH);
    return isPocket(i % WIDTH, y) ? inside : wall(y);
  });
  return { width: WIDTH, height: HEIGHT, data };
}

/**
 * Returns maps at half the image's size, at 1 mm per cell. They show the pocket with the
 * probability `certainty`, and below it `halfSeenMm` with a probability of one third.
 */
function drawn(certainty: number, halfSeenMm = 0): UterineMaps {
  const empty = { width: WIDTH / 2, height: HEIGHT / 2, values: new Float32Array(96 * 128) };
  const maps = Object.fromEntries(UTERINE_STRUCTURES.map((name) => [name, empty])) as Record<
    UterineStructure,
    typeof empty
  >;
  const values = empty.values.map((_, i) => {
    const [x, y] = [2 * (i % 128) + 0.5, 2 * Math.floor(i / 128) + 0.5];
    if (isPocket(x, y)) return certainty;
    return isPocket(x, y - 2 * halfSeenMm) && y > 80 ? 1 / 3 : 0;
  });
  return {
    placement: { scaleX: 0.5, scaleY: 0.5, offsetX: 0, offsetY: 0 },
    maps: { ...maps, fluid: { ...empty, values } },
    gate: 0.75,
    placentaGate: 0.75,
    edgeGate: 0.75,
  };
}

describe('the pocket of a frame', () => {
  it('is accepted if it is dark between two walls, to the pixel of the image', () => {
    const found = pocketOf({ image: image(8, () => 90), drawn: drawn(1) }, region);
    expect(found).toMatchObject({ accepted: true, cut: false });
    expect((found?.bottom.y ?? 0) - (found?.top.y ?? 0)).toBeCloseTo(80, 6);
  });

  it.each([
    [0.75, true],
    [0.74, false],
  ])('recognized with a probability of %d is accepted: %s', (certainty, accepted) => {
    const found = pocketOf({ image: image(8, () => 90), drawn: drawn(certainty) }, region);
    expect(found?.accepted).toBe(accepted);
  });

  it.each([
    [7, true],
    [8, false],
  ])('with %d mm of uncertain fluid below it is accepted: %s', (halfSeenMm, accepted) => {
    const found = pocketOf({ image: image(8, () => 90), drawn: drawn(1, halfSeenMm) }, region);
    expect(found?.accepted).toBe(accepted);
  });

  it('is not accepted if it is as bright as tissue', () => {
    const found = pocketOf({ image: image(70, () => 90), drawn: drawn(1) }, region);
    expect(found?.accepted).toBe(false);
  });

  it('whose floor is outside the picture is only a lower limit', () => {
    const black = image(8, (y) => (y > 100 ? 0 : 90));
    expect(pocketOf({ image: black, drawn: drawn(1) }, region)?.cut).toBe(true);
  });

  it('is null if no fluid is 10 mm wide', () => {
    const fine = { ...region, scale: { x: 0.16, y: 0.16 } };
    expect(pocketOf({ image: image(8, () => 90), drawn: drawn(1) }, fine)).toBeNull();
  });
});
