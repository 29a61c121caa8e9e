import type { Ellipse, GrayImage, Point } from '../../pipelines/contract/image.ts';
import { ellipseFromMoments, fitEllipse } from '../../pipelines/obstetric/locate/ellipse-fit.ts';
import { mean } from './agreement.ts';

/** The ellipse that a thin bright line on black draws, as in HC18. Throws where it is none. */
export function drawnEllipse({ width, data }: GrayImage): Ellipse {
  const points: Point[] = [];
  data.forEach((value, i) => {
    if (value > 127) points.push({ x: i % width, y: Math.floor(i / width) });
  });
  const centre = { x: mean(points.map(({ x }) => x)), y: mean(points.map(({ y }) => y)) };
  const moment = (of: (x: number, y: number) => number) =>
    mean(points.map(({ x, y }) => of(x - centre.x, y - centre.y)));
  // The border of an ellipse spreads twice as much as its area.
  const start = ellipseFromMoments({
    mean: centre,
    xx: moment((x) => x * x) / 2,
    xy: moment((x, y) => x * y) / 2,
    yy: moment((_, y) => y * y) / 2,
  });
  const ellipse = fitEllipse(points, start);
  if (!ellipse) throw new Error(`no ellipse in ${points.length} drawn pixels`);
  return ellipse;
}
