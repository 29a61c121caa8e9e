import { createHash } from 'node:crypto';
import type { NaturalDataset } from 'dcmjs';
import dcmjs from 'dcmjs';
import sharp from 'sharp';
import { fieldOfView } from './acquisition.ts';
import type { PhantomFrame } from './frame.ts';

/**
 * Returns a UID of the form 2.25.<UUID> (PS3.5 B.2). It is always the same for the same name. The
 * UUID is the SHA-256 of the name, with the bits for version (8, RFC 9562) and variant set.
 */
export function derivedUid(name: string): string {
  const digest = createHash('sha256').update(name).digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  return `2.25.${BigInt(`0x${digest.toString('hex', 0, 16)}`)}`;
}

export const DAY_MS = 86_400_000;

/**
 * Parses a date.
 * @throws RangeError if the text is not a date in the form YYYYMMDD
 */
export function parseDate(yyyymmdd: string): Date {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(yyyymmdd) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (Number.isNaN(date.getTime())) throw new RangeError(`"${yyyymmdd}" is not a date YYYYMMDD`);
  return date;
}

export const formatDate = (date: Date) => date.toISOString().slice(0, 10).replaceAll('-', '');

/** Frame encoding in one file, as used by ultrasound carts. */
export interface PixelEncoding {
  compression: 'native' | 'jpeg';
  colour: 'grey' | 'rgb';
}

const TRANSFER_SYNTAX = {
  native: '1.2.840.10008.1.2.1',
  jpeg: '1.2.840.10008.1.2.4.50',
} as const;

/** Channel factors applied to the grey level, for the warm screen tint of many machines. */
const TINT = { red: 1, green: 0.95, blue: 0.84 } as const;

const JPEG_QUALITY = 90;

export function interleavedRgb(gray: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(gray.length * 3);
  for (let i = 0; i < gray.length; i++) {
    const level = gray[i] as number;
    rgb[3 * i] = Math.round(level * TINT.red);
    rgb[3 * i + 1] = Math.round(level * TINT.green);
    rgb[3 * i + 2] = Math.round(level * TINT.blue);
  }
  return rgb;
}

/**
 * Returns the photometric interpretation. Carts write YBR_FULL_422 for every subsampled JPEG (PS3.5
 * 8.2.1), so this is also used for sharp's 4:2:0.
 */
function photometricInterpretation({ compression, colour }: PixelEncoding): string {
  if (colour === 'grey') return 'MONOCHROME2';
  return compression === 'jpeg' ? 'YBR_FULL_422' : 'RGB';
}

/** Pixel Data as dcmjs expects it, and the compression ratio. */
interface EncodedPixels {
  pieces: ArrayBuffer[];
  compressionRatio: number;
}

const samplesPerPixel = (colour: PixelEncoding['colour']) => (colour === 'rgb' ? 3 : 1);

/** Joins the parts and pads them to an even length (PS3.5 7.1.1, A.4). */
function evenLength(parts: readonly Uint8Array[]): ArrayBuffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new Uint8Array(length + (length % 2));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole.buffer;
}

const screenPixels = ({ gray, rgb }: PhantomFrame, colour: PixelEncoding['colour']) =>
  colour === 'rgb' ? (rgb ?? interleavedRgb(gray)) : gray;

async function jpegFragment(frame: PhantomFrame, colour: PixelEncoding['colour']) {
  const channels = samplesPerPixel(colour);
  const raw = { width: frame.columns, height: frame.rows, channels } as const;
  const image = sharp(screenPixels(frame, colour), { raw });
  const jpeg = await (colour === 'grey' ? image.toColourspace('b-w') : image)
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer();
  return evenLength([jpeg]);
}

