import dcmjs, { type NaturalDataset } from 'dcmjs';
import { decodeTexts, takeCharacterSets } from '../../../pipelines/dicom/data-set.ts';
import { fileStart } from '../../../pipelines/dicom/part10.ts';
import type { DicomIdentity, LossyHistory } from '../../../pipelines/dicom/subject.ts';
import { isUid } from '../../../pipelines/dicom/uid.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { statedAgeByLmp } from './stated-age.ts';

/** The attributes of an object that the gateway itself needs, without its pixels. */
export interface InstanceHeader {
  sopClassUid: string;
  sopInstanceUid: string;
  studyInstanceUid: string;
  seriesInstanceUid: string;
  modality: string;
  /** 0 for an object without pixels. */
  rows: number;
  columns: number;
  numberOfFrames: number;
  /**
   * Lossy compression when (0028,2110) is `01`; null when the attribute is absent or `00`. Missing
   * in headers that were stored by older versions.
   */
  lossy?: LossyHistory | null;
  /** Code values of the procedure: (0008,1032) and (0032,1064). */
  procedureCodes: string[];
  /** (0010,21D0) Last Menstrual Date, YYYYMMDD; '' when absent. */
  lastMenstrualDate: string;
  /** Gestational age by LMP in days as the cart states it; see stated-age.ts. */
  statedAgeDays: number | null;
  /**
   * Why the examination was requested; '' when no attribute says so. Missing in headers that were
   * stored by older versions.
   */
  indication?: string;
  /** (0010,1010) Patient's Age, as `034Y`; '' when absent. */
  patientAge: string;
  /** (0010,1020) Patient's Size in metres. */
  patientSizeMetres: number | null;
  /** (0010,1030) Patient's Weight in kilograms. */
  patientWeightKilograms: number | null;
  identity: DicomIdentity;
}

const MEBIBYTE = 1024 * 1024;
const FIRST_READ_BYTES = MEBIBYTE;
const GROWTH = 4;
const MAX_READ_BYTES = 64 * MEBIBYTE;
const PIXEL_DATA = '7FE00010';

/** Every string is decoded by (0008,0005), so what we store is Unicode (PS3.3 C.12.1.1.2). */
const UNICODE = 'ISO_IR 192';

// dcmjs prints each unusual value to the console; we report objects that cannot be used as errors.
const logger: Silenceable = dcmjs.log;
logger.setLevel('silent');
logger.getLogger?.('validation.dcmjs').setLevel('silent');

interface Silenceable {
  setLevel(level: string): void;
  getLogger?(name: string): { setLevel(level: string): void };
}

/**
 * Reads the header of a DICOM file, which is everything before its pixels: from the first 1 MiB,
 * and more until the pixel data is reached.
 * @throws SonogateError `object_not_understood`.
 */
export async function readDataSet(path: string): Promise<NaturalDataset> {
  for (let bytes = FIRST_READ_BYTES; ; bytes *= GROWTH) {
    const { start, whole } = await fileStart(path, Math.min(bytes, MAX_READ_BYTES));
    const dataSet = parse(start, whole || bytes >= MAX_READ_BYTES);
    if (dataSet) return dataSet;
  }
}

/**
 * Reads the attributes that the gateway stores.
 * @throws SonogateError `object_not_understood`, also when a UID that identifies the object is
 * missing or malformed.
 */
export async function readInstanceHeader(path: string): Promise<InstanceHeader> {
  const dataSet = await readDataSet(path);
  try {
    return instanceHeader(dataSet);
  } catch (error) {
    if (error instanceof SonogateError) throw error;
    throw new SonogateError('object_not_understood', undefined, { cause: error });
  }
}

/** Parses the beginning of a file. Null when it ends before the pixel data and more can be read. */
function parse(start: Buffer<ArrayBuffer>, whole: boolean): NaturalDataset | null {
  const sets = takeCharacterSets(start);
  try {
    const { dict } = dcmjs.data.DicomMessage.readFile(start.buffer, {
      untilTag: PIXEL_DATA,
      includeUntilTagValue: false,
      // Errors that the cart made after the attributes that we need do not matter.
      ignoreErrors: whole,
    });
    if (!whole && !(PIXEL_DATA in dict)) return null;
    decodeTexts(dict, sets);
    return dcmjs.data.DicomMetaDictionary.naturalizeDataset(dict);
  } catch (error) {
    if (!whole) return null;
    throw new SonogateError('object_not_understood', undefined, { cause: error });
  }
}

