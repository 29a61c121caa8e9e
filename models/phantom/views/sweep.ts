import { buildAbdomen } from '../abdomen.ts';
import { drawAcquisition, drawVisibleView } from '../acquisition.ts';
import { createExposer, extentOf } from '../exposure.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import { buildHead } from '../head.ts';
import type { Acquisition } from '../image-formation.ts';
import type { FrameTruth } from '../labels.ts';
import { createRandom, type Random } from '../random.ts';
import { ellipse, rim, type Shape } from '../shapes.ts';
import type { FetalSizes } from '../sizes.ts';
import { type Layer, TISSUE } from '../tissue.ts';
import { buildUterus } from '../uterus.ts';
import type { PhantomView, ViewRequest } from '../view.ts';

/**
 * A fetus in the path of the sweep. `from` is where it begins, in mm from the lower end of the
 * uterus.
 */
interface SweptFetus {
  sizes: FetalSizes;
  /** True if the head points towards the cervix. */
  headDown: boolean;
  from: number;
  /** Position in mm at which the axis of the fetus crosses the transverse planes. */
  centre: Point;
  /** Orientation of head and trunk in the plane, radians. */
  turn: number;
  seed: Random;
}

/** Extent of each part along the crown-rump axis, as shares of the length (usual proportions). */
const HEAD_SHARE = 0.3;
const THORAX_SHARE = { from: 0.34, to: 0.55 } as const;
const TRUNK_SHARE = { from: 0.34, to: 1 } as const;

/** Returns the length in mm of the flexed fetus from crown to rump. */
const lengthOf = ({ ofdMm }: FetalSizes) => 2.7 * ofdMm;

interface Section {
  layers: Layer[];
  surface: Shape;
  part: 'head' | 'thorax' | 'abdomen';
}

const scaled = (sizes: FetalSizes, by: number): FetalSizes => ({
  ...sizes,
  ofdMm: sizes.ofdMm * by,
  bpdMm: sizes.bpdMm * by,
  apadMm: sizes.apadMm * by,
  tadMm: sizes.tadMm * by,
});

/**
 * Builds four chambers in a ring of muscle, equal on the left and on the right. This is detailed
 * enough to show a beat.
 */
function heart(pose: Pose, a: number, b: number, beat: number): Layer[] {
  const size = 1 + 0.1 * beat;
  const at = (u: number, v: number, ru: number, rv: number, tissue: Layer['tissue']): Layer => ({
    shape: ellipse(pose, { u: u * a, v: v * b, a: ru * a, b: rv * b }),
    tissue,
  });
  return [
    at(0.12, 0.15, 0.42, 0.42, TISSUE.muscle),
    ...[
      [0.28, 0.32],
      [0.28, 0],
      [-0.02, 0.3],
      [-0.02, 0.02],
    ].map(([u = 0, v = 0]) => at(u, v, 0.13 * size, 0.14 * size, TISSUE.fetalFluid)),
  ];
}

function thoraxSection(pose: Pose, sizes: FetalSizes, beat: number): Section {
  const a = 0.45 * sizes.apadMm;
  const b = 0.44 * sizes.tadMm;
  const surface = ellipse(pose, { u: 0, v: 0, a, b });
  const spine = ellipse(pose, { u: -0.75 * a, v: 0, a: 0.08 * a, b: 0.1 * b });
  return {
    part: 'thorax',
    surface,
    layers: [
      { shape: surface, tissue: TISSUE.subcutis },
      { shape: rim(surface, 0.08 * a), tissue: { ...TISSUE.rib, loss: 0.4 } },
      { shape: ellipse(pose, { u: 0, v: 0, a: 0.86 * a, b: 0.86 * b }), tissue: TISSUE.muscle },
      ...heart(pose, a, b, beat),
      { shape: spine, tissue: TISSUE.vertebra },
    ],
  };
}

/**
 * Returns the section of the fetus in the transverse plane at `z` mm; null if the plane misses the
 * fetus.
 */
function sectionAt(fetus: SweptFetus, z: number, beat: number): Section | null {
  const length = lengthOf(fetus.sizes);
  const fromBelow = (z - fetus.from) / length;
  const share = fetus.headDown ? fromBelow : 1 - fromBelow;
  const pose: Pose = { centre: fetus.centre, angle: fetus.turn, mirror: false };
  if (share > 0 && share < HEAD_SHARE) {
    const off = (share - HEAD_SHARE / 2) / (HEAD_SHARE / 2);
    const size = Math.sqrt(1 - off * off);
    if (size < 0.4) return null;
    const plane = off < -0.25 ? 'transventricular' : 'transthalamic';
    const head = buildHead(plane, scaled(fetus.sizes, size), pose, fetus.seed.fork('head'));
    return { part: 'head', layers: head.layers, surface: head.surface };
  }
  if (share < TRUNK_SHARE.from || share > TRUNK_SHARE.to) return null;
  const spineDown = { ...pose, centre: place(pose, 0, 0) };
  if (share < THORAX_SHARE.to) return thoraxSection(spineDown, fetus.sizes, beat);
  const taper = Math.min(1, 2.2 * (TRUNK_SHARE.to - share) ** 0.5);
  const abdomen = buildAbdomen(scaled(fetus.sizes, taper), spineDown, fetus.seed.fork('abdomen'));
  return { part: 'abdomen', layers: abdomen.layers, surface: abdomen.surface };
}

