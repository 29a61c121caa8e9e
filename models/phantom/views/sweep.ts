import { drawAcquisition, drawVisibleView } from '../acquisition.ts';
import { expose, extentOf } from '../exposure.ts';
import type { PhantomFrame } from '../frame.ts';
import type { Acquisition } from '../image-formation.ts';
import type { FrameTruth } from '../labels.ts';
import { createRandom, type Random } from '../random.ts';
import { ellipse } from '../shapes.ts';
import { buildUterus } from '../uterus.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { lengthOf, type Section, type SweptFetus, sectionAt } from './sweep-fetus.ts';

/** A hand that takes four seconds over 40 frames. */
const FRAME_TIME_MS = 100;

/** Of a fetal heart that beats 144 times a minute; a moving probe sees no rate of it. */
const BEATS_PER_FRAME = 0.24;

/** Fetuses that fill the uterus: one, or two behind each other along it. */
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
    return expose(
      { scene, acquisition, truth, speckleSeed: request.seed + 7919 * (index + 1) },
      random,
    );
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
