import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConceptKey } from '../../pipelines/concepts/concepts.ts';
import { ARTERIES, territoryOf } from '../../pipelines/echo/wall-motion/guideline.ts';
import { derivedUid, type StudyHeader, writeUltrasound } from '../phantom/dicom.ts';
import { type EchoMModeId, mModeHeader, simulateEchoMMode } from '../phantom/echo/m-mode.ts';
import { simulateEchoSpectrum, spectrumHeader } from '../phantom/echo/spectrum.ts';
import type { Taken } from '../phantom/echo/study-shots.ts';
import { type EchoRequest, FRAME_TIME_MS } from '../phantom/echo/view.ts';
import { ECHO_VIEWS, shotOf } from '../phantom/echo/views.ts';
import type { PhantomFrame } from '../phantom/frame.ts';
import {
  type ApicalCut,
  atriumCut,
  biplaneMl,
  borderOf,
  discWidths,
  ventricleCut,
} from '../phantom/heart/contour.ts';
import { createHeart, type Heart, type HeartMoment, STRUCTURE } from '../phantom/heart/heart.ts';
import { END_DIASTOLE, END_SYSTOLE } from '../phantom/heart/motion.ts';
import { drawHeart, type HeartRequest } from '../phantom/heart/sizes.ts';
import { fromImage, type ImagePlane, sum, toImage } from '../phantom/heart/space.ts';
import {
  globalLongitudinalStrain,
  type SegmentTruth,
  segmentTruths,
} from '../phantom/heart/wall-motion.ts';
import { createRandom, type Random } from '../phantom/random.ts';

interface ApicalPlanes {
  four: ImagePlane;
  two: ImagePlane;
}

type Cut = (at: HeartMoment, plane: ImagePlane) => ApicalCut | undefined;

function biplane(at: HeartMoment, { four, two }: ApicalPlanes, cut: Cut): number {
  const [one, other] = [cut(at, four), cut(at, two)];
  return one && other ? biplaneMl(one, other) : Number.NaN;
}

/**
 * Number of discs along the right ventricle. Only those in its basal third, above the valve, are
 * used.
 */
const DISCS = 60;
const BASAL = { from: Math.ceil(0.05 * DISCS), to: DISCS / 3 } as const;
/** Distance in mm from the tricuspid plane within which the border counts as the base. */
const BASE_MM = 1.5;

/**
 * Returns the largest inner diameter, in mm, in the basal third of the right ventricle in a plane.
 */
function rightBasalMm(at: HeartMoment, plane: ImagePlane): number {
  const { tricuspid, tricuspidZ } = at.chambers;
  const inside = toImage(plane, sum([1, tricuspid.centre], [8, { x: 0, y: 0, z: 1 }]));
  const outline = borderOf(at, plane, [STRUCTURE.rightVentricle], inside);
  const base = outline
    .filter(({ x, y }) => fromImage(plane, x, y).z < tricuspidZ + BASE_MM)
    .toSorted((a, b) => a.x - b.x);
  const [left, right] = [base[0], base.at(-1)];
  if (!left || !right) return Number.NaN;
  const middle = { x: (left.x + right.x) / 2, y: (left.y + right.y) / 2 };
  const far = (point: { x: number; y: number }) =>
    Math.hypot(point.x - middle.x, point.y - middle.y);
  const apex = outline.reduce((best, point) => (far(point) > far(best) ? point : best));
  // The widths are ordered from the base upwards.
  const widths = discWidths(outline, apex, middle, DISCS).toReversed();
  return Math.max(...widths.slice(BASAL.from, BASAL.to));
}

/**
 * Returns the values measured on perfect outlines in the planes of a study. These are the
 * reference, because the product measures in planes, which do not show the true volume or width of
 * the heart.
 */
function truthOfPlanes(heart: Heart, planes: ApicalPlanes): Partial<Record<ConceptKey, number>> {
  const [filled, emptied] = [heart.at(END_DIASTOLE), heart.at(END_SYSTOLE)];
  const [diastolic, systolic] = [filled, emptied].map((at) => biplane(at, planes, ventricleCut));
  return {
    'lvedv-biplane': diastolic ?? Number.NaN,
    'lvesv-biplane': systolic ?? Number.NaN,
    'lvef-biplane': 100 * (1 - (systolic ?? Number.NaN) / (diastolic ?? Number.NaN)),
    'la-volume-biplane': biplane(emptied, planes, atriumCut),
    'rv-basal': rightBasalMm(filled, planes.four),
  };
}

/** The values that a perfect reader would measure in a study, in the units of their concepts. */
export type StudyTruth = Partial<Record<ConceptKey, number>>;

