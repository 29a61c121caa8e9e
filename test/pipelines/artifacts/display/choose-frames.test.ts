import { describe, expect, test } from 'vitest';
import { runsOf } from '../../../../pipelines/artifacts/display/drawn-on-clip.ts';
import { cineFrames, KEPT } from '../../../../pipelines/artifacts/display/write-display.ts';
import { sampleClip } from './sample-clip.ts';

const upTo = (last: number, step = 1) =>
  Array.from({ length: Math.ceil(last / step) }, (_, index) => 1 + index * step);

describe('frames of a cine', () => {
  test.each([
    [1, []],
    [2, upTo(2)],
    [KEPT.cineFrames, upTo(KEPT.cineFrames)],
    [KEPT.cineFrames + 1, upTo(KEPT.cineFrames + 1, 2)],
    [300, upTo(300, 5)],
  ])('are these indices of %i frames', (frames, expected) => {
    expect(cineFrames(sampleClip('a.dcm', frames), [], [])).toEqual(expected);
  });

  test('always include those with calipers', () => {
    const kept = cineFrames(sampleClip('a.dcm', 120), [2, 3], []);
    expect(kept.slice(0, 4)).toEqual([1, 2, 3, 5]);
    expect(kept).toHaveLength(61);
  });

  test('are those that were outlined, unless every frame was', () => {
    const outlined = upTo(150, 2);
    expect(cineFrames(sampleClip('a.dcm', 150), [], outlined)).toEqual(upTo(150, 4));
  });

  test.each(['spectral', 'm-mode'] as const)('do not exist for a %s display', (mode) => {
    expect(cineFrames(sampleClip('a.dcm', 30, { mode }), [30], [])).toEqual([]);
  });
});

describe('runs of a mask', () => {
  test('end with their row, so a new one begins in the next row', () => {
    const mask = Uint8Array.of(0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1);
    expect(runsOf(mask, 3)).toEqual([
      [0, 1, 2],
      [1, 0, 1],
      [3, 0, 0],
      [3, 2, 2],
    ]);
  });

  test('do not exist in an empty mask', () => {
    expect(runsOf(new Uint8Array(12), 4)).toEqual([]);
  });
});
