import { drawVisibleView } from '../acquisition.ts';
import type { HeadAxes } from '../brain.ts';
import { headTruth, outlineTruth, type PhantomFrame } from '../frame.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import { buildHead } from '../head.ts';
import { createRandom, type Random } from '../random.ts';
import { buildUterus } from '../uterus.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import {
  type BrainContents,
  lateralVentricles,
  posteriorFossa,
} from './brain-structures-anatomy.ts';
import { simulateScene } from './scene.ts';

interface BrainView {
  id: string;
  plane: 'transcerebellar' | 'transventricular';
  /** Sizes in mm, by the names of `anatomy`; drawn where the caller asks for none. */
  draw(request: ViewRequest, random: Random): Record<string, number>;
  build(
    head: HeadAxes,
    boneMm: number,
    values: Readonly<Record<string, number>>,
    random: Random,
  ): BrainContents;
}

function brainView({ id, plane, draw, build }: BrainView): PhantomView {
  const simulate = (request: ViewRequest): PhantomFrame[] => {
    const { sizes, seed, frames, screen } = request;
    const random = createRandom(seed);
    const values = draw(request, random.fork('sizes'));
    // The midline lies across the beam, as the guideline asks.
    const turn = random.normal(0, random.chance(0.8) ? 0.25 : 0.5);
    const angle = turn + (random.chance(0.5) ? Math.PI : 0);
    const mirror = random.chance(0.5);
    const loose: Pose = { centre: { x: 0, y: 0 }, angle, mirror };
    const a = sizes.ofdMm / 2;
    const b = sizes.bpdMm / 2;
    const border: Point[] = Array.from({ length: 32 }, (_, i) => {
      const t = (i * Math.PI) / 16;
      return place(loose, a * Math.cos(t), b * Math.sin(t));
    });
    const extent = {
      across: Math.max(...border.map(({ x }) => x)),
      down: Math.max(...border.map(({ y }) => y)),
    };
    const view = drawVisibleView(extent, border, random.fork('view'), screen);
    const pose: Pose = { centre: view.centre, angle, mirror };
    let points: BrainContents['points'] = {};
    const head = buildHead(plane, sizes, pose, random.fork('head'), (axes, chance, boneMm) => {
      const contents = build(axes, boneMm, values, chance);
      points = contents.points;
      return contents.pieces;
    });
    const around = buildUterus(view.sector, head.surface, view.wallMm, random.fork('uterus'));
    return Array.from({ length: frames }, (_, frame) => {
      const shown = simulateScene({
        plane,
        view,
        pieces: [...around, ...head.layers],
        points,
        values,
        random: random.fork('scene'),
        speckleSeed: seed + 7919 * (frame + 1),
      });
      const outline = outlineTruth(head.outline, shown.acquisition);
      return {
        ...shown,
        truth: { ...shown.truth, head: headTruth(outline, shown.acquisition, pose) },
      };
    });
  };
  return { id, ages: { youngest: 112, oldest: 259 }, simulate };
}

/** `anatomy`: `tcdMm`, `cisternaMm`. */
export const cerebellum = brainView({
  id: 'cerebellum',
  plane: 'transcerebellar',
  draw: ({ sizes, anatomy = {} }, random) => ({
    tcdMm: anatomy.tcdMm ?? sizes.bpdMm * random.range(0.36, 0.58),
    cisternaMm: anatomy.cisternaMm ?? random.range(1.5, random.chance(0.2) ? 13 : 8),
  }),
  build: (head, boneMm, { tcdMm = 0, cisternaMm = 0 }, random) =>
    posteriorFossa(head, boneMm, { tcdMm, cisternaMm }, random),
});

/** `anatomy`: `atrialMm`. */
export const lateralVentricle = brainView({
  id: 'lateral-ventricle',
  plane: 'transventricular',
  draw: ({ sizes, anatomy = {} }, random) => ({
    atrialMm:
      anatomy.atrialMm ?? Math.min(sizes.bpdMm / 4, random.range(4, random.chance(0.3) ? 18 : 9.5)),
  }),
  build: (head, _, { atrialMm = 0 }, random) => lateralVentricles(head, atrialMm, random),
});
