import type { NaturalDataset } from 'dcmjs';
import { STATED_AGE } from '../../../pipelines/concepts/concepts.ts';
import {
  headerAndEnd,
  type StatedEnd,
  wantedAttributes,
} from '../../../pipelines/dicom/bounded-header.ts';
import { itemsOf } from '../../../pipelines/dicom/data-set.ts';
import { dayNumber } from '../../../pipelines/dicom/dates.ts';
import type { DicomIdentity, Equipment, LossyHistory } from '../../../pipelines/dicom/subject.ts';
import { isUid } from '../../../pipelines/dicom/uid.ts';
import { TERM_DAYS } from '../../../pipelines/result/estimated-due-date.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';

/** The attributes of an object that the gateway itself needs; pixels are not among them. */
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
   * The lossy compression, if (0028,2110) is `01`; null if the attribute is absent or `00`. Missing
   * in headers stored by older versions.
   */
  lossy?: LossyHistory | null;
  /** Code values of the procedure: (0008,1032) and (0032,1064). */
  procedureCodes: string[];
  /** (0010,21D0) Last Menstrual Date, YYYYMMDD; '' if absent. */
  lastMenstrualDate: string;
  /** Gestational age by LMP, in days, as sent by the cart. */
  statedAgeDays: number | null;
  /**
   * Why the examination was requested; '' if no attribute contains a reason. Missing in headers
   * stored by older versions.
   */
  indication?: string;
  /** Missing in headers stored by older versions. */
  equipment?: Equipment;
  /** (0010,1010) Patient's Age, for example `034Y`; '' if absent. */
  patientAge: string;
  /** (0010,1020) Patient's Size in metres. */
  patientSizeMetres: number | null;
  /** (0010,1030) Patient's Weight in kilograms. */
  patientWeightKilograms: number | null;
  identity: DicomIdentity;
  /**
   * Further attributes for querying series and objects, formatted as in the header; empty ones are
   * left out. Missing in headers stored by older versions.
   */
  query?: Readonly<Partial<Record<QueryAttribute, string>>>;
}

/**
 * Attributes of a series or an object that the gateway reads only because a query may contain them
 * (PS3.4 C.6.2.1).
 */
const QUERY_ATTRIBUTES = [
  'SeriesNumber',
  'SeriesDescription',
  'SeriesDate',
  'SeriesTime',
  'BodyPartExamined',
  'PerformedProcedureStepStartDate',
  'PerformedProcedureStepStartTime',
  'InstanceNumber',
  'BitsAllocated',
  'ContentDate',
  'ContentTime',
] as const;
export type QueryAttribute = (typeof QUERY_ATTRIBUTES)[number];

const IDENTIFYING_UIDS = [
  'SOPClassUID',
  'SOPInstanceUID',
  'StudyInstanceUID',
  'SeriesInstanceUID',
] as const;

/**
 * Every string is decoded according to (0008,0005), so the stored text is Unicode (PS3.3
 * C.12.1.1.2).
 */
const UNICODE = 'ISO_IR 192';

/** The attributes read from a data set and from the items of its content tree. */
const STATED_AGE_ATTRIBUTES = [
  'AcquisitionContextSequence',
  'CodeValue',
  'CodingSchemeDesignator',
  'ConceptNameCodeSequence',
  'ContentSequence',
  'Date',
  'MeasuredValueSequence',
  'MeasurementUnitsCodeSequence',
  'NumericValue',
  'StudyDate',
] as const;

/** All attributes that this file reads, at any depth. */
export const HEADER_ATTRIBUTES = wantedAttributes([
  ...IDENTIFYING_UIDS,
  ...STATED_AGE_ATTRIBUTES,
  ...QUERY_ATTRIBUTES,
  'Modality',
  'Rows',
  'Columns',
  'NumberOfFrames',
  'LossyImageCompression',
  'LossyImageCompressionRatio',
  'LossyImageCompressionMethod',
  'ProcedureCodeSequence',
  'RequestedProcedureCodeSequence',
  'CodeValue',
  'LastMenstrualDate',
  'ReasonForTheRequestedProcedure',
  'ReasonForStudy',
  'AdmittingDiagnosesDescription',
  'Manufacturer',
  'ManufacturerModelName',
  'StationName',
  'PatientAge',
  'PatientSize',
  'PatientWeight',
  'PatientName',
  'PatientID',
  'IssuerOfPatientID',
  'IssuerOfPatientIDQualifiersSequence',
  'UniversalEntityID',
  'UniversalEntityIDType',
  'PatientBirthDate',
  'PatientSex',
  'StudyDate',
  'StudyTime',
  'StudyID',
  'StudyDescription',
  'AccessionNumber',
  'ReferringPhysicianName',
  'AcquisitionDateTime',
  'AcquisitionDate',
  'AcquisitionTime',
  'TimezoneOffsetFromUTC',
]);

