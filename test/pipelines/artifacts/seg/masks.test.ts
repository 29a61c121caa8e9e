import { describe, expect, test } from 'vitest';
import {
  filledEllipse,
  outlinedStructures,
} from '../../../../pipelines/artifacts/seg/outlined-structures.ts';
import { packBits } from '../../../../pipelines/artifacts/seg/segmentation.ts';
import { walk } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { HC } from '../example-measurements.ts';
import { NOTHING_MEASURED, RESULT } from '../example-result.ts';
import { SUBJECT } from '../example-subject.ts';

describe('the bits of masks', () => {
  test('fill a byte from the least significant bit', () => {
    expect([...packBits([Uint8Array.of(1, 0, 0, 1, 0, 0, 0, 0)])]).toEqual([0b0000_1001]);
  });

  test('continue with the next frame inside the same byte after a frame of odd size', () => {
    const frames = [Uint8Array.of(1, 1, 1), Uint8Array.of(0, 1, 0), Uint8Array.of(1, 1, 1)];
    expect([...packBits(frames)]).toEqual([0b1101_0111, 0b1]);
  });
});

describe('a filled ellipse', () => {
  const circle = filledEllipse(
    [
      [1, 3],
      [5, 3],
      [3, 1],
      [3, 5],
    ],
    7,
    7,
  );

  test('contains the pixels whose centre is inside or on the edge', () => {
    const rows = Array.from({ length: 7 }, (_, row) => circle.slice(7 * row, 7 * row + 7).join(''));
    expect(rows).toEqual([
      '0000000',
      '0001000',
      '0011100',
      '0111110',
      '0011100',
      '0001000',
      '0000000',
    ]);
  });

  test('has the area of the ellipse, even when it is given by conjugate diameters', () => {
    const pixels = filledEllipse(
      [
        [50, 80],
        [250, 120],
        [140, 30],
        [160, 170],
      ],
      300,
      200,
    );
    // Area of an ellipse with semi-axis vectors u and v: π |u × v|.
    const area = Math.PI * Math.abs(100 * 70 - 20 * 10);
    expect(pixels.reduce((sum, pixel) => sum + pixel, 0) / area).toBeCloseTo(1, 2);
  });

  test('sets nothing beyond the image', () => {
    const pixels = filledEllipse(
      [
        [-40, 3],
        [-20, 3],
        [-30, -7],
        [-30, 13],
      ],
      7,
      7,
    );
    expect(pixels).not.toContain(1);
  });
});

describe('masks of a result', () => {
  test('show head and abdomen as segments of the images on which they were outlined', () => {
    const images = outlinedStructures(RESULT, SUBJECT);
    expect(
      images.map(({ source, segments }) => [source.file, segments.map(({ label }) => label)]),
    ).toEqual([
      ['head.dcm', ['Fetal head']],
      ['abdomen.dcm', ['Fetal abdomen, frame 5']],
    ]);
  });

  test('are tracked under the identifier and UID of the group in the SR', () => {
    const [head] = outlinedStructures(RESULT, SUBJECT);
    const { root } = decode(buildTid1500(RESULT, SUBJECT));
    const said = [...walk(root)].flatMap(({ name, value }) => {
      if (name?.code === '112039' && value.type === 'TEXT') return [value.text];
      return name?.code === '112040' && value.type === 'UIDREF' ? [value.uid] : [];
    });
    const { identifier, uid } = head?.segments[0]?.tracking ?? { identifier: '', uid: '' };
    expect(said.indexOf(uid)).toBe(said.indexOf(identifier) + 1);
    expect(said).toContain(identifier);
  });

  test('leave out an outline below its gate', () => {
    const doubtful = { ...RESULT, measurements: [{ ...HC, quality: 'low' as const }] };
    expect(outlinedStructures(doubtful, SUBJECT)).toEqual([]);
  });

  test('are missing for a study without an outline or without DICOM images', () => {
    expect(outlinedStructures(NOTHING_MEASURED, SUBJECT)).toEqual([]);
    expect(outlinedStructures(RESULT, { ...SUBJECT, instances: [] })).toEqual([]);
  });
});