/** Milliseconds per frame. A sweep of 40 frames takes four seconds. */
const FRAME_TIME_MS = 100;

/**
 * Beats per frame for a fetal heart at 144 beats per minute. A moving probe cannot measure this
 * rate.
 */
const BEATS_PER_FRAME = 0.24;

/** Randomly picks the fetuses that fill the uterus: one, or two in sequence along the uterus. */
function drawFetuses({ anatomy = {}, sizes }: ViewRequest, random: Random): SweptFetus[] {
  const count = anatomy.fetuses ?? 1;
  const gap = random.range(8, 20);
  return Array.from({ length: count }, (_, index) => {
    const own = random.fork(`fetus ${index}`);
    const cephalic =
      index === 0 ? (anatomy.cephalic ?? (own.chance(0.7) ? 1 : 0)) === 1 : own.chance(0.5);
    return {
      sizes,
      headDown: cephalic,
      from: gap + index * (lengthOf(sizes) + gap),
      centre: { x: own.normal(0, 4), y: 0 },
      turn: own.range(0, 2 * Math.PI),
      seed: own.fork('anatomy'),
    };
  });
}

function truthOf(
  fetuses: readonly SweptFetus[],
  section: Section | null,
  z: number,
  fromFundus: boolean,
  { window }: Acquisition,
): FrameTruth {
  return {
    plane: 'presentation-sweep',
    mmPerPixel: window.mmPerPixel,
    values: {
      aboveCervixMm: z,
      fetuses: fetuses.length,
      cephalic: fetuses[0]?.headDown ? 1 : 0,
      fromFundus: fromFundus ? 1 : 0,
      head: section?.part === 'head' ? 1 : 0,
      trunk: section && section.part !== 'head' ? 1 : 0,
    },
  };
}

function simulate(request: ViewRequest): PhantomFrame[] {
  const random = createRandom(request.seed);
  const fetuses = drawFetuses(request, random.fork('fetuses'));
  const fromFundus = request.anatomy?.fromFundus === 1;
  const last = fetuses.at(-1) as SweptFetus;
  const fundus = last.from + lengthOf(last.sizes) + 10;
  const half = {
    u: request.sizes.ofdMm / 2,
    v: Math.max(request.sizes.bpdMm, request.sizes.tadMm) / 2,
  };
  const border = Array.from({ length: 24 }, (_, i) => {
    const t = (i * Math.PI) / 12;
    return { x: half.u * Math.cos(t), y: half.u * Math.sin(t) };
  });
  const view = drawVisibleView(extentOf(border), border, random.fork('view'), request.screen);
  const acquisition = drawAcquisition(view, random.fork('acquisition'));
  const expose = createExposer(acquisition, random);
  return Array.from({ length: request.frames }, (_, index) => {
    const share = request.frames === 1 ? 0.2 : index / (request.frames - 1);
    const z = fundus * (fromFundus ? 1 - share : share);
    const beat = Math.sin(2 * Math.PI * BEATS_PER_FRAME * index);
    const placed = fetuses.map((fetus) => ({
      ...fetus,
      centre: { x: view.centre.x + fetus.centre.x, y: view.centre.y + fetus.centre.y },
    }));
    const section =
      placed.map((fetus) => sectionAt(fetus, z, beat)).find((found) => found !== null) ?? null;
    const nothing = ellipse(
      { centre: view.centre, angle: 0, mirror: false },
      { u: 0, v: 0, a: 1, b: 1 },
    );
    const around = buildUterus(
      view.sector,
      section?.surface ?? nothing,
      view.wallMm,
      random.fork('uterus'),
    );
    const scene = [...around, ...(section?.layers ?? [])];
    const truth = truthOf(fetuses, section, z, fromFundus, acquisition);
    return expose({ scene, truth, speckleSeed: request.seed + 7919 * (index + 1) });
  });
}

/**
 * A blind sweep of the transverse probe along the uterus, from the cervix to the fundus or back.
 * `anatomy`: `cephalic` (0: breech), `fetuses` (1 or 2), `fromFundus` (1: the sweep runs down).
 */
export const presentationSweep: PhantomView = {
  id: 'presentation-sweep',
  ages: { youngest: 126, oldest: 266 },
  simulate,
  header: ([first]) => ({
    frameTimeMs: FRAME_TIME_MS,
    attributes: {
      ViewName:
        first?.truth.values?.fromFundus === 1
          ? 'SWEEP CRANIAL TO CAUDAL'
          : 'SWEEP CAUDAL TO CRANIAL',
    },
  }),
};
