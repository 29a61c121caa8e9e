import { describe, expect, it } from 'vitest';
import type { Ellipse, Point } from '../../../../pipelines/contract/image.ts';
import {
  angleOfProgression,
  headDirectionAngle,
  infrapubicSkullPoint,
  symphysisAxis,
} from '../../../../pipelines/obstetric/labor-progress/measure.ts';

const WIDTH = 256;
/** Level, from (30, 50) to (70, 50): the lower edge is the right end. */
const SYMPHYSIS: Ellipse = { centre: { x: 50, y: 50 }, a: 20, b: 8, angle: 0 };
const AXIS = symphysisAxis(SYMPHYSIS, WIDTH);
const HEAD: Ellipse = { centre: { x: 75, y: 120 }, a: 40, b: 30, angle: 0 };

/** A point seen from the lower edge at this angle to the axis, on the side of the head. */
function at(degrees: number, distance = 60): Point {
  const angle = (degrees * Math.PI) / 180;
  return {
    x: AXIS.lower.x - distance * Math.cos(angle),
    y: AXIS.lower.y + distance * Math.sin(angle),
  };
}

const mirrored = ({ x, y }: Point): Point => ({ x: WIDTH - x, y });

describe('symphysisAxis', () => {
  it('has its lower edge at the right end where the symphysis lies left of the middle', () => {
    expect(AXIS).toEqual({ upper: { x: 30, y: 50 }, lower: { x: 70, y: 50 } });
  });

  it('has its lower edge at the left end on a mirrored image', () => {
    const axis = symphysisAxis({ ...SYMPHYSIS, centre: { x: WIDTH - 50, y: 50 } }, WIDTH);
    expect(axis.lower.x).toBe(WIDTH - 70);
  });

  it.each([
    [0.55, 'right'],
    [0.57, 'left'],
  ])('with its centre at %s of the width points to the %s', (share, end) => {
    const axis = symphysisAxis({ ...SYMPHYSIS, centre: { x: share * WIDTH, y: 50 } }, WIDTH);
    expect(axis.lower.x > axis.upper.x ? 'right' : 'left').toBe(end);
  });
});

describe('angleOfProgression', () => {
  it.each([70, 90, 116, 145, 170, 190])(
    'is %s degrees where the leading part lies there',
    (degrees) => {
      const tangent = angleOfProgression(AXIS, [at(degrees), at(degrees - 30)], HEAD.centre);
      expect(tangent?.degrees).toBeCloseTo(degrees, 6);
      expect(tangent?.point).toEqual(at(degrees));
    },
  );

  it('is the same on the mirrored image', () => {
    const axis = { upper: mirrored(AXIS.upper), lower: mirrored(AXIS.lower) };
    const tangent = angleOfProgression(axis, [mirrored(at(120))], mirrored(HEAD.centre));
    expect(tangent?.degrees).toBeCloseTo(120, 6);
  });

  it('is nothing without an outline', () => {
    expect(angleOfProgression(AXIS, [], HEAD.centre)).toBeNull();
  });
});

describe('infrapubicSkullPoint', () => {
  it('lies on the skull, straight below a level symphysis', () => {
    const point = infrapubicSkullPoint(AXIS, { ...HEAD, centre: { x: 70, y: 120 } });
    expect(point?.x).toBeCloseTo(70, 6);
    expect(point?.y).toBeCloseTo(90, 6);
  });

  it('is nothing where the head has not come that far', () => {
    expect(infrapubicSkullPoint(AXIS, { ...HEAD, centre: { x: 20, y: 120 } })).toBeNull();
  });

  it('is nothing where the lower edge lies inside the head', () => {
    expect(infrapubicSkullPoint(AXIS, { ...HEAD, centre: AXIS.lower })).toBeNull();
  });
});

describe('headDirectionAngle', () => {
  it.each([-60, -1, 0, 30, 31, 60])('is %s degrees, up positive', (degrees) => {
    const angle = headDirectionAngle(AXIS, { ...HEAD, angle: (-degrees * Math.PI) / 180 });
    expect(angle).toBeCloseTo(degrees, 6);
  });

  it.each([80, -80])('is nothing for an axis across the symphysis (%s degrees)', (degrees) => {
    const across = { ...HEAD, angle: (-degrees * Math.PI) / 180 };
    expect(headDirectionAngle(AXIS, across)).toBeNull();
  });

  it('is nothing for a head too round to have a long axis', () => {
    expect(headDirectionAngle(AXIS, { ...HEAD, a: 40, b: 37 })).toBeNull();
  });
});