/**
 * Picks the attributes that the gateway stores from those in HEADER_ATTRIBUTES.
 * @throws SonogateError `object_not_understood`, also if a UID that identifies the object is
 * missing or malformed.
 */
export function instanceHeader(dataSet: NaturalDataset): InstanceHeader {
  try {
    return headerOf(dataSet);
  } catch (error) {
    if (error instanceof SonogateError) throw error;
    throw new SonogateError('object_not_understood', undefined, { cause: error });
  }
}

function headerOf(dataSet: NaturalDataset): InstanceHeader {
  const value = (keyword: string) => attributeText(dataSet[keyword]);
  const uid = (keyword: string) => uidText(dataSet[keyword]);
  const header: InstanceHeader = {
    sopClassUid: uid('SOPClassUID'),
    sopInstanceUid: uid('SOPInstanceUID'),
    studyInstanceUid: uid('StudyInstanceUID'),
    seriesInstanceUid: uid('SeriesInstanceUID'),
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
    equipment: {
      manufacturer: value('Manufacturer'),
      model: value('ManufacturerModelName'),
      station: value('StationName'),
    },
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
      StudyInstanceUID: uid('StudyInstanceUID'),
      StudyDate: value('StudyDate'),
      StudyTime: value('StudyTime'),
      StudyID: value('StudyID'),
      StudyDescription: value('StudyDescription'),
      AccessionNumber: value('AccessionNumber'),
      ReferringPhysicianName: value('ReferringPhysicianName'),
      AcquisitionDateTime: acquisitionDateTime(value),
      TimezoneOffsetFromUTC: value('TimezoneOffsetFromUTC'),
    },
    query: Object.fromEntries(
      QUERY_ATTRIBUTES.flatMap((name) => (value(name) === '' ? [] : [[name, value(name)]])),
    ),
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

/**
 * Returns a UID exactly as it is in the object, apart from padding. Removing other characters could
 * give two studies the same UID and merge them.
 */
const uidText = (value: unknown): string => [value ?? ''].flat().map(String).join('\\');

const values = (joined: string): string[] => (joined === '' ? [] : joined.split('\\'));

/**
 * Returns the acquisition date and time as a DICOM DT; if absent, those of the content, the series
 * or the study.
 */
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
 * Returns the issuer's qualifiers from the only item that the sequence may have (PS3.3 table
 * 10-18), if the item identifies an entity.
 */
function issuerQualifiers(sequence: unknown): Pick<DicomIdentity, 'IssuerOfPatientIDQualifiers'> {
  const [item] = Array.isArray(sequence) ? (sequence as NaturalDataset[]) : [];
  const UniversalEntityID = attributeText(item?.UniversalEntityID);
  if (UniversalEntityID === '') return {};
  const UniversalEntityIDType = attributeText(item?.UniversalEntityIDType);
  return { IssuerOfPatientIDQualifiers: { UniversalEntityID, UniversalEntityIDType } };
}

/** Control characters, which even text must not contain (PS3.5 6.1.3). The database rejects NUL. */
const CONTROLS = /(?![\t\n\f\r])\p{Cc}/gu;

/**
 * Returns the text of an attribute as in the header: a backslash between values, `=` between the
 * component groups of a name, and no control characters.
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

/**
 * Maximum depth of the search, so that it ends even in a damaged tree. No OB-GYN report (TID 5000)
 * is nested this deeply.
 */
const MAX_DEPTH = 8;
/** Days per UCUM unit used for gestational ages. */
const DAYS: Readonly<Record<string, number>> = { d: 1, wk: 7 };

