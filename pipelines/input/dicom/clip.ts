import { type Clip, type Description, type Timing, UnreadableInput } from '../../contract/study.ts';
import { SECONDARY_CAPTURES, STORAGE_CLASS, ULTRASOUND_IMAGES } from '../../dicom/sop-classes.ts';
import { uidOrNull } from '../../dicom/uid.ts';
import { framesOf, type Pixels } from '../pixels/pixels.ts';
import { withByteSource } from '../study-file.ts';
import type { AcquisitionTime } from './acquisition-time.ts';
import { readCalibration, userScale } from './calibration.ts';
import {
  type DicomHeader,
  type HeaderItem,
  numberOf,
  numbersOf,
  readDicomHeader,
  textOf,
} from './header.ts';
import { openPixels } from './pixel-data.ts';
import {
  DATA_TYPE,
  type Regions,
  readRegions,
  readSweeps,
  SPATIAL_FORMAT,
  showsUltrasound,
  type UltrasoundRegion,
} from './regions.ts';
import { currentCode } from './snomed-rt.ts';

/** Flags in Image Type value 4, a hexadecimal sum (PS3.3 C.8.5.6.1.1). Several may be set. */
const IMAGE_TYPE_FLAGS = {
  '2D': 0x0001,
  M_MODE: 0x0002,
  CW_DOPPLER: 0x0004,
  PW_DOPPLER: 0x0008,
  COLOR_DOPPLER: 0x0010,
  COLOR_M_MODE: 0x0020,
  '3D_RENDERING': 0x0040,
  COLOR_POWER: 0x0100,
  TISSUE_CHARACTERIZATION: 0x0200,
  SPATIALLY_RELATED: 0x0400,
} as const;

type ImageTypeFlag = keyof typeof IMAGE_TYPE_FLAGS;

/** The mode for each flag. Of several flags, the first in this table decides. */
const IMAGE_MODES: readonly [flag: ImageTypeFlag, mode: Clip['mode']][] = [
  ['CW_DOPPLER', 'spectral'],
  ['PW_DOPPLER', 'spectral'],
  ['M_MODE', 'm-mode'],
  ['COLOR_M_MODE', 'm-mode'],
  ['COLOR_DOPPLER', 'colour'],
  ['COLOR_POWER', 'colour'],
  ['2D', '2d'],
];

/** Returns the flags set in Image Type value 4; none if the value is malformed. */
export function imageTypeFlags(value: string): ImageTypeFlag[] {
  const set = /^[0-9A-F]{4}$/i.test(value) ? Number.parseInt(value, 16) : 0;
  return (Object.keys(IMAGE_TYPE_FLAGS) as ImageTypeFlag[]).filter(
    (flag) => (set & IMAGE_TYPE_FLAGS[flag]) !== 0,
  );
}

function byImageType(header: DicomHeader): Clip['mode'] {
  const [, , , value = ''] = textOf(header, 'ImageType').split('\\');
  const flags = imageTypeFlags(value);
  return IMAGE_MODES.find(([flag]) => flags.includes(flag))?.[1] ?? 'unknown';
}

/**
 * Determines the mode of an image. The regions take precedence over Image Type and Ultrasound Color
 * Data Present, because some carts always write 0001 in Image Type (echo 2.4 and 2.5). Returns
 * `unknown` if the header has none of these attributes.
 */
function readMode(header: DicomHeader, regions: readonly UltrasoundRegion[]): Clip['mode'] {
  const hasFormat = (value: number) => regions.some(({ format }) => format === value);
  const hasColour = regions.some(
    ({ format, dataType }) =>
      format === SPATIAL_FORMAT.picture && dataType === DATA_TYPE.colourFlow,
  );
  if (hasFormat(SPATIAL_FORMAT.spectral)) return 'spectral';
  if (hasFormat(SPATIAL_FORMAT.mMode)) return 'm-mode';
  if (hasColour) return 'colour';
  if (hasFormat(SPATIAL_FORMAT.picture)) return '2d';
  const mode = byImageType(header);
  const chromatic = numberOf(header, 'UltrasoundColorDataPresent') === 1;
  return chromatic && (mode === '2d' || mode === 'unknown') ? 'colour' : mode;
}

interface FrameTimes {
  timing: Timing;
  /** Seconds from the first frame to each frame; all 0 if `timing` is `none`. */
  seconds: number[];
}

const FRAME_TIME_VECTOR = '00181065';

/**
 * Computes the frame times from Frame Time Vector, which contains the increments between frames.
 * The first increment is 0 or meaningless (PS3.3 C.7.6.5.1.2).
 */