/** Encodes native frames as one value, or each JPEG baseline frame as one fragment. */
async function encodePixelData(
  frames: readonly PhantomFrame[],
  { compression, colour }: PixelEncoding,
): Promise<EncodedPixels> {
  if (compression === 'native') {
    const pieces = [evenLength(frames.map((frame) => screenPixels(frame, colour)))];
    return { pieces, compressionRatio: 1 };
  }
  const pieces = await Promise.all(frames.map((frame) => jpegFragment(frame, colour)));
  const compressed = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const samples = frames.reduce((sum, frame) => sum + frame.gray.length, 0);
  return { pieces, compressionRatio: (samples * samplesPerPixel(colour)) / compressed };
}

const SOP_CLASS = {
  ultrasoundImage: '1.2.840.10008.5.1.4.1.1.6.1',
  ultrasoundMultiframe: '1.2.840.10008.5.1.4.1.1.3.1',
} as const;

const IMPLEMENTATION = { classUid: derivedUid('sonogate phantom'), version: 'SONOGATE PHANTOM' };

/** Patient and time, the same in all files of a study. Dates are YYYYMMDD, times HHMMSS. */
export interface StudyHeader {
  patientName: string;
  patientId: string;
  patientBirthDate: string;
  patientAge: string;
  patientSizeMetres: number;
  patientWeightKg: number;
  /** Patient's Sex; F if absent. */
  patientSex?: 'F' | 'M';
  /** Last Menstrual Date (YYYYMMDD); absent if the patient is not pregnant. */
  lastMenstrualDate?: string;
  /** Body Part Examined (PS3.16 annex L); `UTERUS` if absent. */
  bodyPart?: string;
  studyInstanceUid: string;
  seriesInstanceUid: string;
  studyId: string;
  studyDate: string;
  studyTime: string;
  accessionNumber: string;
  studyDescription: string;
}

/** Header of one file of the study. A still has one frame, and a multi-frame image has several. */
export interface ImageHeader {
  sopInstanceUid: string;
  instanceNumber: number;
  encoding: PixelEncoding;
  /** Time from one frame to the next; 40 ms (25 frames a second) if absent. */
  frameTimeMs?: number;
  /**
   * Items of the Sequence of Ultrasound Regions. If absent, there is one calibrated 2D tissue
   * region.
   */
  regions?: readonly NaturalDataset[];
  /** Further attributes of the image, by keyword. */
  attributes?: NaturalDataset;
}

/** Describes one 2D tissue region with square pixels, calibrated in cm (PS3.3 C.8.5.5). */
export function calibratedRegion({ acquisition }: PhantomFrame): NaturalDataset {
  const { sector, window } = acquisition;
  const area = fieldOfView(sector, window);
  const cmPerPixel = window.mmPerPixel / 10;
  return {
    RegionSpatialFormat: 1,
    RegionDataType: 1,
    RegionFlags: 0,
    RegionLocationMinX0: area.minX,
    RegionLocationMinY0: area.minY,
    RegionLocationMaxX1: area.maxX,
    RegionLocationMaxY1: area.maxY,
    PhysicalUnitsXDirection: 3,
    PhysicalUnitsYDirection: 3,
    PhysicalDeltaX: cmPerPixel,
    PhysicalDeltaY: cmPerPixel,
  };
}

function patientAndStudy(header: StudyHeader): NaturalDataset {
  return {
    PatientName: header.patientName,
    PatientID: header.patientId,
    PatientBirthDate: header.patientBirthDate,
    PatientSex: header.patientSex ?? 'F',
    PatientAge: header.patientAge,
    PatientSize: header.patientSizeMetres,
    PatientWeight: header.patientWeightKg,
    ...(header.lastMenstrualDate ? { LastMenstrualDate: header.lastMenstrualDate } : {}),
    StudyInstanceUID: header.studyInstanceUid,
    StudyDate: header.studyDate,
    StudyTime: header.studyTime,
    ReferringPhysicianName: '',
    StudyID: header.studyId,
    AccessionNumber: header.accessionNumber,
    StudyDescription: header.studyDescription,
    SeriesInstanceUID: header.seriesInstanceUid,
    SeriesNumber: 1,
    BodyPartExamined: header.bodyPart ?? 'UTERUS',
    SeriesDate: header.studyDate,
    SeriesTime: header.studyTime,
    Modality: 'US',
    Manufacturer: 'Sonogate phantom',
    ManufacturerModelName: header.lastMenstrualDate ? 'Obstetric simulator' : 'Heart simulator',
    SoftwareVersions: '1',
    DeviceSerialNumber: 'PHANTOM',
  };
}

