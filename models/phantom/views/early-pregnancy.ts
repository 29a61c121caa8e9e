import { drawAcquisition, type View } from '../acquisition.ts';
import { createExposer, drawEndocavityView, maskOf } from '../exposure.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Point, type Pose, place, toPixel } from '../geometry.ts';
import type { Acquisition } from '../image-formation.ts';
import type { FrameTruth } from '../labels.ts';
import { createNoise, createRandom, type Random } from '../random.ts';
import { ellipse, everywhere, grown, rim, type Shape, within } from '../shapes.ts';
import { type Layer, TISSUE } from '../tissue.ts';
import type { PhantomView, ViewRequest } from '../view.ts';

/** An embryo in its pose; u runs from the crown (negative) to the rump (positive). */
interface Embryo {
  layers: Layer[];
  outline: Shape;
  crown: Point;
  rump: Point;
}

const EMBRYO = { echo: -24, loss: 0.01, texture: 3 };
const HEAD_FLUID = { echo: -50, loss: 0, texture: 2 };

function joined(shapes: readonly [Shape, ...Shape[]]): Shape {
  const [{ centre }] = shapes;
  const reach = Math.max(
    ...shapes.map((s) => s.reach + Math.hypot(s.centre.x - centre.x, s.centre.y - centre.y)),
  );
  return { centre, reach, distance: (x, y) => Math.min(...shapes.map((s) => s.distance(x, y))) };
}

/**
 * Builds the head and the trunk, which extend to the two ends of the crown-rump length. Below 8 mm,
 * the embryo is a bean shape, in which head and trunk cannot be distinguished yet. `beat` runs from
 * -1 (systole) to 1 (diastole), when the heart is larger and darker.
 */
function buildEmbryo(pose: Pose, crlMm: number, beat: number, random: Random): Embryo {
  const half = crlMm / 2;
  const bean = crlMm < 8;
  const thickness = Math.max(0.9, half * random.range(0.4, 0.5));
  const headShare = bean ? 0.3 : random.range(0.42, 0.5);
  const head = ellipse(pose, {
    u: -half * (1 - headShare),
    v: 0,
    a: half * headShare,
    b: Math.max(0.85 * thickness, half * headShare * 0.8),
  });
  const trunk = ellipse(pose, {
    u: half * (1 - (bean ? 0.75 : 0.6)),
    v: 0,
    a: half * (bean ? 0.75 : 0.6),
    b: thickness * (bean ? 0.9 : 1),
  });
  const neck = ellipse(pose, {
    u: -0.1 * half,
    v: 0.1 * thickness,
    a: 0.45 * half,
    b: 0.75 * thickness,
  });
  const outline = joined([head, trunk, neck]);
  const heartMm = Math.max(0.7, 0.1 * crlMm) * (1 + 0.3 * beat);
  const heart = ellipse(pose, {
    u: 0.12 * half,
    v: -0.35 * thickness,
    a: heartMm,
    b: 0.8 * heartMm,
  });
  const limbs = bean
    ? []
    : [0.2, 0.75].map((u) =>
        ellipse(pose, {
          u: u * half,
          v: -1.1 * thickness,
          a: 0.1 * half,
          b: 0.35 * thickness,
          turn: 0.3,
        }),
      );
  const ventricle = ellipse(pose, {
    u: -half * (1 - headShare),
    v: 0,
    a: 0.4 * half * headShare,
    b: 0.35 * half * headShare,
  });
  return {
    outline,
    crown: place(pose, -half, 0),
    rump: place(pose, half, 0),
    layers: [
      ...limbs.map((shape) => ({ shape, tissue: EMBRYO })),
      { shape: outline, tissue: EMBRYO, rigid: true as const },
      ...(crlMm > 14 ? [{ shape: ventricle, tissue: HEAD_FLUID }] : []),
      {
        shape: heart,
        tissue: TISSUE.fetalFluid,
        // The heart is brighter in systole, because its walls are closer together and contain less
        // blood.
        modulation: () => 14 - 12 * beat,
      },
    ],
  };
}

/** Dimensions of one early pregnancy in mm. A structure with dimension 0 is absent. */
interface EarlySizes {
  /** Inner diameters of the sac: along the uterus, from front to back, from side to side. */
  sac: { lengthMm: number; heightMm: number; widthMm: number };
  /** Diameter from inner border to inner border. */
  yolkSacMm: number;
  crlMm: number;
  /** Beats per minute; 0 means no cardiac activity. */
  heartRate: number;
}

