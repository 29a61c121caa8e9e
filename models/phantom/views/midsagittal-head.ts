import type { Point, Pose } from '../geometry.ts';
import type { Random } from '../random.ts';
import { grown, rim, type Shape, within } from '../shapes.ts';
import { type Layer, TISSUE } from '../tissue.ts';
import { MEDIAN_TISSUE, unitFrame } from './midsagittal-frame.ts';

/**
 * Brain, face and skull in the frame of the head, which flexion turns, and the corner points of the
 * structures that a nuchal view shows.
 */
export function headLayers(
  pose: Pose,
  unit: number,
  { nasalBone }: { nasalBone: boolean },
  random: Random,
) {
  const { at, oval, line } = unitFrame(pose, unit);
  const skull = oval(-0.5, 0.5, 13, 15);
  const inside = grown(skull, -0.5);
  const brain = (shape: Shape, tissue: Layer['tissue']): Layer => ({
    shape: within(shape, inside),
    tissue,
  });
  const tilt = random.normal(0, 0.08);
  const boxes: Record<string, readonly Point[]> = {};
  const corners = (name: string, u: number, v: number, wide: number, high: number) => {
    boxes[name] = [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ].map(([du = 0, dv = 0]) => at(u + (du * wide) / 2, v + (dv * high) / 2));
  };
  corners('thalami', -0.3, -0.7, 8.9, 6.5);
  corners('midbrain', -1.6, 6.8, 5.7, 8);
  corners('IT', 3.2, 9.7, 7.5, 2.7);
  corners('CM', 4, 13.2, 8.7, 2.2);
  corners('palate', 13.2, -4.8, 10.5, 7);
  corners('nasal skin', 11.4, -12.8, 2.9, 1);
  corners('nasal tip', 14.2, -12.9, 2.9, 1);
  if (nasalBone) corners('nasal bone', 10.9, -10.9, 4.2, 1.6);
  const layers: Layer[] = [
    { shape: oval(12, -5, 5.5, 8, 0.5), tissue: MEDIAN_TISSUE.body },
    { shape: oval(17, -2.5, 3, 4.5, 0.6), tissue: MEDIAN_TISSUE.body },
    { shape: inside, tissue: { ...TISSUE.brain, echo: -37 } },
    brain(oval(-6, -6, 5, 4.5, 0.4), TISSUE.fetalFluid),
    brain(oval(-7, -4, 3.4, 2.6), TISSUE.choroidPlexus),
    brain(oval(-0.3, -0.7, 4.4, 3.2, tilt), TISSUE.thalamus),
    brain(
      line(
        [
          [-5, -4],
          [3, -4.4],
        ],
        0.3,
      ),
      TISSUE.basalGanglia,
    ),
    brain(oval(-1.6, 6.8, 2.8, 4, tilt), { echo: -41, loss: 0, texture: 2 }),
    brain(
      line(
        [
          [-4.6, 3.6],
          [1.4, 3.2],
        ],
        0.3,
      ),
      TISSUE.basalGanglia,
    ),
    brain(oval(3.2, 9.7, 3.7, 1.3, 0.1), TISSUE.fetalFluid),
    brain(
      line(
        [
          [-0.4, 8.2],
          [6.8, 8.4],
        ],
        0.3,
      ),
      TISSUE.membrane,
    ),
    brain(
      line(
        [
          [-0.2, 11.4],
          [7, 11.3],
        ],
        0.4,
      ),
      TISSUE.membrane,
    ),
    brain(oval(4, 13.2, 4.2, 1.1, 0.05), TISSUE.fetalFluid),
    {
      shape: within(
        rim(skull, Math.max(0.5, 0.55 * unit)),
        line(
          [
            [-13, -4],
            [-10, -13],
            [0, -15],
            [8, -12],
          ],
          5 * unit,
        ),
      ),
      tissue: TISSUE.skull,
    },
    {
      shape: within(rim(skull, Math.max(0.4, 0.5 * unit)), oval(-9, 7, 12, 12)),
      tissue: { ...TISSUE.skull, mirror: 0, loss: 0.6 },
    },
    {
      shape: line(
        [
          [8.4, -6.8],
          [17.2, -2.4],
        ],
        0.9 * unit,
      ),
      tissue: MEDIAN_TISSUE.faceBone,
    },
    {
      shape: line(
        [
          [14.5, 2.6],
          [18.5, -0.4],
        ],
        0.7 * unit,
      ),
      tissue: MEDIAN_TISSUE.faceBone,
    },
    {
      shape: line(
        [
          [10.2, -12.8],
          [12.7, -12.8],
        ],
        0.35,
      ),
      tissue: TISSUE.skin,
    },
    {
      shape: line(
        [
          [13, -12.7],
          [15.2, -12.9],
        ],
        0.45,
      ),
      tissue: TISSUE.skin,
    },
    ...(nasalBone
      ? [
          {
            shape: line(
              [
                [9.2, -11],
                [12.6, -10.8],
              ],
              random.range(0.45, 0.75),
            ),
            tissue: MEDIAN_TISSUE.faceBone,
          },
        ]
      : []),
  ];
  return { layers, boxes };
}
