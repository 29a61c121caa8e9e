import { describe, expect, it } from 'vitest';
import type { Ellipse, Point } from '../../../../pipelines/contract/image.ts';
import {
  angleOfProgression,
  headDirectionAngle,
  infrapubicSkullPoint,
  progressionOf,
  symphysisAxis,
} from '../../../../pipelines/obstetric/labor-progress/measure.ts';

const WIDTH = 256;
/** The symphysis is horizontal, from (30, 50) to (70, 50), so its lower edge is the right end. */
const SYMPHYSIS: Ellipse = { centre: { x: 50, y: 50 }, a: 20, b: 8, angle: 0 };
const PICTURE = { left: 0, width: WIDTH };
const AXIS = symphysisAxis(SYMPHYSIS, PICTURE);
const HEAD: Ellipse = { centre: { x: 75, y: 120 }, a: 40, b: 30, angle: 0 };

/**
 * Returns a point on the side of the head that is seen from the lower edge at this angle to the
 * axis.
 */
function at(degrees: number, distance = 60): Point {
  const angle = (degrees * Math.PI) / 180;
  return {
    x: AXIS.lower.x - distance * Math.cos(angle),
    y: AXIS.lower.y + distance * Math.sin(angle),
  };
}

const mirrored = ({ x, y }: Point): Point => ({ x: WIDTH - x, y });

describe('symphysisAxis', () => {
  it('has its lower edge at the right end if the symphysis is left of the middle', () => {
    expect(AXIS).toMatchObject({ upper: { x: 30, y: 50 }, lower: { x: 70, y: 50 } });
    expect(AXIS.sideKnown).toBe(true);
  });

  it('has its lower edge at the left end on a mirrored image', () => {
    const axis = symphysisAxis({ ...SYMPHYSIS, centre: { x: WIDTH - 50, y: 50 } }, PICTURE);
    expect(axis.lower.x).toBe(WIDTH - 70);
    expect(axis.sideKnown).toBe(true);
  });

  /** Returns an axis whose right end is this many degrees below its left end. */
  const tilted = (share: number, degrees: number) =>
    symphysisAxis(
      { ...SYMPHYSIS, centre: { x: share * WIDTH, y: 50 }, angle: (degrees * Math.PI) / 180 },
      PICTURE,
    );

  it.each([
    [0.4, 20, 'right', true],
    [0.43, -20, 'right', true],
    [0.43, 20, 'right', false],
    [0.48, -20, 'right', false],
    [0.53, 20, 'right', false],
    [0.57, 20, 'left', true],
    [0.57, -20, 'right', false],
    [0.6, -20, 'left', true],
  ])(
    'at %s of the width, tilted by %s degrees, points to the %s; known: %s',
    (share, tilt, end, known) => {
      const axis = tilted(share, tilt);
      expect(axis.lower.x > axis.upper.x ? 'right' : 'left').toBe(end);
      expect(axis.sideKnown).toBe(known);
    },
  );
});

describe('progressionOf', () => {
  const near = { ...SYMPHYSIS, centre: { x: 0.57 * WIDTH, y: 50 }, angle: -0.3 };
  const ahead = { x: near.centre.x + 60, y: 130 };

  it('leaves an angle unknown if it depends on the orientation of the image', () => {
    expect(progressionOf(near, [ahead], ahead, PICTURE).sideUnknown).toBe(true);
    const clear = { ...near, centre: { x: 0.3 * WIDTH, y: 50 } };
    expect(progressionOf(clear, [ahead], ahead, PICTURE).sideUnknown).toBe(false);
  });

  it('accepts an angle that is the same from both ends', () => {
    const level = { ...near, angle: 0 };
    const below = { x: near.centre.x, y: 5000 };
    expect(progressionOf(level, [below], below, PICTURE).sideUnknown).toBe(false);
  });
});

describe('angleOfProgression', () => {
  it.each([70, 90, 116, 145, 170, 190])('is %s degrees if the leading part is there', (degrees) => {
    const tangent = angleOfProgression(AXIS, [at(degrees), at(degrees - 30)], HEAD.centre);
    expect(tangent?.degrees).toBeCloseTo(degrees, 6);
    expect(tangent?.point).toEqual(at(degrees));
  });

  it('is the same on the mirrored image', () => {
    const axis = { upper: mirrored(AXIS.upper), lower: mirrored(AXIS.lower) };
    const tangent = angleOfProgression(axis, [mirrored(at(120))], mirrored(HEAD.centre));
    expect(tangent?.degrees).toBeCloseTo(120, 6);
  });

  it('is null without an outline', () => {
    expect(angleOfProgression(AXIS, [], HEAD.centre)).toBeNull();
  });
});

describe('infrapubicSkullPoint', () => {
  it('is on the skull, straight below a level symphysis', () => {
    const point = infrapubicSkullPoint(AXIS, { ...HEAD, centre: { x: 70, y: 120 } });
    expect(point?.x).toBeCloseTo(70, 6);
    expect(point?.y).toBeCloseTo(90, 6);
  });

  it('is null if the head has not descended that far', () => {
    expect(infrapubicSkullPoint(AXIS, { ...HEAD, centre: { x: 20, y: 120 } })).toBeNull();
  });

  it('is null if the lower edge is inside the head', () => {
    expect(infrapubicSkullPoint(AXIS, { ...HEAD, centre: AXIS.lower })).toBeNull();
  });
});

describe('headDirectionAngle', () => {
  it.each([-60, -1, 0, 30, 31, 60])('is %s degrees, positive upwards', (degrees) => {
    const angle = headDirectionAngle(AXIS, { ...HEAD, angle: (-degrees * Math.PI) / 180 });
    expect(angle).toBeCloseTo(degrees, 6);
  });

  it.each([80, -80])('is null for an axis across the symphysis (%s degrees)', (degrees) => {
    const across = { ...HEAD, angle: (-degrees * Math.PI) / 180 };
    expect(headDirectionAngle(AXIS, across)).toBeNull();
  });

  it('is null for a head too round to have a long axis', () => {
    expect(headDirectionAngle(AXIS, { ...HEAD, a: 40, b: 37 })).toBeNull();
  });
});
