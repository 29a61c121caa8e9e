import type { HeartMoment } from '../heart/heart.ts';
import type { HeartShot } from '../heart/frame.ts';
import type { ApicalView } from '../heart/planes.ts';
import type { HeartSizes } from '../heart/sizes.ts';
import { createRandom, type Random } from '../random.ts';
import { apicalShot, type Care } from './apical.ts';
import { cineOf, type FrameReading } from './cine.ts';
import { simulateArch, simulateCava } from './great-vessels.ts';
import { longAxisShot, shortAxisShot, subcostalShot } from './parasternal.ts';
import { beatValues, readApical, readLongAxis, readShortAxis } from './reading.ts';
import { cineHeader, DEFAULT_SCREEN, type EchoRequest, type EchoView, type EchoViewId } from './view.ts';

type Shoot = (request: EchoRequest, random: Random, care: Care) => HeartShot;
type Read = (moment: HeartMoment, request: EchoRequest, shot: HeartShot) => FrameReading;

function heartView(id: EchoViewId, shoot: Shoot, read: Read): EchoView {
  return {
    id,
    simulate: (request) => {
      const random = createRandom(request.seed).fork(id);
      const shot = shoot(request, random, { clarity: request.clarity ?? 1 });
      return cineOf(id, shot, request, (moment) => read(moment, request, shot));
    },
    header: (request) => cineHeader(request),
  };
}

const screenOf = ({ screen }: EchoRequest) => screen ?? DEFAULT_SCREEN;

const apical = (view: ApicalView): EchoView =>
  heartView(
    view,
    ({ heart, ...request }, random, care) =>
      apicalShot(view, heart.sizes, screenOf({ heart, ...request }), random, care),
    (moment, { heart }, { plane }) => readApical(heart, moment, plane),
  );

/** A short axis at a share of the long axis from the mitral plane, in end diastole. */
function shortAxis(id: EchoViewId, share: number): EchoView {
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

/** The standard views of an adult heart (ASE 2019 transthoracic protocol) that the phantom takes. */
export const ECHO_VIEWS: Readonly<Record<EchoViewId, EchoView>> = {
  PLAX: heartView(
    'PLAX',
    (request, random, care) => longAxisShot(request.heart.sizes, screenOf(request), random, care),
    (moment, { heart }, { plane }) => readLongAxis(moment, heart, plane),
  ),
  'PSAX-AV': shortAxis('PSAX-AV', -0.1),
  'PSAX-MV': shortAxis('PSAX-MV', 0.12),
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
  'SUBCOSTAL-IVC': fixed('SUBCOSTAL-IVC', simulateCava),
  SUPRASTERNAL: fixed('SUPRASTERNAL', simulateArch),
};