function instanceHeader(dataSet: NaturalDataset): InstanceHeader {
  const value = (keyword: string) => attributeText(dataSet[keyword]);
  const header: InstanceHeader = {
    sopClassUid: value('SOPClassUID'),
    sopInstanceUid: value('SOPInstanceUID'),
    studyInstanceUid: value('StudyInstanceUID'),
    seriesInstanceUid: value('SeriesInstanceUID'),
    modality: value('Modality'),
    rows: number(dataSet.Rows) ?? 0,
    columns: number(dataSet.Columns) ?? 0,
    numberOfFrames: number(dataSet.NumberOfFrames) ?? 1,
    lossy:
      value('LossyImageCompression') === '01'
        ? {
            ratios: values(value('LossyImageCompressionRatio')),
            methods: values(value('LossyImageCompressionMethod')),
          }
        : null,
    procedureCodes: [
      ...codeValues(dataSet.ProcedureCodeSequence),
      ...codeValues(dataSet.RequestedProcedureCodeSequence),
    ],
    lastMenstrualDate: value('LastMenstrualDate'),
    statedAgeDays: statedAgeByLmp(dataSet),
    indication:
      value('ReasonForTheRequestedProcedure') ||
      value('ReasonForStudy') ||
      value('AdmittingDiagnosesDescription'),
    patientAge: value('PatientAge'),
    patientSizeMetres: number(dataSet.PatientSize),
    patientWeightKilograms: number(dataSet.PatientWeight),
    identity: {
      SpecificCharacterSet: dataSet.SpecificCharacterSet === undefined ? null : UNICODE,
      PatientName: value('PatientName'),
      PatientID: value('PatientID'),
      IssuerOfPatientID: value('IssuerOfPatientID'),
      ...issuerQualifiers(dataSet.IssuerOfPatientIDQualifiersSequence),
      PatientBirthDate: value('PatientBirthDate'),
      PatientSex: value('PatientSex'),
      StudyInstanceUID: value('StudyInstanceUID'),
      StudyDate: value('StudyDate'),
      StudyTime: value('StudyTime'),
      StudyID: value('StudyID'),
      StudyDescription: value('StudyDescription'),
      AccessionNumber: value('AccessionNumber'),
      ReferringPhysicianName: value('ReferringPhysicianName'),
      AcquisitionDateTime: acquisitionDateTime(value),
      TimezoneOffsetFromUTC: value('TimezoneOffsetFromUTC'),
    },
  };
  for (const [name, uid] of [
    ['Study Instance UID', header.studyInstanceUid],
    ['Series Instance UID', header.seriesInstanceUid],
    ['SOP Instance UID', header.sopInstanceUid],
    ['SOP Class UID', header.sopClassUid],
  ] as const) {
    if (isUid(uid)) continue;
    const why = uid === '' ? 'is missing' : 'is not a UID';
    throw new SonogateError('object_not_understood', `${name} ${why}.`);
  }
  return header;
}

const values = (joined: string): string[] => (joined === '' ? [] : joined.split('\\'));

/** Acquisition date and time, otherwise those of content, series or study, as a DICOM DT. */
function acquisitionDateTime(value: (keyword: string) => string): string {
  if (value('AcquisitionDateTime')) return value('AcquisitionDateTime');
  for (const level of ['Acquisition', 'Content', 'Series', 'Study']) {
    if (value(`${level}Date`)) return value(`${level}Date`) + value(`${level}Time`);
  }
  return '';
}

function codeValues(sequence: unknown): string[] {
  if (!Array.isArray(sequence)) return [];
  return sequence
    .map((item) => attributeText((item as NaturalDataset | null)?.CodeValue))
    .filter((code) => code !== '');
}

/**
 * The issuer's qualifiers, from the only item that the sequence may have (PS3.3 table 10-18), if it
 * names an entity.
 */
function issuerQualifiers(sequence: unknown): Pick<DicomIdentity, 'IssuerOfPatientIDQualifiers'> {
  const [item] = Array.isArray(sequence) ? (sequence as NaturalDataset[]) : [];
  const UniversalEntityID = attributeText(item?.UniversalEntityID);
  if (UniversalEntityID === '') return {};
  const UniversalEntityIDType = attributeText(item?.UniversalEntityIDType);
  return { IssuerOfPatientIDQualifiers: { UniversalEntityID, UniversalEntityIDType } };
}

/**
 * Control characters, which not even text may contain (PS3.5 6.1.3); the database accepts no NUL.
 */
const CONTROLS = /(?![\t\n\f\r])\p{Cc}/gu;

/**
 * The text of an attribute as in the header: backslash between values, `=` between the component
 * groups of a name, without control characters.
 */
export function attributeText(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') {
    return String(value).replace(CONTROLS, '').trim();
  }
  if (Array.isArray(value)) return value.map(attributeText).join('\\');
  if (typeof value === 'object' && value !== null) {
    const { Alphabetic, Ideographic, Phonetic } = value as Record<string, unknown>;
    return [Alphabetic, Ideographic, Phonetic].map(attributeText).join('=').replace(/=+$/, '');
  }
  return '';
}

function number(value: unknown): number | null {
  const first = Array.isArray(value) ? value[0] : value;
  if (first === undefined || first === null || first === '') return null;
  const read = Number(first);
  return Number.isFinite(read) ? read : null;
}
