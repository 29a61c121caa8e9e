import { drawAcquisition, drawVisibleView } from '../acquisition.ts';
import { boxOf, createExposer, extentOf } from '../exposure.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Point, type Pose, toPixel } from '../geometry.ts';
import type { Acquisition } from '../image-formation.ts';
import type { FrameTruth } from '../labels.ts';
import { createRandom, type Random } from '../random.ts';
import { ellipse, grown } from '../shapes.ts';
import { TISSUE } from '../tissue.ts';
import { buildUterus } from '../uterus.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { buildMedianFetus, type MedianFetus, type MedianSizes } from './midsagittal-fetus.ts';

/**
 * Returns the CRL at an age from INTERGROWTH-21st (Papageorghiou 2014). Deliberately independent of
 * the gateway's own chart.
 */
const crlAt = (days: number) => -50.6562 + 0.815118 * days + 0.00535302 * days ** 2;

function drawSizes({ gaDays, anatomy = {} }: ViewRequest, random: Random): MedianSizes {
  const crlMm = anatomy.crlMm ?? crlAt(gaDays) * random.range(0.94, 1.06);
  const thick = random.chance(0.15) ? random.range(2.5, 6) : random.range(0.9, 2.5);
  return {
    crlMm,
    ntMm: anatomy.ntMm ?? thick,
    nasalBone: anatomy.nasalBone === undefined ? random.chance(0.85) : anatomy.nasalBone === 1,
    flexion: ((anatomy.flexionDegrees ?? random.normal(0, 5)) * Math.PI) / 180,
    amnionSeen: random.chance(0.75),
  };
}

function truthOf(
  fetus: MedianFetus,
  sizes: MedianSizes,
  id: string,
  { window }: Acquisition,
): FrameTruth {
  const pixel = (point: Point) => toPixel(window, point);
  const boxes = Object.entries(fetus.structures).map(([name, points]) => [
    name,
    boxOf(window, points),
  ]);
  return {
    plane: id,
    mmPerPixel: window.mmPerPixel,
    values: {
      crlMm: sizes.crlMm,
      ntMm: sizes.ntMm,
      nasalBone: sizes.nasalBone ? 1 : 0,
      flexionDegrees: (sizes.flexion * 180) / Math.PI,
    },
    points: {
      ...Object.fromEntries(boxes),
      nuchal: fetus.nuchal.map(pixel),
      ...(id === 'crl-sagittal' ? { crl: [pixel(fetus.crown), pixel(fetus.rump)] } : {}),
    },
  };
}

/**
 * Simulates frames of the fetus, showing it from crown to rump if `whole` is set; otherwise the
 * head and upper thorax fill the screen (FMF protocol).
 */
function simulate(request: ViewRequest, id: string, whole: boolean): PhantomFrame[] {
  const random = createRandom(request.seed);
  const sizes = drawSizes(request, random.fork('sizes'));
  const tilt = random.fork('tilt').normal(0, 0.1);
  const flipped = random.fork('side').chance(0.5);
  const angle = flipped ? Math.PI - tilt : tilt;
  const unit = sizes.crlMm / 75;
  const middle = whole ? 24 : random.fork('middle').range(8, 14);
  const reach = whole ? 40 : random.fork('reach').range(24, 30);
  const border = Array.from({ length: 24 }, (_, i) => {
    const t = (i * Math.PI) / 12;
    return { x: reach * unit * Math.cos(t), y: 19 * unit * Math.sin(t) };
  });
  const view = drawVisibleView(extentOf(border), border, random.fork('view'), request.screen);
  const acquisition = drawAcquisition(view, random.fork('acquisition'));
  const offset = { x: middle * unit * Math.cos(angle), y: middle * unit * Math.sin(angle) };
  const pose: Pose = {
    centre: { x: view.centre.x - offset.x, y: view.centre.y - offset.y },
    angle,
    mirror: flipped,
  };
  const fetus = buildMedianFetus(pose, sizes, random.fork('fetus'));
  const around = buildUterus(view.sector, fetus.surface, view.wallMm, random.fork('uterus'));
  // The amniotic fluid around the fetus. The uterus encloses it.
  const pool = grown(
    ellipse(pose, { u: 24 * unit, v: 1 * unit, a: 46 * unit, b: 23 * unit }),
    random.fork('pool').range(0, 6),
  );
  const fluid = { shape: pool, tissue: TISSUE.amnioticFluid };
  const truth = truthOf(fetus, sizes, id, acquisition);
  const expose = createExposer(acquisition, random);
  return Array.from({ length: request.frames }, (_, index) =>
    expose({
      scene: [...around, fluid, ...fetus.layers],
      truth,
      speckleSeed: request.seed + 7919 * (index + 1),
    }),
  );
}

const AGES = { youngest: 77, oldest: 97 } as const;

/**
 * The nuchal view: head and upper thorax of a fetus on its back. `anatomy`: `crlMm`, `ntMm`,
 * `nasalBone` (0: absent), `flexionDegrees`.
 */
export const midsagittal: PhantomView = {
  id: 'midsagittal',
  ages: AGES,
  simulate: (request) => simulate(request, 'midsagittal', false),
};

/** The whole fetus, from crown to rump, with the same `anatomy` options as `midsagittal`. */
export const crlSagittal: PhantomView = {
  id: 'crl-sagittal',
  ages: AGES,
  simulate: (request) => simulate(request, 'crl-sagittal', true),
};
