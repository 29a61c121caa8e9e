import dcmjs, { type NaturalDataset } from 'dcmjs';
import { fieldOfView } from './acquisition.ts';
import type { PhantomFrame } from './frame.ts';
import {
  encodePixelData,
  type PixelEncoding,
  photometricInterpretation,
  TRANSFER_SYNTAX,
} from './pixel-data.ts';
import { derivedUid } from './uids.ts';

const SOP_CLASS = {
  ultrasoundImage: '1.2.840.10008.5.1.4.1.1.6.1',
  ultrasoundMultiframe: '1.2.840.10008.5.1.4.1.1.3.1',
} as const;

const IMPLEMENTATION = { classUid: derivedUid('sonogate phantom'), version: 'SONOGATE PHANTOM' };

/** Who and when; the same for every file of a study. Dates are YYYYMMDD, times HHMMSS. */
export interface StudyHeader {
  patientName: string;
  patientId: string;
  patientBirthDate: string;
  patientAge: string;
  patientSizeMetres: number;
  patientWeightKg: number;
  /** F when absent. */
  patientSex?: 'F' | 'M';
  /** Absent where the study is not of a pregnancy. */
  lastMenstrualDate?: string;
  /** UTERUS when absent (PS3.16 annex L). */
  bodyPart?: string;
  studyInstanceUid: string;
  seriesInstanceUid: string;
  studyId: string;
  studyDate: string;
  studyTime: string;
  accessionNumber: string;
  studyDescription: string;
}

/** One file of the study: still for one frame, multi-frame for several. */
export interface ImageHeader {
  sopInstanceUid: string;
  instanceNumber: number;
  encoding: PixelEncoding;
  /** Time from one frame to the next; 40 ms (25 frames a second) when absent. */
  frameTimeMs?: number;
  /** Items of the Sequence of Ultrasound Regions; one calibrated 2D tissue region when absent. */
  regions?: readonly NaturalDataset[];
  /** Further attributes of the image, by keyword. */
  attributes?: NaturalDataset;
}

/** PS3.3 C.8.5.5: one 2D tissue region, square pixels, calibrated in cm. */
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

/** Frames of a cine at the pace of a real one (PS3.3 C.7.6.5 and C.7.6.6). */
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
 * A Part 10 file of Ultrasound Image Storage (one frame) or Ultrasound Multi-frame Image Storage.
 * All frames must have one screen and one calibration: the header has a place for one only.
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
