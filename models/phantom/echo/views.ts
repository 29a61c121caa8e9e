import type { HeartShot } from '../heart/frame.ts';
import type { HeartMoment } from '../heart/heart.ts';
import type { ApicalView } from '../heart/planes.ts';
import type { HeartSizes } from '../heart/sizes.ts';
import { createRandom, type Random } from '../random.ts';
import { cineOf, type FrameReading } from './cine.ts';
import { simulateArch, simulateCava } from './great-vessels.ts';
import { beatValues, readApical, readLongAxis, readShortAxis } from './reading.ts';
import {
  cineHeader,
  DEFAULT_SCREEN,
  type EchoRequest,
  type EchoView,
  type EchoViewId,
} from './view.ts';
import { apicalShot, type Care, longAxisShot, shortAxisShot, subcostalShot } from './windows.ts';

type Shoot = (request: EchoRequest, random: Random, care: Care) => HeartShot;
type Read = (moment: HeartMoment, request: EchoRequest, shot: HeartShot) => FrameReading;

/**
 * A view of the beating heart, with the function that chooses its plane, machine and appearance.
 */
interface HeartView extends EchoView {
  shot(request: EchoRequest): HeartShot;
}

function heartView(id: EchoViewId, shoot: Shoot, read: Read): HeartView {
  const shot = (request: EchoRequest) =>
    shoot(request, createRandom(request.seed).fork(id), { clarity: request.clarity ?? 1 });
  return {
    id,
    shot,
    simulate: (request) => {
      const taken = shot(request);
      return cineOf(id, taken, request, (moment) => read(moment, request, taken));
    },
    header: (request) => cineHeader(request),
  };
}

const screenOf = ({ screen }: EchoRequest) => screen ?? DEFAULT_SCREEN;

const apical = (view: ApicalView): HeartView =>
  heartView(
    view,
    ({ heart, ...request }, random, care) =>
      apicalShot(view, heart.sizes, screenOf({ heart, ...request }), random, care),
    (moment, { heart }, { plane }) => readApical(heart, moment, plane),
  );

/**
 * Describes a short-axis view. Its level is the end-diastolic distance from the mitral plane, as a
 * share of the long axis.
 */
function shortAxis(id: EchoViewId, share: number): HeartView {
  const height = ({ ventricle }: HeartSizes) => share * ventricle.lengthMm;
  return heartView(
    id,
    (request, random, care) => {
      const { sizes } = request.heart;
      return shortAxisShot(height(sizes), sizes, screenOf(request), random, care);
    },
    (moment, { heart }, { plane }) => readShortAxis(moment, heart, plane, height(heart.sizes)),
  );
}

const fixed = (id: EchoViewId, simulate: EchoView['simulate']): EchoView => ({
  id,
  simulate,
  header: (request) => cineHeader(request),
});

const HEART_VIEWS = {
  PLAX: heartView(
    'PLAX',
    (request, random, care) => longAxisShot(request.heart.sizes, screenOf(request), random, care),
    (moment, { heart }, { plane }) => readLongAxis(moment, heart, plane),
  ),
  'PSAX-AV': shortAxis('PSAX-AV', -0.1),
  'PSAX-MV': shortAxis('PSAX-MV', 0.15),
  'PSAX-PM': shortAxis('PSAX-PM', 0.48),
  'PSAX-AP': shortAxis('PSAX-AP', 0.8),
  A4C: apical('A4C'),
  A2C: apical('A2C'),
  A3C: apical('A3C'),
  A5C: apical('A5C'),
  'SUBCOSTAL-4C': heartView(
    'SUBCOSTAL-4C',
    (request, random, care) => subcostalShot(request.heart.sizes, screenOf(request), random, care),
    (_, { heart }) => ({ values: beatValues(heart), points: {} }),
  ),
};

/**
 * The standard views of an adult heart (ASE 2019 transthoracic protocol) that the phantom supports.
 */
export const ECHO_VIEWS: Readonly<Record<EchoViewId, EchoView>> = {
  ...HEART_VIEWS,
  'SUBCOSTAL-IVC': fixed('SUBCOSTAL-IVC', simulateCava),
  SUPRASTERNAL: fixed('SUPRASTERNAL', simulateArch),
};

/** Returns the plane and the machine settings that all frames of a request share. */
export const shotOf = (id: keyof typeof HEART_VIEWS, request: EchoRequest): HeartShot =>
  HEART_VIEWS[id].shot(request);