/**
 * Mean sac diameter at an age: GA in days minus 30 (Nyberg 1987). The crown-rump length is the
 * inverse of the curve by Robinson and Fleming 1975. Both are deliberately separate from the
 * gateway's charts.
 */
const meanSacMm = (days: number) => Math.max(3, days - 30);
const crlMmAt = (days: number) => (days < 39 ? 0 : ((days - 23.73) / 8.052) ** 2 / 1.037);

/**
 * Samples the dimensions at an age. `anatomy` may set each of them, for example to request an empty
 * sac, a heart without activity, or a large sac.
 */
function drawEarlySizes({ gaDays, anatomy = {} }: ViewRequest, random: Random): EarlySizes {
  const mean = anatomy.msdMm ?? meanSacMm(gaDays) * random.range(0.85, 1.15);
  const shape = [random.range(0.85, 1.35), random.range(0.65, 0.95), random.range(0.85, 1.15)];
  const sum = shape.reduce((total, value) => total + value, 0);
  const [long = 1, high = 1, wide = 1] = shape.map((value) => (3 * mean * value) / sum);
  // The embryo must fit into its sac, even if a greater length was requested.
  const crlMm = Math.min(anatomy.crlMm ?? crlMmAt(gaDays) * random.range(0.92, 1.08), 0.85 * long);
  const yolkSacMm =
    anatomy.yolkSacMm ??
    (gaDays < 36 && anatomy.crlMm === undefined ? 0 : Math.min(0.45 * high, random.range(2.5, 5)));
  const rate = Math.max(90, Math.min(175, 100 + 3.2 * (gaDays - 41) + random.normal(0, 6)));
  return {
    sac: { lengthMm: long, heightMm: high, widthMm: wide },
    yolkSacMm,
    crlMm,
    heartRate: crlMm === 0 ? 0 : (anatomy.heartRate ?? rate),
  };
}

/**
 * Time between frames, for 30 frames per second. A heart beating 175 times per minute is then
 * sampled ten times per beat.
 */
const FRAME_TIME_MS = 33;

/**
 * The decidua (lining of the uterus) and the trophoblast around the sac: bright, without shadow.
 */
const DECIDUA = { echo: -23, loss: 0.01, texture: 5 };
const TROPHOBLAST = { echo: -18, loss: 0.01, texture: 4 };

interface Womb {
  pose: Pose;
  /** Half the extent of the uterus along and across, mm. */
  half: { u: number; v: number };
}

function drawWomb(sizes: EarlySizes, transverse: boolean, random: Random) {
  const { lengthMm, heightMm, widthMm } = sizes.sac;
  const along = transverse ? widthMm : lengthMm;
  return {
    u: Math.max(
      along / 2 + random.range(9, 14),
      transverse ? random.range(22, 30) : random.range(32, 44),
    ),
    v: Math.max(heightMm / 2 + random.range(9, 13), random.range(18, 25)),
  };
}

/** Builds the pelvis, the uterus and its lining. */
function surroundings({ pose, half }: Womb, view: View, random: Random): Layer[] {
  const grain = createNoise(random.fork('grain'), 1);
  const fibres = createNoise(random.fork('fibres'), random.range(2, 5));
  const uterus = ellipse(pose, { u: 0, v: 0, a: half.u, b: half.v });
  const lining = ellipse(pose, {
    u: 0.05 * half.u,
    v: 0,
    a: 0.78 * half.u,
    b: random.range(0.3, 0.45) * half.v,
  });
  const bladder = ellipse(
    { ...pose, centre: place(pose, -0.6 * half.u, -1.25 * half.v) },
    { u: 0, v: 0, a: random.range(8, 20), b: random.range(3, 8) },
  );
  const striped = (x: number, y: number) => 7 * grain(x / 5, y / 1.4);
  const layers: Layer[] = [
    { shape: everywhere, tissue: TISSUE.farTissue, modulation: striped },
    ...(random.chance(0.35) ? [{ shape: bladder, tissue: TISSUE.fetalFluid }] : []),
    { shape: uterus, tissue: TISSUE.uterineWall, modulation: (x, y) => 4 * fibres(x, y) },
    { shape: rim(uterus, random.range(0.5, 1.1)), tissue: TISSUE.fascia },
    { shape: lining, tissue: DECIDUA },
  ];
  const wall: Shape = { ...everywhere, distance: (_, y) => y - 0.5 * view.wallMm };
  return [...layers, { shape: wall, tissue: TISSUE.maternalMuscle, modulation: striped }];
}

