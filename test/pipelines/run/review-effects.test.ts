import { describe, expect, it } from 'vitest';
import type { SweepRegion } from '../../../pipelines/contract/study.ts';
import { effectsOf } from '../../../pipelines/run/review-effects.ts';
import { measurement } from '../artifacts/example-measurements.ts';
import { RESULT } from '../artifacts/example-result.ts';
import { clip } from '../obstetric/evidence-sample.ts';

/** The right half of the screen: an M-mode of which a pixel is 0.4 mm deep. */
const M_MODE: SweepRegion = {
  kind: 'm-mode',
  area: { minX: 400, minY: 100, maxX: 799, maxY: 499 },
  secondsPerPixel: 0.01,
  valuePerPixel: 0.04,
  unit: 'cm',
  zeroRow: 100,
  yDirection: 'down',
  correctionAngle: null,
};

/** The left half: a picture of which a pixel is 0.1 mm wide and high. */
const SCREEN = clip('screen.dcm', {
  regions: [
    {
      area: { minX: 0, minY: 100, maxX: 399, maxY: 499 },
      scale: { x: 0.1, y: 0.1 },
      source: 'region',
    },
  ],
  sweeps: [M_MODE],
});

type Line = [[number, number], [number, number]];

/** Moves the line of a value of the screen; returns the new value. */
function moved(value: number, from: Line, to: Line): number | null {
  const one = measurement('one', 'fl', value, {
    source: {
      provenance: 'model',
      file: SCREEN.file,
      sop_instance_uid: SCREEN.sopInstanceUid,
      frame: 1,
      calipers: [{ type: 'line', points: from }],
    },
  });
  const result = { ...RESULT, measurements: [one] };
  const effects = effectsOf(
    { kind: 'move-calipers', measurement: 'one', points: to },
    { original: result, result, effects: [] },
    {
      clips: [SCREEN],
      limitsOf: () => null,
      restsOn: () => [],
      outlineOf: () => null,
      outlineAt: () => null,
      faultOf: () => null,
      views: [],
      planes: [],
    },
  );
  const [confirmed] = effects.filter((effect) => effect.do === 'confirm');
  return confirmed?.value ?? null;
}

const ON_PICTURE: Line = [
  [100, 200],
  [200, 200],
];
const ON_M_MODE: Line = [
  [500, 200],
  [500, 250],
];

describe('a line that a person moves is measured by the scale of the former line', () => {
  it.each([
    [
      'picture',
      10,
      ON_PICTURE,
      [
        [100, 200],
        [300, 200],
      ],
      20,
    ],
    [
      'M-mode',
      20,
      ON_M_MODE,
      [
        [500, 200],
        [520, 300],
      ],
      40,
    ],
  ] as const)('on the %s', (_where, value, from, to, expected) => {
    const line = (points: typeof from | typeof to): Line => [[...points[0]], [...points[1]]];
    expect(moved(value, line(from), line(to))).toBeCloseTo(expected);
  });

  it.each([
    ['the picture to the M-mode', 10, ON_PICTURE, ON_M_MODE],
    ['the M-mode to the picture', 20, ON_M_MODE, ON_PICTURE],
  ] as const)('and refused from %s, whose scale is another', (_way, value, from, to) => {
    expect(() => moved(value, from, to)).toThrow(/does not follow from its calipers/);
  });
});
