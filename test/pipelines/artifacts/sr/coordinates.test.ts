import { describe, expect, test } from 'vitest';
import { decimalString } from '../../../../pipelines/artifacts/sr/encode.ts';
import { graphicOf, liesOn } from '../../../../pipelines/artifacts/sr/measured-value.ts';
import { derivedUid } from '../../../../pipelines/dicom/uid.ts';

type Pair = [number, number];

describe('calipers as DICOM graphics', () => {
  test('a line is an open POLYLINE, shifted by half a pixel', () => {
    const points: Pair[] = [
      [0, 0],
      [10, 20.25],
    ];
    expect(graphicOf({ type: 'line', points })).toEqual({
      shape: 'POLYLINE',
      data: [0.5, 0.5, 10.5, 20.75],
    });
  });

  test('an ellipse begins with its longer axis, and its axes are exactly perpendicular', () => {
    const points: Pair[] = [
      [100, 80],
      [100, 120],
      [40, 100.00001],
      [160, 99.99999],
    ];
    const { shape, data } = graphicOf({ type: 'ellipse', points });
    const [ax = 0, ay = 0, bx = 0, by = 0, cx = 0, cy = 0, dx = 0, dy = 0] = data;
    expect(shape).toBe('ELLIPSE');
    expect(Math.hypot(bx - ax, by - ay)).toBeCloseTo(120, 3);
    expect((bx - ax) * (dx - cx) + (by - ay) * (dy - cy)).toBeCloseTo(0, 2);
  });

  test('axes that are not perpendicular in pixels become a closed outline through the same points', () => {
    const points: Pair[] = [
      [0, 0],
      [100, 40],
      [40, 60],
      [60, -20],
    ];
    const { shape, data } = graphicOf({ type: 'ellipse', points });
    expect(shape).toBe('POLYLINE');
    expect(data.slice(0, 2)).toEqual(data.slice(-2));
    expect(data.length / 2).toBeLessThanOrEqual(200);
    for (const [x, y] of points) {
      const near = data.some(
        (value, index) =>
          index % 2 === 0 &&
          Math.hypot(value - x - 0.5, (data[index + 1] ?? Number.NaN) - y - 0.5) < 0.01,
      );
      expect(near).toBe(true);
    }
  });

  test('every coordinate is a single-precision number', () => {
    const points: Pair[] = [
      [0.1, 1 / 3],
      [9.7, 2 / 3],
    ];
    const { data } = graphicOf({ type: 'line', points });
    expect(data).toEqual(data.map(Math.fround));
  });

  test.each([
    ['line', 1],
    ['line', 3],
    ['ellipse', 2],
  ] as const)('a %s of %i points is refused', (type, count) => {
    const points = Array.from({ length: count }, (): Pair => [1, 1]);
    expect(() => graphicOf({ type, points })).toThrow(RangeError);
  });

  test.each([
    [[-0.5, 10], true],
    [[-0.6, 10], false],
    [[639.5, 479.5], true],
    [[639.6, 10], false],
    [[10, 479.6], false],
  ] as const)('the end %j of a line is on an image of 640 by 480: %s', (end, expected) => {
    const graphic = graphicOf({ type: 'line', points: [[10, 10], [...end]] });
    expect(liesOn(graphic, 640, 480)).toBe(expected);
  });
});

describe('decimal strings', () => {
  test.each([
    [262.4, '262.4'],
    [0, '0'],
    [-0.125, '-0.125'],
    [1 / 3, '0.33333333333333'],
    [-1 / 3, '-0.3333333333333'],
    [1.234567890123456e-7, '1.23456789012e-7'],
  ])('%d is written %s', (value, text) => {
    expect(decimalString(value)).toBe(text);
  });

  test.each([Math.PI * 1e20, -Math.E * 1e-200, -Math.E * 1e200, -Number.MIN_VALUE, 2 / 3e15])(
    '%d fits into 16 characters and is the same number to nine digits',
    (value) => {
      const text = decimalString(value);
      expect(text.length).toBeLessThanOrEqual(16);
      expect(Number(text) / value).toBeCloseTo(1, 8);
    },
  );

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('%d is refused', (value) => {
    expect(() => decimalString(value)).toThrow(RangeError);
  });
});

describe('derived UIDs', () => {
  test('are the same for the same parts, and differ for other parts', () => {
    expect(derivedUid('req_1', 'sr')).toBe(derivedUid('req_1', 'sr'));
    expect(derivedUid('req_1', 'sr')).not.toBe(derivedUid('req_1', 'series'));
    expect(derivedUid('ab', 'c')).not.toBe(derivedUid('a', 'bc'));
  });

  test('are UUIDs of version 5 below 2.25, with at most 64 characters', () => {
    const uid = derivedUid('req_1', 'sr');
    const hex = BigInt(uid.slice('2.25.'.length)).toString(16).padStart(32, '0');
    expect(uid.length).toBeLessThanOrEqual(64);
    expect(hex[12]).toBe('5');
    expect('89ab').toContain(hex[16]);
  });
});