/** Builds the ring of a yolk sac. `inner` is the inner border, at which a yolk sac is measured. */
function yolkSac(at: Pose, innerMm: number): { layers: Layer[]; inner: Shape } {
  const inner = ellipse(at, { u: 0, v: 0, a: innerMm / 2, b: innerMm / 2 });
  return {
    inner,
    layers: [
      { shape: grown(inner, 0.6), tissue: TISSUE.membrane, rigid: true },
      { shape: inner, tissue: TISSUE.fetalFluid, rigid: true },
    ],
  };
}

/** Places the embryo on the floor of the sac, close enough to the middle to fit. */
function placeEmbryo(
  pose: Pose,
  sac: { a: number; b: number },
  side: number,
  crlMm: number,
  beat: number,
  random: Random,
): Embryo {
  const thickness = Math.min(0.3 * crlMm, 0.6 * sac.b);
  const deepest = (half: number) =>
    sac.b * Math.sqrt(Math.max(0, 1 - ((half + 0.5) / sac.a) ** 2)) - thickness;
  const v = Math.max(0, Math.min(0.45 * sac.b, deepest(crlMm / 2)));
  const room = sac.a * Math.sqrt(Math.max(0, 1 - ((v + thickness) / sac.b) ** 2)) - crlMm / 2 - 0.5;
  const u = side * Math.max(0, Math.min(0.4 * sac.a, room));
  const own: Pose = {
    centre: place(pose, u, v),
    angle: pose.angle + random.normal(0, 0.05) + (side < 0 ? Math.PI : 0),
    mirror: random.chance(0.5),
  };
  return buildEmbryo(own, crlMm, beat, random.fork('embryo'));
}

interface Anatomy {
  layers: Layer[];
  truth(acquisition: Acquisition, masks: boolean): FrameTruth;
}

/** Builds the sac with its contents. Requested structures that do not fit are left out. */
function buildSac(
  womb: Womb,
  sizes: EarlySizes,
  transverse: boolean,
  beat: number,
  random: Random,
): Anatomy {
  const { sac, yolkSacMm, crlMm } = sizes;
  const a = (transverse ? sac.widthMm : sac.lengthMm) / 2;
  const b = sac.heightMm / 2;
  const eccentric = random.range(-0.15, 0.3) * (womb.half.u - a - 6);
  const pose: Pose = { ...womb.pose, centre: place(womb.pose, eccentric, random.normal(0, 1)) };
  const inner = ellipse(pose, { u: 0, v: 0, a, b });
  const ring = random.range(1.8, 4);
  const side = random.chance(0.5) ? 1 : -1;
  const yolk =
    yolkSacMm > 0
      ? yolkSac(
          {
            ...pose,
            centre: place(
              pose,
              side * Math.max(0, 0.62 * a - yolkSacMm / 2),
              -0.35 * Math.max(0, b - yolkSacMm),
            ),
          },
          yolkSacMm,
        )
      : null;
  const embryo =
    crlMm > 0 && !transverse ? placeEmbryo(pose, { a, b }, -side, crlMm, beat, random) : null;
  // The plane across the uterus shows only a short section of the embryo, and often misses it.
  const section =
    crlMm > 0 && transverse && random.chance(0.6)
      ? ellipse(pose, {
          u: -side * 0.2 * a,
          v: 0.3 * b,
          a: 0.25 * crlMm,
          b: Math.min(0.2 * crlMm, 0.5 * b),
        })
      : null;
  const amnion =
    embryo && crlMm > 8
      ? ellipse(pose, { u: -side * 0.1 * a, v: 0.1 * b, a: 0.8 * a, b: 0.78 * b })
      : null;
  return {
    layers: [
      { shape: grown(inner, ring), tissue: TROPHOBLAST, rigid: true },
      { shape: inner, tissue: TISSUE.amnioticFluid, rigid: true },
      ...(amnion ? [{ shape: within(rim(amnion, 0.25), inner), tissue: TISSUE.membrane }] : []),
      ...(yolk?.layers ?? []),
      ...(embryo?.layers ?? []),
      ...(section ? [{ shape: within(section, inner), tissue: EMBRYO }] : []),
    ],
    truth: (acquisition, masks) =>
      sacTruth(
        { pose, a, b, inner, yolk: yolk?.inner ?? null, embryo, transverse, sizes },
        acquisition,
        masks,
      ),
  };
}