/** A simulated study on disk. Its images are in `files/`, where a pipeline expects them. */
export interface SimulatedStudy {
  folder: string;
  names: string[];
  truth: StudyTruth;
  /** Segments 1 to 16. */
  walls: readonly SegmentTruth[];
}

/** Share of hearts with pericardial fluid. In all others, the product must not find fluid. */
const EFFUSED = 1 / 3;

/**
 * Picks a random adult heart of any size and function. LVEF is uniform from 20 to 70 %. As in
 * patients, a wider cavity functions worse. Acoustic windows and machine settings are not picked
 * here; they are those of the demo study.
 */
function drawRequest(random: Random): HeartRequest {
  const ejectionFraction = random.range(0.2, 0.7);
  const failing = (0.7 - ejectionFraction) / 0.5;
  return {
    ejectionFraction,
    longitudinal: ejectionFraction * random.range(0.22, 0.3),
    lengthMm: random.range(76, 94) + 10 * failing,
    widthMm: random.range(38, 50) + 13 * failing,
    septalWallMm: random.range(7, 16),
    lateralWallMm: random.range(7, 14),
    beatsPerMinute: random.range(55, 95),
    leftAtriumMl: random.range(32, 80) + 25 * failing,
    rightAtriumRadiusMm: random.range(17, 25),
    rightBasalMm: random.range(28, 46),
    rightNarrowing: random.range(0.18, 0.35),
    tapseMm: random.range(12, 26),
    rightWallMm: random.range(2.5, 5),
    sinusMm: random.range(28, 38),
    effusionMm: random.chance(EFFUSED) ? random.range(5, 26) : 0,
    cavaMm: random.range(12, 25),
    cavaCollapse: random.range(0.2, 0.7),
    unevenness: 0.3,
  };
}

const least = (frames: readonly PhantomFrame[], name: string) =>
  frames.reduce((best, one) => (shown(one, name) < shown(best, name) ? one : best));
const most = (frames: readonly PhantomFrame[], name: string) =>
  frames.reduce((best, one) => (shown(one, name) > shown(best, name) ? one : best));

function shown({ truth }: PhantomFrame, name: string): number {
  return truth.values?.[name] ?? Number.NaN;
}

/**
 * Returns a request for a heart in which one artery's territory (SEG02) hardly moves, or moves
 * outwards. The base of this territory may still move normally.
 */
function stillTerritory(random: Random): HeartRequest {
  const artery = random.pick(ARTERIES);
  const motion = random.range(-0.15, 0.4);
  const from = random.chance(0.5) ? BASAL_SEGMENTS : 0;
  const still = new Set(territoryOf(artery).filter((segment) => segment > from));
  return {
    ejectionFraction: random.range(0.3, 0.5),
    segments: Array.from({ length: 17 }, (_, i) => (still.has(i + 1) ? motion : 1)),
  };
}

const BASAL_SEGMENTS = 6;
const ATTEMPTS = 20;

/** Creates the heart for a seed. With `still`, one territory does not move. */
function heartOf(random: Random, still: boolean): Heart {
  const usual = drawRequest(random.fork('request'));
  for (let attempt = 0; ; attempt++) {
    const request = still
      ? { ...usual, ...stillTerritory(random.fork(`still ${attempt}`)) }
      : usual;
    try {
      return createHeart(drawHeart(random.fork('heart'), request));
    } catch (error) {
      // The moving part of the wall cannot eject the requested volume, so another heart is tried.
      if (!(error instanceof RangeError) || !still || attempt > ATTEMPTS) throw error;
    }
  }
}

function truthOfShot({ name, frames }: Pick<Taken, 'name' | 'frames'>): StudyTruth {
  const [diastole, systole] = [least(frames, 'squeeze'), most(frames, 'squeeze')];
  if (name === 'plax') {
    return {
      ivsd: shown(diastole, 'ivsMm') / 10,
      lvidd: shown(diastole, 'lvidMm') / 10,
      lvpwd: shown(diastole, 'lvpwMm') / 10,
      lvids: shown(systole, 'lvidMm') / 10,
    };
  }
  if (name === 'a4c') {
    const [filled, emptied] = [diastole, systole].map((at) => shown(at, 'rightVentricleCm2'));
    return {
      'lv-length-4c': shown(diastole, 'lengthMm') / 10,
      'rv-ed-area': filled,
      'rv-es-area': emptied,
      'rv-fac': 100 * (1 - (emptied ?? Number.NaN) / (filled ?? Number.NaN)),
      'ra-area': shown(systole, 'rightAtriumCm2'),
    };
  }
  if (name === 'rvot') return { 'rvot-acceleration': shown(diastole, 'accelerationMs') };
  return {};
}

