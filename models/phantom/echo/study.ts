import type { PixelEncoding } from '../dicom.ts';
import {
  DAY_MS,
  derivedUid,
  formatDate,
  type ImageHeader,
  parseDate,
  type StudyHeader,
  writeUltrasound,
} from '../dicom.ts';
import { createHeart } from '../heart/heart.ts';
import { drawHeart } from '../heart/sizes.ts';
import { globalLongitudinalStrain } from '../heart/wall-motion.ts';
import { createRandom, type Random } from '../random.ts';
import type { StudyFile } from '../study.ts';
import { ECHO_CASES, type EchoCase, type EchoCaseName } from './cases.ts';
import { handheldClip } from './handheld.ts';
import { takeStudy } from './study-shots.ts';
import { ECHO_VIEWS } from './views.ts';

interface EchoStudyRequest {
  /** The only input that determines the patient, the sonographer's hand and the machine. */
  seed: number;
  /** A named heart; `normal` if absent. */
  of?: EchoCaseName;
  /** Number of beats of a cine; 1 if absent. */
  beats?: number;
  /** YYYYMMDD. The default is a fixed date, so that the same request produces the same bytes. */
  studyDate?: string;
  /** Distinguishes two scans of the same heart. Their UIDs differ but their images are the same. */
  acquisition?: string;
}

/** The values that a perfect reader would measure for the whole heart. */
interface HeartTruth {
  of: EchoCaseName;
  studyDate: string;
  beatsPerMinute: number;
  endDiastolicMl: number;
  endSystolicMl: number;
  ejectionFractionPercent: number;
  globalLongitudinalStrainPercent: number;
  leftAtriumMl: number;
  tapseMm: number;
  effusionMm: number;
  cavaMm: number;
  cavaCollapsePercent: number;
}

export type EchoStudyTruth = HeartTruth & { studyInstanceUid: string };

export interface EchoStudy {
  files: StudyFile[];
  patient: Pick<StudyHeader, 'patientName' | 'patientId' | 'patientBirthDate' | 'patientSex'> & {
    heightCm: number;
    weightKg: number;
    ageYears: number;
  };
  truth: EchoStudyTruth;
}

const DEFAULT_STUDY_DATE = '20260115';

/** Clarity of handheld clips: worse than a good window, better than most training images. */
const HANDHELD_CLARITY = 0.7;

const ENCODING: PixelEncoding = { compression: 'jpeg', colour: 'grey' };

function drawHeader(request: EchoStudyRequest, studyDate: string, random: Random) {
  const { seed, of, beats, acquisition } = request;
  const uid = (part: string) =>
    derivedUid(`echo ${JSON.stringify({ seed, of, beats, studyDate, acquisition })} ${part}`);
  const ageYears = random.integer(35, 78);
  const daysAgo = ageYears * 365.25 + random.integer(30, 300);
  const header: StudyHeader = {
    patientName: 'PHANTOM^HEART',
    patientId: `PHANTOM-H${seed}`,
    patientBirthDate: formatDate(new Date(parseDate(studyDate).getTime() - daysAgo * DAY_MS)),
    patientAge: `${String(ageYears).padStart(3, '0')}Y`,
    patientSex: random.chance(0.5) ? 'F' : 'M',
    patientSizeMetres: random.integer(162, 182) / 100,
    patientWeightKg: random.integer(60, 86),
    bodyPart: 'HEART',
    studyInstanceUid: uid('study'),
    seriesInstanceUid: uid('series'),
    studyId: String(seed % 1_000_000),
    studyDate,
    studyTime: `${10 + random.integer(0, 6)}1500`,
    accessionNumber: `PE${seed % 1_000_000}`,
    studyDescription: 'Transthoracic echocardiogram (phantom)',
  };
  return { header, ageYears };
}

function patientOf(header: StudyHeader, ageYears: number): EchoStudy['patient'] {
  const { patientName, patientId, patientBirthDate, patientSex } = header;
  return {
    patientName,
    patientId,
    patientBirthDate,
    ...(patientSex ? { patientSex } : {}),
    heightCm: Math.round(100 * header.patientSizeMetres),
    weightKg: header.patientWeightKg,
    ageYears,
  };
}

