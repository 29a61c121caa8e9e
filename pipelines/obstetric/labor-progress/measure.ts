import type { ObstetricConcept, ObstetricMethod } from '../../concepts/obstetric.ts';
import type { Point } from '../../contract/image.ts';
import { type CalibratedRegion, scaleFor } from '../../contract/study.ts';
import { axisEnds, toMillimetres } from '../../measure/ellipse.ts';
import {
  angleOfProgression,
  headDirectionAngle,
  infrapubicSkullPoint,
  symphysisAxis,
} from '../../measure/head-descent.ts';
import type { Caliper } from '../../result/envelope.ts';
import type { TransperinealReading } from './evidence.ts';

/** One value of one transperineal frame, degrees or millimetres, with the lines that show it. */
export interface Descent {
  key: ObstetricConcept;
  method: ObstetricMethod;
  value: number;
  calipers: Caliper[];
}

/**
 * What a transperineal frame says of the descent of the head. Angles need no calibration: pixels
 * without a scale are taken for square. The head-symphysis distance is left out without one.
 */
export function descentOf({ clip, located }: TransperinealReading): Descent[] {
  if (!located) return [];
  const region: CalibratedRegion | null = scaleFor(clip, axisEnds(located.symphysis));
  const scale = region?.scale ?? { x: 1, y: 1 };
  const onPlane = (point: Point): Point => ({ x: point.x * scale.x, y: point.y * scale.y });
  const pair = (point: Point): [number, number] => [point.x / scale.x, point.y / scale.y];
  const line = (from: Point, to: Point): Caliper => ({
    type: 'line',
    points: [pair(from), pair(to)],
  });
  const head = toMillimetres(located.head, scale);
  const axis = symphysisAxis(toMillimetres(located.symphysis, scale), clip.width * scale.x);
  const tangent = angleOfProgression(axis, located.skull.map(onPlane), head.centre);
  const skullPoint = region && infrapubicSkullPoint(axis, head);
  const direction = headDirectionAngle(axis, head);
  const [front, back] = axisEnds(head);
  return [
    ...(tangent
      ? [
          {
            key: 'angle-of-progression' as const,
            method: 'aop-tangent' as const,
            value: tangent.degrees,
            calipers: [line(axis.upper, axis.lower), line(axis.lower, tangent.point)],
          },
        ]
      : []),
    ...(skullPoint
      ? [
          {
            key: 'head-symphysis-distance' as const,
            method: 'hsd-infrapubic' as const,
            value: Math.hypot(skullPoint.x - axis.lower.x, skullPoint.y - axis.lower.y),
            calipers: [line(axis.lower, skullPoint)],
          },
        ]
      : []),
    ...(direction === null
      ? []
      : [
          {
            key: 'head-direction' as const,
            method: 'head-direction-symphysis' as const,
            value: direction,
            calipers: [line(axis.upper, axis.lower), line(front, back)],
          },
        ]),
  ];
}