function truthOfHeart(heart: Heart): StudyTruth {
  const { endDiastolicMl, endSystolicMl, sizes } = heart;
  return {
    'lvef-networks': 100 * (1 - endSystolicMl / endDiastolicMl),
    'gls-end-systolic': globalLongitudinalStrain(heart),
    tapse: sizes.rightVentricle.tapseMm,
    ...(sizes.effusionMm > 0 && { 'effusion-depth': sizes.effusionMm }),
    'ivc-diameter': sizes.cava.diameterMm,
    'ivc-collapse': 100 * sizes.cava.collapse,
  };
}

/**
 * Views of the clips on which the pipeline measures dimensions and function. Each clip has one
 * beat.
 */
const CINES = [
  'PLAX',
  'PSAX-MV',
  'PSAX-PM',
  'PSAX-AP',
  'A4C',
  'A2C',
  'A3C',
  'SUBCOSTAL-4C',
] as const;
const M_MODES: readonly EchoMModeId[] = ['m-mode-lv', 'm-mode-tapse', 'm-mode-ivc'];

const seedOf = (random: Random, name: string) => random.fork(name).integer(0, 0x7fffffff);

function requestOf(id: (typeof CINES)[number], heart: Heart, random: Random): EchoRequest {
  const frames = Math.ceil((1000 * heart.beat.lengthS) / FRAME_TIME_MS) + 1;
  return { heart, seed: seedOf(random, id), frames, masks: false };
}

function planesOf(heart: Heart, random: Random): ApicalPlanes {
  const planeOf = (id: 'A4C' | 'A2C') => shotOf(id, requestOf(id, heart, random)).plane;
  return { four: planeOf('A4C'), two: planeOf('A2C') };
}

function* takeShots(heart: Heart, random: Random): Generator<Taken> {
  for (const id of CINES) {
    const request = requestOf(id, heart, random);
    const { simulate, header } = ECHO_VIEWS[id];
    const { attributes, ...taken } = header(request);
    const type = { ImageType: ['ORIGINAL', 'PRIMARY', 'TTE', '0001'] };
    yield {
      name: id.toLowerCase(),
      frames: simulate(request),
      header: { ...taken, attributes: { ...attributes, ...type } },
    };
  }
  const flow = simulateEchoSpectrum('rvot', { heart, seed: seedOf(random, 'rvot') });
  yield { name: 'rvot', frames: [flow], header: spectrumHeader('rvot', flow) };
  for (const id of M_MODES) {
    const sweep = simulateEchoMMode(id, { heart, seed: seedOf(random, id) });
    yield { name: id, frames: [sweep], header: mModeHeader(id, sweep, heart) };
  }
}

function headerOf(seed: number): StudyHeader {
  const uid = (part: string) => derivedUid(`echo evaluation ${seed} ${part}`);
  return {
    patientName: 'PHANTOM^HEART',
    patientId: `PHANTOM-E${seed}`,
    patientBirthDate: '19660101',
    patientAge: '060Y',
    patientSizeMetres: 1.72,
    patientWeightKg: 74,
    bodyPart: 'HEART',
    studyInstanceUid: uid('study'),
    seriesInstanceUid: uid('series'),
    studyId: String(seed),
    studyDate: '20260115',
    studyTime: '101500',
    accessionNumber: `PE${seed}`,
    studyDescription: 'Transthoracic echocardiogram (phantom)',
  };
}

/**
 * Simulates the study for a seed into `folder`, or reads an existing one. With `still`, one
 * territory of its heart does not move.
 */
export async function simulatedStudy(
  seed: number,
  folder: string,
  still: boolean,
): Promise<SimulatedStudy> {
  const listed = join(folder, 'study.json');
  const before = await readFile(listed, 'utf8').catch(() => null);
  if (before) return { folder, ...JSON.parse(before) };
  const random = createRandom(seed).fork('echo evaluation');
  const heart = heartOf(random, still);
  await mkdir(join(folder, 'files'), { recursive: true });
  const header = headerOf(seed);
  const names: string[] = [];
  const shots = random.fork('shots');
  let truth: StudyTruth = {
    ...truthOfHeart(heart),
    ...truthOfPlanes(heart, planesOf(heart, shots)),
  };
  for (const taken of takeShots(heart, shots)) {
    const name = `${String(names.length + 1).padStart(2, '0')}-${taken.name}.dcm`;
    const bytes = await writeUltrasound(taken.frames, header, {
      sopInstanceUid: derivedUid(`${header.seriesInstanceUid} ${name}`),
      instanceNumber: names.length + 1,
      encoding: { compression: 'jpeg', colour: 'grey' },
      ...taken.header,
    });
    await writeFile(join(folder, 'files', name), bytes);
    names.push(name);
    truth = { ...truth, ...truthOfShot(taken) };
  }
  const walls = segmentTruths(heart);
  await writeFile(listed, JSON.stringify({ names, truth, walls }));
  return { folder, names, truth, walls };
}
