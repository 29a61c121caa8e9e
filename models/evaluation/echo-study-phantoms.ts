import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConceptKey } from '../../pipelines/result/concepts.ts';
import { type StudyHeader, writeUltrasound } from '../phantom/dicom.ts';
import { type EchoMModeId, mModeHeader, simulateEchoMMode } from '../phantom/echo/m-mode.ts';
import { simulateEchoSpectrum, spectrumHeader } from '../phantom/echo/spectrum.ts';
import type { Taken } from '../phantom/echo/study-shots.ts';
import { FRAME_TIME_MS } from '../phantom/echo/view.ts';
import { ECHO_VIEWS } from '../phantom/echo/views.ts';
import type { PhantomFrame } from '../phantom/frame.ts';
import { createHeart, type Heart } from '../phantom/heart/heart.ts';
import { drawHeart, type HeartRequest } from '../phantom/heart/sizes.ts';
import { globalLongitudinalStrain } from '../phantom/heart/strain.ts';
import { createRandom, type Random } from '../phantom/random.ts';
import { derivedUid } from '../phantom/uids.ts';

/** What a perfect reader would say of a study, in the unit of each concept. */
export type StudyTruth = Partial<Record<ConceptKey, number>>;

/** A simulated study on disk: `files/` below the folder, as a pipeline wants it. */
export interface SimulatedStudy {
  folder: string;
  names: string[];
  truth: StudyTruth;
}

/** Fluid is drawn for every third heart: a reader must not see it in the others. */
const EFFUSED = 1 / 3;

/**
 * An adult heart of any size and function: LVEF even from 20 to 70 %, the wider the cavity the
 * poorer the function, as in patients. Windows and settings are those of the demo study.
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

/** What a perfect reader would take from one clip or display. */
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
  const ejectionFraction = 100 * (1 - endSystolicMl / endDiastolicMl);
  return {
    'lvef-networks': ejectionFraction,
    'lvef-biplane': ejectionFraction,
    'lvedv-biplane': endDiastolicMl,
    'lvesv-biplane': endSystolicMl,
    'gls-end-systolic': globalLongitudinalStrain(heart),
    'la-volume-biplane': sizes.leftAtrium.volumeMl,
    'rv-basal': sizes.rightVentricle.basalMm,
    tapse: sizes.rightVentricle.tapseMm,
    ...(sizes.effusionMm > 0 && { 'effusion-depth': sizes.effusionMm }),
    'ivc-diameter': sizes.cava.diameterMm,
    'ivc-collapse': 100 * sizes.cava.collapse,
  };
}

/** The clips from which the pipeline measures sizes and function, one beat of each. */
const CINES = ['PLAX', 'PSAX-PM', 'A4C', 'A2C', 'A3C', 'SUBCOSTAL-4C'] as const;
const M_MODES: readonly EchoMModeId[] = ['m-mode-lv', 'm-mode-tapse', 'm-mode-ivc'];

function* takeShots(heart: Heart, random: Random): Generator<Taken> {
  const seedOf = (name: string) => random.fork(name).integer(0, 0x7fffffff);
  const frames = Math.ceil((1000 * heart.beat.lengthS) / FRAME_TIME_MS) + 1;
  for (const id of CINES) {
    const request = { heart, seed: seedOf(id), frames, masks: false };
    const { simulate, header } = ECHO_VIEWS[id];
    const { attributes, ...taken } = header(request);
    const type = { ImageType: ['ORIGINAL', 'PRIMARY', 'TTE', '0001'] };
    yield {
      name: id.toLowerCase(),
      frames: simulate(request),
      header: { ...taken, attributes: { ...attributes, ...type } },
    };
  }
  const flow = simulateEchoSpectrum('rvot', { heart, seed: seedOf('rvot') });
  yield { name: 'rvot', frames: [flow], header: spectrumHeader('rvot', flow) };
  for (const id of M_MODES) {
    const sweep = simulateEchoMMode(id, { heart, seed: seedOf(id) });
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

/** Simulates the study of a seed into `folder`, or reads the one that lies there already. */
export async function simulatedStudy(seed: number, folder: string): Promise<SimulatedStudy> {
  const listed = join(folder, 'study.json');
  const before = await readFile(listed, 'utf8').catch(() => null);
  if (before) return { folder, ...JSON.parse(before) };
  const random = createRandom(seed).fork('echo evaluation');
  const heart = createHeart(drawHeart(random.fork('heart'), drawRequest(random.fork('request'))));
  await mkdir(join(folder, 'files'), { recursive: true });
  const header = headerOf(seed);
  const names: string[] = [];
  let truth = truthOfHeart(heart);
  for (const taken of takeShots(heart, random.fork('shots'))) {
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
  await writeFile(listed, JSON.stringify({ names, truth }));
  return { folder, names, truth };
}