/** LOINC codes of CID 12003, "OB-GYN Dates". */
const DUE_DATE = { stated: '11778-8', byLmp: '11779-6', byUltrasound: '11781-2' } as const;

/**
 * Returns the gestational age by LMP in days, as the cart sent it: LOINC 11885-1 in its report (TID
 * 5000) or in the acquisition context of an image. Ages calculated from measurements in the same
 * scan (11888-5 and the like) are ignored, because they cannot date that scan. If no age is stated,
 * it is computed from the due date; null if that is not stated either.
 */
export function statedAgeByLmp(dataSet: NaturalDataset): number | null {
  return (
    firstIn(dataSet.AcquisitionContextSequence, ageOf) ??
    firstIn(dataSet.ContentSequence, ageOf) ??
    statedAgeByDueDate(dataSet)
  );
}

/**
 * Returns the gestational age in days on the day of the study, computed from the expected date of
 * delivery in the cart's report (obstetric 16.2): the date by the last menstrual period, otherwise
 * the date without a stated origin. A date without a stated origin is ignored if it equals the date
 * by average ultrasound age, because it was then computed from this scan and cannot date it.
 */
function statedAgeByDueDate(dataSet: NaturalDataset): number | null {
  const scan = dayOf(dataSet.StudyDate);
  const due = (code: string) =>
    firstIn(dataSet.ContentSequence, (item) =>
      hasConcept(item, 'LN', code) ? dayOf(item.Date) : null,
    );
  const stated = due(DUE_DATE.stated);
  const day = due(DUE_DATE.byLmp) ?? (stated === due(DUE_DATE.byUltrasound) ? null : stated);
  return scan === null || day === null ? null : TERM_DAYS - (day - scan);
}

/** Returns the first value that `read` finds in a content tree, depth first. */
function firstIn(
  sequence: unknown,
  read: (item: NaturalDataset) => number | null,
  depth = MAX_DEPTH,
): number | null {
  if (depth === 0) return null;
  for (const item of itemsOf(sequence)) {
    const found = read(item) ?? firstIn(item.ContentSequence, read, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

function ageOf(item: NaturalDataset): number | null {
  if (!hasConcept(item, STATED_AGE.lmp.scheme, STATED_AGE.lmp.code)) return null;
  // In a report, the number is nested one level deeper than in an acquisition context.
  const measured = itemsOf(item.MeasuredValueSequence)[0] ?? item;
  const [unit] = itemsOf(measured.MeasurementUnitsCodeSequence);
  const perUnit = DAYS[String(unit?.CodeValue)];
  const value = Number([measured.NumericValue].flat()[0]);
  return perUnit !== undefined && value > 0 ? Math.round(value * perUnit) : null;
}

function hasConcept(item: NaturalDataset, scheme: string, code: string): boolean {
  const [concept] = itemsOf(item.ConceptNameCodeSequence);
  return concept?.CodeValue === code && concept.CodingSchemeDesignator === scheme;
}

const dayOf = (value: unknown): number | null => dayNumber(String([value].flat()[0] ?? ''));

/**
 * Number of bytes of a file that the caller's own thread reads to find the header. Images from
 * ultrasound machines have a few kilobytes before the pixels. At most 8,192 elements fit into this
 * many bytes, and parsing them takes a few milliseconds.
 */
export const INLINE_HEADER_BYTES = 64 * 1024;

/**
 * Returns the header of an object, and what it says about the end of the file, from the first bytes
 * of the file, at most INLINE_HEADER_BYTES of them.
 * @param whole true if these are all the bytes of the file.
 * @returns null if these bytes do not contain the complete header, which `readInstanceHeader` then
 * reads.
 * @throws SonogateError `object_not_understood`.
 */
export function headerOfStart(
  start: Buffer,
  whole: boolean,
): { header: InstanceHeader; statedEnd: StatedEnd } | null {
  if (start.length > INLINE_HEADER_BYTES) return null;
  const read = headerAndEnd(start, whole, HEADER_ATTRIBUTES);
  return read && { header: instanceHeader(read.dataSet), statedEnd: read.statedEnd };
}