/** Returns the patient of a study without simulating its images. */
export function echoPatient(request: EchoStudyRequest): EchoStudy['patient'] {
  const { seed, studyDate = DEFAULT_STUDY_DATE } = request;
  const { header, ageYears } = drawHeader(request, studyDate, createRandom(seed).fork('patient'));
  return patientOf(header, ageYears);
}

function heartOf(request: EchoStudyRequest) {
  const { seed, of = 'normal', studyDate = DEFAULT_STUDY_DATE } = request;
  const random = createRandom(seed).fork('echo study');
  const echoCase: EchoCase = ECHO_CASES[of];
  const sizes = drawHeart(random.fork('heart'), echoCase.heart);
  const heart = createHeart(sizes);
  const truth: HeartTruth = {
    of,
    studyDate,
    beatsPerMinute: sizes.beatsPerMinute,
    endDiastolicMl: heart.endDiastolicMl,
    endSystolicMl: heart.endSystolicMl,
    ejectionFractionPercent: 100 * (1 - heart.endSystolicMl / heart.endDiastolicMl),
    globalLongitudinalStrainPercent: globalLongitudinalStrain(heart),
    leftAtriumMl: sizes.leftAtrium.volumeMl,
    tapseMm: sizes.rightVentricle.tapseMm,
    effusionMm: sizes.effusionMm,
    cavaMm: sizes.cava.diameterMm,
    cavaCollapsePercent: 100 * sizes.cava.collapse,
  };
  return { heart, echoCase, truth, random };
}

/**
 * Simulates one adult echo study of a fictional patient as DICOM files, with the values that a
 * perfect reader would measure, per frame and for the whole study.
 *
 * @throws RangeError for an invalid date
 */
export async function echoStudy(request: EchoStudyRequest): Promise<EchoStudy> {
  const studyDate = request.studyDate ?? DEFAULT_STUDY_DATE;
  const patientChance = createRandom(request.seed).fork('patient');
  const { header, ageYears } = drawHeader(request, studyDate, patientChance);
  const { heart, echoCase, truth, random } = heartOf(request);
  const files: StudyFile[] = [];
  const shots = takeStudy(heart, echoCase, {
    beats: request.beats ?? 1,
    random: random.fork('shots'),
  });
  for (const { name, frames, header: taken } of shots) {
    const number = files.length + 1;
    const imageHeader: ImageHeader = {
      sopInstanceUid: derivedUid(`${header.seriesInstanceUid} ${number}`),
      instanceNumber: number,
      encoding: ENCODING,
      ...taken,
    };
    files.push({
      name: `${String(number).padStart(2, '0')}-${name}.dcm`,
      bytes: await writeUltrasound(frames, header, imageHeader),
      truth: frames.map(({ truth }) => truth),
    });
  }
  return {
    files,
    patient: patientOf(header, ageYears),
    truth: { ...truth, studyInstanceUid: header.studyInstanceUid },
  };
}

/** Views of a focused ultrasound examination (ASE 2013). */
const FOCUSED_VIEWS = ['PLAX', 'PSAX-PM', 'A4C', 'SUBCOSTAL-4C', 'SUBCOSTAL-IVC'] as const;

const HANDHELD_FRAMES_PER_SECOND = 30;

/**
 * Simulates clips of the same heart in the export format of a handheld scanner: MP4 without header
 * and calibration, recorded with a less steady hand. Each file's `bytes` is the video.
 *
 * @throws Error if FFmpeg's binding is not installed
 */
export async function handheldStudy(
  request: EchoStudyRequest,
): Promise<{ files: StudyFile[]; truth: HeartTruth }> {
  const { heart, truth, random } = heartOf(request);
  const seconds = (request.beats ?? 1) * heart.beat.lengthS;
  const files: StudyFile[] = [];
  for (const id of FOCUSED_VIEWS) {
    const frames = ECHO_VIEWS[id].simulate({
      heart,
      seed: random.fork(`handheld ${id}`).integer(0, 0x7fffffff),
      frames: Math.ceil(seconds * HANDHELD_FRAMES_PER_SECOND) + 1,
      frameTimeMs: 1000 / HANDHELD_FRAMES_PER_SECOND,
      clarity: HANDHELD_CLARITY,
      masks: false,
    });
    files.push({
      name: `${id.toLowerCase()}.mp4`,
      bytes: await handheldClip(frames, HANDHELD_FRAMES_PER_SECOND),
      truth: frames.map((frame) => frame.truth),
    });
  }
  return { files, truth };
}
