import type { NaturalDataset } from 'dcmjs';
import { calibratedRegion, type ImageHeader } from '../dicom.ts';
import type { PhantomFrame } from '../frame.ts';
import { toMillimetres, toPixel, toPolar } from '../geometry.ts';
import { emptySample, type HeartMoment, STRUCTURE, type Structure } from '../heart/heart.ts';
import { fromImage, type ImagePlane, type Place, sum, toImage, unit } from '../heart/space.ts';
import { createNoise, createRandom } from '../random.ts';
import { cineHeader, type EchoRequest, type EchoViewId, FRAME_TIME_MS } from './view.ts';
import { ECHO_VIEWS, shotOf } from './views.ts';

export interface Jet {
  valve: 'mitral' | 'aortic' | 'tricuspid';
  venaContractaMm: number;
  lengthMm: number;
}

/** Colour Doppler of a view, with or without a leak. */
export interface ColourRequest extends EchoRequest {
  view: Extract<EchoViewId, 'PLAX' | 'A4C' | 'A3C' | 'A5C'>;
  /** Valve inside the colour box. */
  valve: Jet['valve'];
  jet?: Jet;
}

/** Half the height of the colour box in mm, and half its opening angle in radians. */
const BOX = { reachMm: 42, opening: 0.3 } as const;

/** Velocity limit of the colour bar in cm/s; a usual value for the heart. */
const NYQUIST = 60;

const Z: Place = { x: 0, y: 0, z: 1 };

/** Returns the start, end, receiving chamber and timing of a jet. */
function courseOf(valve: Jet['valve'], { ventricle, chambers, moment }: HeartMoment) {
  if (valve === 'aortic') {
    const { annulus, direction } = chambers.aorta;
    return {
      from: annulus,
      along: sum([-1, direction]),
      into: STRUCTURE.leftVentricle,
      leaking: moment.aorticOpening < 0.05 && moment.squeeze < 0.95,
    };
  }
  const systole = moment.mitralOpening === 0 && moment.squeeze > 0.02;
  return valve === 'mitral'
    ? {
        from: { x: 0, y: 0, z: ventricle.baseZ },
        along: unit(sum([-1, Z], [1, { x: 0.15, y: 0, z: 0 }])),
        into: STRUCTURE.leftAtrium,
        leaking: systole,
      }
    : {
        from: chambers.tricuspid.centre,
        along: sum([-1, Z]),
        into: STRUCTURE.rightAtrium,
        leaking: systole,
      };
}

const BLOOD: readonly Structure[] = [
  STRUCTURE.leftVentricle,
  STRUCTURE.leftAtrium,
  STRUCTURE.rightVentricle,
  STRUCTURE.rightAtrium,
  STRUCTURE.aorta,
];

/**
 * Returns the colour of a velocity in cm/s: red towards the probe, blue away from it. Velocities
 * beyond the limit alias.
 */
function colourOf(velocity: number): readonly [number, number, number] {
  const wrapped =
    ((((velocity + NYQUIST) % (2 * NYQUIST)) + 2 * NYQUIST) % (2 * NYQUIST)) - NYQUIST;
  const share = Math.abs(wrapped) / NYQUIST;
  const bright = Math.round(90 + 165 * share);
  const pale = Math.round(200 * Math.max(0, share - 0.4));
  return wrapped > 0 ? [bright, pale, 0] : [0, pale, bright];
}

/**
 * Returns a function that computes the velocity of the blood at a place. Inflow and outflow are
 * slow, and the jet is fast.
 */
function velocityField(
  heart: HeartMoment,
  plane: ImagePlane,
  course: ReturnType<typeof courseOf>,
  jet: Jet | undefined,
) {
  const { moment } = heart;
  // During filling, blood flows towards the apex and therefore towards an apical probe; during
  // ejection, it flows away from the probe.
  const stream = 45 * moment.mitralOpening - 50 * moment.aorticOpening;
  return (at: Place, structure: Structure, grain: number): number => {
    if (jet && course.leaking && (structure === course.into || grain > 0.2)) {
      const from = sum([1, at], [-1, course.from]);
      const along = from.x * course.along.x + from.y * course.along.y + from.z * course.along.z;
      const out = Math.sqrt(Math.max(0, from.x ** 2 + from.y ** 2 + from.z ** 2 - along * along));
      const half = jet.venaContractaMm / 2 + 0.28 * Math.max(0, along);
      const end = jet.lengthMm * (1 - 0.35 * (out / Math.max(1, half)) ** 2);
      if (along > -4 && along < end && out < half * (1 + 0.25 * grain)) {
        const towards = -(
          course.along.x * plane.down.x +
          course.along.y * plane.down.y +
          course.along.z * plane.down.z
        );
        return (towards >= 0 ? 1 : -1) * (140 + 220 * (0.5 + grain));
      }
    }
    const streaming =
      structure === STRUCTURE.leftVentricle ||
      (structure === STRUCTURE.leftAtrium && moment.mitralOpening > 0);
    if (streaming) return stream * (0.6 + 0.5 * grain);
    return 14 * grain;
  };
}

