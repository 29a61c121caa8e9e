import type { PixelEncoding } from './dicom.ts';
import {
  DAY_MS,
  derivedUid,
  formatDate,
  type ImageHeader,
  parseDate,
  type StudyHeader,
  writeUltrasound,
} from './dicom.ts';
import { type PhantomFrame, simulateCine } from './frame.ts';
import type { FrameTruth } from './labels.ts';
import { createRandom, type Random } from './random.ts';
import {
  CHARTED_DAYS,
  drawGrowth,
  type FetalSizes,
  type GrowthDeviation,
  sizesAt,
} from './sizes.ts';
import { type Shot, type StudyContents, shotsAt } from './study-shots.ts';

interface StudyRequest {
  /**
   * The only input that determines the fetus, the mother, the sonographer's hand and the machine.
   */
  seed: number;
  /** Gestational age at the study date, days, 42 to 294. */
  gaDays: number;
  /** Size relative to the growth standard; sampled using the seed if absent. */
  growth?: GrowthDeviation;
  /** YYYYMMDD. The default is a fixed date, so that the same request produces the same bytes. */
  studyDate?: string;
  /** Distinguishes two scans of the same fetus. Their UIDs differ but their images are the same. */
  acquisition?: string;
  /** Contents of the study for its age; by default only the biometry planes. */
  contents?: StudyContents;
  /** Images to take instead of those of `contents`. */
  shots?: readonly Shot[];
  /** Study description in the order; by default an obstetric examination. */
  studyDescription?: string;
  /** Encoding of every image, for a machine that supports only one. */
  encoding?: PixelEncoding;
}

export interface StudyFile {
  name: string;
  /** A DICOM Part 10 file. */
  bytes: Buffer;
  /** One entry per frame. */
  truth: FrameTruth[];
}

interface StudyTruth {
  gaDays: number;
  /**
   * Dimensions of the fetus. After 40+0 weeks they are those at 40+0. Null before 14+0, where the
   * growth standards begin.
   */
  sizes: FetalSizes | null;
  studyInstanceUid: string;
  studyDate: string;
  lastMenstrualDate: string;
}

export interface PhantomStudy {
  files: StudyFile[];
  /** The patient in the headers, for a receiver that must know the patient in advance. */
  patient: Pick<StudyHeader, 'patientName' | 'patientId' | 'patientBirthDate'>;
  truth: StudyTruth;
}

const SCREEN = { columns: 640, rows: 480 } as const;

const DEFAULT_STUDY_DATE = '20260115';

function drawHeader(request: StudyRequest, studyDate: string, random: Random): StudyHeader {
  const { seed, gaDays, growth, acquisition } = request;
  const { studyDescription = 'Obstetric ultrasound (phantom)' } = request;
  const date = parseDate(studyDate);
  const uid = (part: string) =>
    derivedUid(`${JSON.stringify({ seed, gaDays, growth, studyDate, acquisition })} ${part}`);
  const ageYears = random.integer(20, 41);
  const birth = new Date(date.getTime() - (ageYears * 365.25 + random.integer(30, 300)) * DAY_MS);
  return {
    patientName: 'PHANTOM^OBSTETRIC',
    patientId: `PHANTOM-${seed}`,
    patientBirthDate: formatDate(birth),
    patientAge: `${String(ageYears).padStart(3, '0')}Y`,
    patientSizeMetres: random.integer(152, 180) / 100,
    patientWeightKg: random.integer(52, 96),
    lastMenstrualDate: formatDate(new Date(date.getTime() - gaDays * DAY_MS)),
    studyInstanceUid: uid('study'),
    seriesInstanceUid: uid('series'),
    studyId: String(seed % 1_000_000),
    studyDate,
    studyTime: `${10 + random.integer(0, 6)}1500`,
    accessionNumber: `PH${seed % 1_000_000}`,
    studyDescription,
  };
}

interface Taken {
  name: string;
  frames: PhantomFrame[];
  header: Partial<ImageHeader>;
}

/**
 * Simulates one shot of a fetus. Machine and dimensions are the same for all shots; each has its
 * own pose.
 */
function shoot(shot: Shot, gaDays: number, sizes: FetalSizes, random: Random): Taken {
  const seed = random.integer(0, 0x7fffffff);
  const { of, frames: count, viewName, anatomy } = shot;
  if (typeof of === 'string') {
    const frames = simulateCine({ plane: of, sizes, seed, screen: SCREEN }, count);
    return { name: of, frames, header: {} };
  }
  const request = { gaDays, sizes, seed, frames: count, screen: SCREEN, masks: false };
  const frames = of.simulate({ ...request, ...(anatomy && { anatomy: anatomy(gaDays / 7) }) });
  const header = of.header?.(frames) ?? {};
  const named = viewName ? { ...header.attributes, ViewName: viewName } : header.attributes;
  return { name: of.id, frames, header: { ...header, ...(named && { attributes: named }) } };
}

const patientOf = ({ patientName, patientId, patientBirthDate }: StudyHeader) => ({
  patientName,
  patientId,
  patientBirthDate,
});

/** Returns the patient of a study without simulating its images. */
export function obstetricPatient(request: StudyRequest): PhantomStudy['patient'] {
  const { seed, studyDate = DEFAULT_STUDY_DATE } = request;
  return patientOf(drawHeader(request, studyDate, createRandom(seed).fork('patient')));
}

/**
 * Simulates one obstetric study of a fictional patient as DICOM files, with the values that a
 * perfect reader would measure. The header contains the gestational age as Last Menstrual Date.
 *
 * @throws RangeError for an age at which there is no such examination, or an invalid date
 */
export async function simulateObstetricStudy(request: StudyRequest): Promise<PhantomStudy> {
  const studyDate = request.studyDate ?? DEFAULT_STUDY_DATE;
  const random = createRandom(request.seed);
  const growth = request.growth ?? drawGrowth(random.fork('growth'));
  const shots = request.shots ?? shotsAt(request.gaDays, request.contents ?? 'biometry');
  const { youngest, oldest } = CHARTED_DAYS;
  const isCharted = request.gaDays >= youngest;
  // The charted dimensions are limited to the charted ages; first-trimester views have their own
  // dimensions.
  const sizes = sizesAt(Math.min(oldest, Math.max(youngest, request.gaDays)), growth);
  const header = drawHeader(request, studyDate, random.fork('patient'));
  const files: StudyFile[] = [];
  for (const [index, shot] of shots.entries()) {
    const taken = shoot(shot, request.gaDays, sizes, random.fork(`shot ${index}`));
    const imageHeader: ImageHeader = {
      sopInstanceUid: derivedUid(`${header.seriesInstanceUid} ${index}`),
      instanceNumber: index + 1,
      encoding: request.encoding ?? shot.encoding,
      ...taken.header,
    };
    files.push({
      name: `${String(index + 1).padStart(2, '0')}-${taken.name}.dcm`,
      bytes: await writeUltrasound(taken.frames, header, imageHeader),
      truth: taken.frames.map((frame) => frame.truth),
    });
  }
  const { studyInstanceUid, lastMenstrualDate = '' } = header;
  return {
    files,
    patient: patientOf(header),
    truth: {
      gaDays: request.gaDays,
      sizes: isCharted ? sizes : null,
      studyInstanceUid,
      studyDate,
      lastMenstrualDate,
    },
  };
}