/** Attributes of a cine at a realistic frame rate (PS3.3 C.7.6.5 and C.7.6.6). */
function multiframe(count: number, frameTimeMs = 40): NaturalDataset {
  return {
    NumberOfFrames: count,
    FrameIncrementPointer: 0x00181063,
    FrameTime: frameTimeMs,
    StartTrim: 1,
    StopTrim: count,
  };
}

function image(
  frames: readonly PhantomFrame[],
  study: StudyHeader,
  header: ImageHeader,
  compressionRatio: number,
): NaturalDataset {
  const first = frames[0] as PhantomFrame;
  const { encoding } = header;
  const colour = encoding.colour === 'rgb';
  const lossy = encoding.compression === 'jpeg';
  return {
    ImageType: ['ORIGINAL', 'PRIMARY', 'OBSTETRICAL', '0001'],
    InstanceNumber: header.instanceNumber,
    ContentDate: study.studyDate,
    ContentTime: study.studyTime,
    PatientOrientation: '',
    BurnedInAnnotation: 'NO',
    Rows: first.rows,
    Columns: first.columns,
    SamplesPerPixel: colour ? 3 : 1,
    PhotometricInterpretation: photometricInterpretation(encoding),
    ...(colour ? { PlanarConfiguration: 0, UltrasoundColorDataPresent: first.rgb ? 1 : 0 } : {}),
    BitsAllocated: 8,
    BitsStored: 8,
    HighBit: 7,
    PixelRepresentation: 0,
    LossyImageCompression: lossy ? '01' : '00',
    ...(lossy
      ? {
          LossyImageCompressionMethod: 'ISO_10918_1',
          LossyImageCompressionRatio: compressionRatio.toFixed(1),
        }
      : {}),
    SequenceOfUltrasoundRegions: header.regions ?? [calibratedRegion(first)],
    ...(frames.length > 1 ? multiframe(frames.length, header.frameTimeMs) : {}),
    ...header.attributes,
  };
}

/**
 * Writes a Part 10 file of Ultrasound Image Storage (one frame) or Ultrasound Multi-frame Image
 * Storage. All frames must have the same screen and calibration, because the header can describe
 * only one of each.
 */
export async function writeUltrasound(
  frames: readonly PhantomFrame[],
  study: StudyHeader,
  header: ImageHeader,
): Promise<Buffer> {
  const sopClassUid =
    frames.length > 1 ? SOP_CLASS.ultrasoundMultiframe : SOP_CLASS.ultrasoundImage;
  const { pieces, compressionRatio } = await encodePixelData(frames, header.encoding);
  const { denaturalizeDataset } = dcmjs.data.DicomMetaDictionary;
  const file = new dcmjs.data.DicomDict(
    denaturalizeDataset({
      FileMetaInformationVersion: new Uint8Array([0, 1]).buffer,
      MediaStorageSOPClassUID: sopClassUid,
      MediaStorageSOPInstanceUID: header.sopInstanceUid,
      TransferSyntaxUID: TRANSFER_SYNTAX[header.encoding.compression],
      ImplementationClassUID: IMPLEMENTATION.classUid,
      ImplementationVersionName: IMPLEMENTATION.version,
    }),
  );
  file.dict = denaturalizeDataset({
    SpecificCharacterSet: 'ISO_IR 192',
    SOPClassUID: sopClassUid,
    SOPInstanceUID: header.sopInstanceUid,
    ...patientAndStudy(study),
    ...image(frames, study, header, compressionRatio),
    PixelData: pieces,
    _vrMap: { PixelData: 'OB' },
  });
  return Buffer.from(file.write({ fragmentMultiframe: false }));
}