/** Velocity in cm/s below which the machine shows tissue instead of colour. */
const COLOUR_FILTER = 9;

/**
 * Simulates a cine with a colour box over a valve. Its truth contains the corners of the box and,
 * for a leak, `venaContractaMm` and `jetLengthMm`.
 */
export function simulateColour(request: ColourRequest): PhantomFrame[] {
  const { heart, view, seed, startS = 0, frameTimeMs = FRAME_TIME_MS } = request;
  const grey = ECHO_VIEWS[view].simulate({ ...request, masks: false });
  const { plane } = shotOf(view, request);
  return grey.map((frame, index) => {
    const moment = heart.after(startS + (index * frameTimeMs) / 1000);
    return paint(frame, moment, plane, request, createRandom(seed + index).integer(0, 0x7fffffff));
  });
}

function paint(
  frame: PhantomFrame,
  moment: HeartMoment,
  plane: ImagePlane,
  { valve, jet }: ColourRequest,
  grainSeed: number,
): PhantomFrame {
  const { window, sector } = frame.acquisition;
  const course = courseOf(valve, moment);
  const middle = toImage(plane, course.from);
  const { range: middleRange, angle: middleAngle } = toPolar(sector, middle.x, middle.y);
  const velocityAt = velocityField(moment, plane, course, jet);
  const noise = createNoise(createRandom(grainSeed), 1.6);
  const rgb = new Uint8Array(3 * frame.gray.length);
  const box = { minX: window.columns, minY: window.rows, maxX: 0, maxY: 0 };
  const sample = emptySample();
  for (let row = 0; row < window.rows; row++) {
    for (let column = 0; column < window.columns; column++) {
      const i = row * window.columns + column;
      const gray = frame.gray[i] as number;
      rgb[3 * i] = gray;
      rgb[3 * i + 1] = gray;
      rgb[3 * i + 2] = gray;
      const { x, y } = toMillimetres(window, { x: column, y: row });
      const { range, angle } = toPolar(sector, x, y);
      const away = Math.abs(range - middleRange);
      if (away > BOX.reachMm || Math.abs(angle - middleAngle) > BOX.opening) continue;
      if (range < 0 || range > sector.depthMm || Math.abs(angle) > sector.halfAngle) continue;
      box.minX = Math.min(box.minX, column);
      box.maxX = Math.max(box.maxX, column);
      box.minY = Math.min(box.minY, row);
      box.maxY = Math.max(box.maxY, row);
      const at = fromImage(plane, x, y);
      moment.probe(at.x, at.y, at.z, sample);
      if (!BLOOD.includes(sample.structure)) continue;
      const velocity = velocityAt(at, sample.structure, noise(x, y));
      if (Math.abs(velocity) > COLOUR_FILTER) rgb.set(colourOf(velocity), 3 * i);
    }
  }
  const { values, ...truth } = frame.truth;
  return {
    ...frame,
    rgb,
    truth: {
      ...truth,
      values: {
        ...values,
        boxLeftPixel: box.minX,
        boxTopPixel: box.minY,
        boxRightPixel: box.maxX,
        boxBottomPixel: box.maxY,
        leaking: jet && course.leaking ? 1 : 0,
        ...(jet ? { venaContractaMm: jet.venaContractaMm, jetLengthMm: jet.lengthMm } : {}),
      },
      points: { ...truth.points, valve: [toPixel(window, middle)] },
    },
  };
}

/** Returns two regions: tissue, and the colour flow inside it (PS3.3 C.8.5.5.1.2). */
function colourRegion(frame: PhantomFrame): NaturalDataset {
  const at = (name: string) => frame.truth.values?.[name] ?? 0;
  return {
    ...calibratedRegion(frame),
    RegionDataType: 2,
    RegionLocationMinX0: at('boxLeftPixel'),
    RegionLocationMinY0: at('boxTopPixel'),
    RegionLocationMaxX1: at('boxRightPixel'),
    RegionLocationMaxY1: at('boxBottomPixel'),
  };
}

/**
 * Returns the regions, mode and heart rate of a colour cine, which is written with three samples
 * per pixel.
 */
export function colourHeader(
  request: ColourRequest,
  [first]: readonly PhantomFrame[],
): Partial<ImageHeader> {
  const { attributes, ...header } = cineHeader(request);
  return {
    ...header,
    encoding: { compression: 'jpeg', colour: 'rgb' },
    regions: first ? [calibratedRegion(first), colourRegion(first)] : [],
    attributes: { ...attributes, ImageType: ['ORIGINAL', 'PRIMARY', 'TTE', '0011'] },
  };
}