function byVector(header: DicomHeader, frames: number): number[] | null {
  const vector = numbersOf(header, 'FrameTimeVector');
  // Some carts leave out the increment of the first frame.
  const steps = vector.length === frames - 1 ? [0, ...vector] : vector;
  if (steps.length !== frames || steps.slice(1).some((step) => step < 0)) return null;
  let milliseconds = 0;
  const seconds = steps.map((step, index) => {
    milliseconds += index === 0 ? 0 : step;
    return milliseconds / 1000;
  });
  return milliseconds > 0 ? seconds : null;
}

/**
 * Returns the times of frames that are `step` seconds apart. Null unless `step` is a positive
 * number.
 */
function evenly(step: number | null, frames: number): number[] | null {
  if (step === null || !(step > 0) || !Number.isFinite(step)) return null;
  return Array.from({ length: frames }, (_, index) => index * step);
}

function perSecond(rate: number | null): number | null {
  return rate !== null && rate > 0 ? 1 / rate : null;
}

/**
 * Plausible mean time between two frames of a cine, seconds (echo 2.8). Tissue Doppler may be faster
 * than the 5 ms stated there.
 */
const STEP = { least: 0.002, most: 0.1 } as const;

/** Sources that state how the frames were acquired, and not how they are displayed. */
const ACQUISITION: ReadonlySet<Timing> = new Set(['frame-time', 'frame-time-vector', 'cine-rate']);

function isPlausible(seconds: readonly number[]): boolean {
  const step = (seconds.at(-1) ?? 0) / (seconds.length - 1);
  return step >= STEP.least && step <= STEP.most;
}

/**
 * Returns the time at which each frame was acquired. The sources, in order, are: Frame Time Vector
 * or Frame Time (the one that Frame Increment Pointer points to, otherwise the one that is
 * present); the video stream in the object; Cine Rate; Recommended Display Frame Rate. The last is
 * a playback rate and may differ from the acquisition rate (PS3.3 C.7.6.5). A Frame Time, vector or
 * Cine Rate that is implausible, such as a Frame Time in another unit, is used only if no other of
 * these states a plausible rate.
 *
 * @param stream time of each frame in the video stream, in seconds; null if the pixel data are not
 *   a video.
 */
function readFrameTimes(
  header: DicomHeader,
  frames: number,
  stream: readonly number[] | null,
): FrameTimes {
  const none: FrameTimes = { timing: 'none', seconds: Array.from({ length: frames }, () => 0) };
  if (frames < 2) return none;
  const frameTime = numberOf(header, 'FrameTime');
  const vector: [Timing, number[] | null] = ['frame-time-vector', byVector(header, frames)];
  const fixed: [Timing, number[] | null] = [
    'frame-time',
    evenly(frameTime === null ? null : frameTime / 1000, frames),
  ];
  const pointed = textOf(header, 'FrameIncrementPointer').startsWith(FRAME_TIME_VECTOR);
  const cine = evenly(perSecond(numberOf(header, 'CineRate')), frames);
  const display = evenly(perSecond(numberOf(header, 'RecommendedDisplayFrameRate')), frames);
  const ways: [Timing, number[] | null][] = [
    ...(pointed ? [vector, fixed] : [fixed, vector]),
    ['container', stream?.length === frames ? [...stream] : null],
    ['cine-rate', cine],
    ['display-rate', display],
  ];
  const known = ways.flatMap(([timing, seconds]) => (seconds ? [{ timing, seconds }] : []));
  const [first = none] = known;
  if (!ACQUISITION.has(first.timing) || isPlausible(first.seconds)) return first;
  return (
    known.find(({ timing, seconds }) => ACQUISITION.has(timing) && isPlausible(seconds)) ?? first
  );
}

/** Plausible heart rates of an adult or fetus, beats per minute. Carts without an ECG write 0. */
const HEART_RATE = { least: 20, most: 300 } as const;

/** Reads the heart rate and the R waves, which are converted from milliseconds to seconds. */
function readCardiac(header: DicomHeader): { heartRate: number | null; rWaves: number[] } {
  const rate = numberOf(header, 'HeartRate');
  const possible = rate !== null && rate >= HEART_RATE.least && rate <= HEART_RATE.most;
  const rWaves = numbersOf(header, 'RWaveTimeVector').toSorted((a, b) => a - b);
  return {
    heartRate: possible ? rate : null,
    rWaves: rWaves.map((milliseconds) => milliseconds / 1000),
  };
}

function codeOf(item: HeaderItem | undefined): string | null {
  const [value, designator] = [item?.get('CodeValue'), item?.get('CodingSchemeDesignator')];
  if (!value || !designator) return null;
  const { scheme, code } = currentCode({ scheme: String(designator), code: String(value) });
  return `${scheme}:${code}`;
}

/** Side for each laterality (PS3.3 C.7.6.1.1.1). U (unpaired) and B (both) have no side. */
const LATERALITY: Readonly<Record<string, 'left' | 'right'>> = { L: 'left', R: 'right' };