interface SacTruth {
  pose: Pose;
  a: number;
  b: number;
  inner: Shape;
  yolk: Shape | null;
  embryo: Embryo | null;
  transverse: boolean;
  sizes: EarlySizes;
}

function sacTruth(sac: SacTruth, acquisition: Acquisition, masks: boolean): FrameTruth {
  const { pose, a, b, inner, yolk, embryo, transverse, sizes } = sac;
  const pixels = (...points: Point[]) => points.map((point) => toPixel(acquisition.window, point));
  const { lengthMm, heightMm, widthMm } = sizes.sac;
  return {
    plane: 'early-pregnancy',
    mmPerPixel: acquisition.window.mmPerPixel,
    values: {
      transverse: transverse ? 1 : 0,
      sacLongMm: 2 * a,
      sacShortMm: 2 * b,
      msdMm: (lengthMm + heightMm + widthMm) / 3,
      ...(yolk ? { yolkSacMm: sizes.yolkSacMm } : {}),
      ...(embryo ? { crlMm: sizes.crlMm, heartRatePerMinute: sizes.heartRate } : {}),
    },
    points: {
      sacLong: pixels(place(pose, -a, 0), place(pose, a, 0)),
      sacShort: pixels(place(pose, 0, -b), place(pose, 0, b)),
      ...(embryo ? { crl: pixels(embryo.crown, embryo.rump) } : {}),
    },
    ...(masks && {
      masks: {
        sac: maskOf(acquisition, inner),
        ...(yolk ? { yolkSac: maskOf(acquisition, yolk) } : {}),
        ...(embryo ? { embryo: maskOf(acquisition, embryo.outline) } : {}),
      },
    }),
  };
}

function simulate(request: ViewRequest): PhantomFrame[] {
  const random = createRandom(request.seed);
  const sizes = drawEarlySizes(request, random.fork('sizes'));
  const transverse =
    (request.anatomy?.transverse ?? (random.fork('plane').chance(0.3) ? 1 : 0)) === 1;
  const half = drawWomb(sizes, transverse, random.fork('womb'));
  const turn = random.fork('turn').normal(0, transverse ? 0.1 : 0.25);
  const extent = { across: half.u, down: half.v + Math.abs(Math.sin(turn)) * half.u * 0.6 };
  const view = drawEndocavityView(extent, random.fork('view'), request.screen);
  const acquisition = drawAcquisition(view, random.fork('acquisition'));
  const womb: Womb = { pose: { centre: view.centre, angle: turn, mirror: false }, half };
  const around = surroundings(womb, view, random.fork('surroundings'));
  const start = random.fork('phase').range(0, 1);
  const expose = createExposer(acquisition, random);
  return Array.from({ length: request.frames }, (_, index) => {
    const beats = (index * FRAME_TIME_MS * sizes.heartRate) / 60_000;
    const beat = sizes.heartRate === 0 ? 0 : Math.sin(2 * Math.PI * (start + beats));
    const sac = buildSac(womb, sizes, transverse, beat, random.fork('sac'));
    const truth = sac.truth(acquisition, request.masks ?? true);
    const speckleSeed = request.seed + 7919 * (index + 1);
    return expose({ scene: [...around, ...sac.layers], truth, speckleSeed });
  });
}

/**
 * Transvaginal view of an intrauterine sac. `anatomy`: `msdMm`, `crlMm` (0: no embryo), `yolkSacMm`
 * (0: no yolk sac), `heartRate` (0: no cardiac activity), `transverse` (1: the plane across the
 * uterus).
 */
export const earlyPregnancy: PhantomView = {
  id: 'early-pregnancy',
  ages: { youngest: 35, oldest: 70 },
  simulate,
  header: ([first]) => ({
    frameTimeMs: FRAME_TIME_MS,
    attributes: {
      ViewName:
        first?.truth.values?.transverse === 1 ? 'TRANSVAGINAL TRANSVERSE' : 'TRANSVAGINAL SAGITTAL',
    },
  }),
};
