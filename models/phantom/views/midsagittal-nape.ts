import { locate } from '../exposure.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import type { Random } from '../random.ts';
import type { Shape } from '../shapes.ts';
import { type Layer, risingFrom, TISSUE } from '../tissue.ts';
import { MEDIAN_TISSUE, type UV, unitFrame } from './midsagittal-frame.ts';

/** Where the nuchal lucency begins and ends along the back, and its share of the full thickness. */
const LUCENCY = { from: 5, to: 33, widest: 16 } as const;

const lucencyShare = (u: number) => {
  const t =
    u < LUCENCY.widest
      ? (u - LUCENCY.from) / (LUCENCY.widest - LUCENCY.from)
      : (LUCENCY.to - u) / (LUCENCY.to - LUCENCY.widest);
  return Math.sin((Math.PI / 2) * Math.max(0, Math.min(1, t))) ** 0.8;
};

/** The dorsal border of the soft tissue, under which the lucency lies. */
export const back = (u: number) => 16.2 - 0.0035 * (u - 20) ** 2;

/** Between two dorsal curves, `from` and `to` in units along the back. */
function band(
  pose: Pose,
  unit: number,
  range: UV,
  inner: (u: number) => number,
  outer: (u: number) => number,
): Shape {
  const middle = (range[0] + range[1]) / 2;
  return {
    centre: place(pose, middle * unit, inner(middle) * unit),
    reach: ((range[1] - range[0]) / 2 + 8) * unit,
    distance: (x, y) => {
      const at = locate(pose, x, y);
      const u = at.u / unit;
      const v = at.v / unit;
      return unit * Math.max(range[0] - u, u - range[1], inner(u) - v, v - outer(u));
    },
  };
}

/** The back: soft tissue under a bright line, the lucency, the skin, and the amnion behind it. */
export function nuchalLayers(
  pose: Pose,
  unit: number,
  sizes: { ntMm: number; amnionSeen: boolean },
  random: Random,
) {
  const thickness = (u: number) => Math.max(0.3, sizes.ntMm * lucencyShare(u)) / unit;
  const skin = random.range(0.55, 0.85) / unit;
  const whole: UV = [2, 58];
  const outer = (u: number) => back(u) + thickness(u);
  const amnionAt = random.range(2.5, 6) / unit;
  const amnion = (u: number) => outer(u) + skin + amnionAt + 0.002 * (u - 25) ** 2;
  const layers: Layer[] = [
    {
      shape: band(
        pose,
        unit,
        whole,
        () => 6,
        (u) => back(u),
      ),
      tissue: MEDIAN_TISSUE.body,
    },
    {
      shape: band(pose, unit, [3, 56], (u) => back(u) - 0.75 / unit, back),
      tissue: MEDIAN_TISSUE.nuchalLine,
      rigid: true,
      modulation: risingFrom(
        band(pose, unit, whole, () => -50, back),
        { depthMm: 0.4, dip: 10 },
      ),
    },
    { shape: band(pose, unit, whole, back, outer), tissue: TISSUE.fetalFluid, rigid: true },
    {
      shape: band(pose, unit, whole, outer, (u) => outer(u) + skin),
      tissue: MEDIAN_TISSUE.nuchalLine,
      rigid: true,
      modulation: risingFrom(
        band(pose, unit, whole, outer, () => 90),
        { depthMm: 0.4, dip: 10 },
      ),
    },
    ...(sizes.amnionSeen
      ? [
          {
            shape: band(pose, unit, [-4, 50], amnion, (u) => amnion(u) + 0.5 / unit),
            tissue: TISSUE.membrane,
          },
        ]
      : []),
  ];
  const { at } = unitFrame(pose, unit);
  const widest = LUCENCY.widest;
  const nuchal: [Point, Point] = [at(widest, back(widest)), at(widest, outer(widest))];
  const seen = [LUCENCY.from + 1, LUCENCY.to - 4] as const;
  const box = seen.flatMap((u) => [at(u, back(u)), at(u, outer(u))]).concat(nuchal);
  return { layers, nuchal, box };
}
