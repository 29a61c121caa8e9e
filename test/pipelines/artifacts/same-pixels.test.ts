import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildPresentationStates } from '../../../pipelines/artifacts/presentation-state/presentation-state.ts';
import { renderPreview } from '../../../pipelines/artifacts/previews/preview.ts';
import { walk } from '../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../pipelines/artifacts/sr/decode.ts';
import { buildTid1500 } from '../../../pipelines/artifacts/sr/tid1500.ts';
import type { Point } from '../../../pipelines/contract/image.ts';
import { letterbox, toSource } from '../../../pipelines/inference/letterbox.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { measurement } from './example-measurements.ts';
import { RESULT } from './example-result.ts';
import { SUBJECT } from './example-subject.ts';

/**
 * A wide image with odd dimensions. The network receives it at a smaller size, with black above and
 * below.
 */
const [WIDTH, HEIGHT] = [641, 333];
const NETWORK = { width: 192, height: 160 };
const RADIUS = 9;
/**
 * One spot is at the upper left and one at the lower right, so that each end of the caliper is an
 * extreme of the drawing.
 */
const SPOTS: [Point, Point] = [
  { x: 123, y: 87 },
  { x: 502, y: 246 },
];

const gray = Uint8Array.from({ length: WIDTH * HEIGHT }, (_, at) => {
  const [x, y] = [at % WIDTH, Math.floor(at / WIDTH)];
  return SPOTS.some((spot) => Math.hypot(x - spot.x, y - spot.y) <= RADIUS) ? 255 : 0;
});

/** Acts as a network: locates the bright spots in its input by their centres of mass. */
function located(): Point[] {
  const { pixels, placement } = letterbox(
    { width: WIDTH, height: HEIGHT, data: gray },
    NETWORK.width,
    NETWORK.height,
  );
  return [0, 1].map((half) => {
    let [mass, x, y] = [0, 0, 0];
    pixels.forEach((value, at) => {
      const column = at % NETWORK.width;
      if (column >= NETWORK.width / 2 !== (half === 1)) return;
      mass += value;
      x += value * column;
      y += value * Math.floor(at / NETWORK.width);
    });
    return toSource(placement, { x: x / mass, y: y / mass });
  });
}

const ends = located();
const points = ends.map(({ x, y }): [number, number] => [x, y]);
const subject = {
  ...SUBJECT,
  instances: SUBJECT.instances.map((one) => ({ ...one, rows: HEIGHT, columns: WIDTH })),
};
const length: Measurement = measurement('m-fl', 'fl', 50, {
  source: {
    provenance: 'model',
    file: 'femur.dcm',
    sop_instance_uid: '2.25.2003',
    frame: 1,
    calipers: [{ type: 'line', points }],
  },
});
const result = { ...RESULT, measurements: [length] };

test('JSON: the caliper ends on the spots of the stored image, not of the letterboxed one', () => {
  for (const [index, end] of ends.entries()) {
    const spot = SPOTS[index];
    expect(Math.hypot(end.x - (spot?.x ?? 0), end.y - (spot?.y ?? 0))).toBeLessThan(0.5);
  }
});

test('SR and presentation state: the same points, counted from the corner of the first pixel', () => {
  const expected = points.flat().map((value) => Math.fround(value + 0.5));
  const graphics = [...walk(decode(buildTid1500(result, subject)).root)].flatMap(({ value }) =>
    value.type === 'SCOORD' ? [value.graphic.data] : [],
  );
  expect(graphics).toEqual([expected]);
  const bytes = Buffer.alloc(16);
  for (const [index, value] of expected.entries()) bytes.writeFloatLE(value, 4 * index);
  const [state = Buffer.alloc(0)] = buildPresentationStates(result, subject);
  expect(state.includes(bytes)).toBe(true);
});

describe('preview', () => {
  const drawn: Point[] = [];
  let scale = 1;

  beforeAll(async () => {
    const black = { width: WIDTH, height: HEIGHT, data: new Uint8Array(3 * WIDTH * HEIGHT) };
    const png = await renderPreview(black, [length]);
    const { data, info } = await sharp(png)
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    scale = info.width / WIDTH;
    // The pixels with the first caliper colour, #39d0ff, on the picture.
    for (let at = 0; at < info.width * Math.floor(HEIGHT * scale); at++) {
      const [r = 0, g = 0, b = 0] = data.subarray(3 * at, 3 * at + 3);
      if (Math.hypot(r - 0x39, g - 0xd0, b - 0xff) > 40) continue;
      drawn.push({ x: at % info.width, y: Math.floor(at / info.width) });
    }
  });

  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  /**
   * Returns the middle of the pixels at one extreme of the drawing, which is the tip of an arm of a
   * cross.
   */
  const tip = (along: 'x' | 'y', across: 'x' | 'y', most: (...values: number[]) => number) => {
    const edge = most(...drawn.map((pixel) => pixel[along]));
    return mean(drawn.filter((pixel) => pixel[along] === edge).map((pixel) => pixel[across]));
  };
  const stored = (drawnAt: number) => (drawnAt + 0.5) / scale - 0.5;

  test('the crosses are on the same pixels', () => {
    expect(drawn.length).toBeGreaterThan(0);
    const [a, b] = ends;
    expect(Math.abs(stored(tip('y', 'x', Math.min)) - (a?.x ?? 0))).toBeLessThan(0.75);
    expect(Math.abs(stored(tip('x', 'y', Math.min)) - (a?.y ?? 0))).toBeLessThan(0.75);
    expect(Math.abs(stored(tip('y', 'x', Math.max)) - (b?.x ?? 0))).toBeLessThan(0.75);
    expect(Math.abs(stored(tip('x', 'y', Math.max)) - (b?.y ?? 0))).toBeLessThan(0.75);
  });
});