function yesOrNo(text: string): boolean | null {
  return text === 'YES' ? true : text === 'NO' ? false : null;
}

/** Returns what the header states about an image, apart from its pixels and their scale. */
function readDescription(
  header: DicomHeader,
  { regions: written, misfit }: Regions,
  timing: Timing,
): Description {
  const regions = misfit ? [] : written;
  return {
    sopInstanceUid: uidOrNull(textOf(header, 'SOPInstanceUID')),
    sopClassUid: uidOrNull(textOf(header, 'SOPClassUID')),
    seriesInstanceUid: uidOrNull(textOf(header, 'SeriesInstanceUID')),
    timing,
    sweeps: readSweeps(regions),
    ultrasoundAreas: regions.filter(showsUltrasound).flatMap(({ area }) => area ?? []),
    burnedInAnnotation: yesOrNo(textOf(header, 'BurnedInAnnotation')),
    ...readCardiac(header),
    stageName: textOf(header, 'StageName') || null,
    stageNumber: numberOf(header, 'StageNumber'),
    viewName: textOf(header, 'ViewName') || null,
    viewCode: codeOf(header.views[0]),
    anatomicRegion: codeOf(header.anatomicRegions[0]),
    laterality: LATERALITY[textOf(header, 'ImageLaterality')] ?? null,
    seriesLaterality: textOf(header, 'ImageLaterality')
      ? null
      : (LATERALITY[textOf(header, 'Laterality')] ?? null),
    instant: null,
  };
}

interface DicomClip {
  clip: Clip;
  taken: AcquisitionTime | null;
  study: string | null;
  firstFrame: Pixels;
  /** Remark on an inconsistency in a file that is still readable; null for a consistent file. */
  remark: string | null;
}

/**
 * Returns a remark if the header and the pixel data differ in the number of frames. For a video,
 * the number in the stream is used, because only the stream shows how many frames can be decoded.
 */
function frameCountRemark(header: DicomHeader, frames: number): string | null {
  const announced = numberOf(header, 'NumberOfFrames');
  if (announced === null || announced === frames) return null;
  return `read with the ${frames} frames of its video; its header announces ${announced}`;
}

const REFUSED_CLASSES: Readonly<Record<string, string>> = {
  [STORAGE_CLASS.enhancedUltrasoundVolume]:
    'Enhanced US Volume is not supported: its slices are resampled from a volume, and no measurement here is made for them',
  [STORAGE_CLASS.photoacoustic]: 'Photoacoustic images are not ultrasound images',
  [STORAGE_CLASS.rawData]: 'raw data of the manufacturer cannot be read',
  [STORAGE_CLASS.presentationState]: 'a presentation state holds no image',
  [STORAGE_CLASS.encapsulatedPdf]: 'an encapsulated PDF holds no image',
  [STORAGE_CLASS.keyObjects]: 'a key object selection holds no image',
};

/**
 * Checks the SOP class of an object.
 *
 * @throws UnreadableInput for an object that is not a two-dimensional ultrasound image.
 */
function checkSopClass(sopClassUid: string): void {
  if (ULTRASOUND_IMAGES.has(sopClassUid) || SECONDARY_CAPTURES.has(sopClassUid)) return;
  throw new UnreadableInput(
    REFUSED_CLASSES[sopClassUid] ??
      `the object is not an ultrasound image (SOP class ${sopClassUid || 'missing'})`,
  );
}

/**
 * Reads a DICOM image or cine. Frames are decoded on demand, each from its position in the file.
 * The first frame is decoded immediately, so that an undecodable file is refused as a whole.
 * `mmPerPx` is the user's scale for an image that has none.
 */
export async function readDicomClip(
  file: string,
  path: string,
  mmPerPx: number | null,
): Promise<DicomClip> {
  return withByteSource(path, async (source) => {
    const header = readDicomHeader(source);
    checkSopClass(textOf(header, 'SOPClassUID'));
    const pixels = await openPixels(path, source, header);
    const firstFrame = await pixels.decode(0);
    const { width, height } = pixels;
    const { timing, seconds } = readFrameTimes(header, pixels.frames, pixels.times);
    const found = readRegions(header, width, height);
    const ofHeader = readCalibration(header, found, width, height);
    const uncalibrated = ofHeader.regions.length === 0 && ofHeader.refused === null;
    const calibration = uncalibrated ? userScale(width, height, mmPerPx) : ofHeader;
    const clip: Clip = {
      file,
      ...readDescription(header, found, timing),
      width,
      height,
      frames: framesOf(pixels, seconds),
      regions: calibration.regions,
      calibrationRefused: calibration.refused,
      mode: readMode(header, found.regions),
    };
    const remark = frameCountRemark(header, pixels.frames);
    const study = uidOrNull(textOf(header, 'StudyInstanceUID'));
    return { clip, taken: header.taken, study, firstFrame, remark };
  });
}
