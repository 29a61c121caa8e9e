import type { NaturalDataset } from 'dcmjs';
import { contentTime } from '../dicom/dates.ts';
import { MANUFACTURER } from '../dicom/implementation.ts';
import type { DicomIdentity, SourceInstance, Subject } from '../dicom/subject.ts';
import { derivedUid } from '../dicom/uid.ts';
import type { Result } from '../result/envelope.ts';
import { researchNotice } from '../result/render/statement.ts';
import { codeSequence } from './sr/encode.ts';
import { SR } from './sr/vocabulary.ts';

/**
 * Series that we create, by kind. Each has one modality and a high number, so that it is listed
 * after the cart's series.
 */
export const SERIES = {
  sr: { modality: 'SR', number: '9001' },
  seg: { modality: 'SEG', number: '9002' },
  pr: { modality: 'PR', number: '9003' },
  doc: { modality: 'DOC', number: '9004' },
  ko: { modality: 'KO', number: '9005' },
  sc: { modality: 'US', number: '9006' },
  rejection: { modality: 'KO', number: '9007' },
} as const;
export type SeriesKind = keyof typeof SERIES;

/** An identity without values. */
export const ANONYMOUS: DicomIdentity = {
  SpecificCharacterSet: null,
  PatientName: '',
  PatientID: '',
  IssuerOfPatientID: '',
  PatientBirthDate: '',
  PatientSex: '',
  StudyInstanceUID: '',
  StudyDate: '',
  StudyTime: '',
  StudyID: '',
  StudyDescription: '',
  AccessionNumber: '',
  ReferringPhysicianName: '',
  AcquisitionDateTime: '',
  TimezoneOffsetFromUTC: '',
};

/**
 * Returns the UID for an object, a series or a study of a request. The anonymous copy and the
 * identified copy get different UIDs, because two objects with different content must never share a
 * SOP Instance UID (PS3.5 9).
 */
export function uidOf(
  {
    requestId,
    identity,
    signedRevision = 0,
  }: Pick<Subject, 'requestId' | 'identity' | 'signedRevision'>,
  role: string,
): string {
  const own = signedRevision === 0 ? role : `${role} signed ${signedRevision}`;
  return derivedUid(requestId, identity ? own : `anonymous ${own}`);
}

/** Number of signed revisions whose series are recognised if a PACS sends them back. */
const KNOWN_REVISIONS = 20;

/** Returns the UIDs of all series that may contain delivered objects of a request. */
export function resultSeriesUids(requestId: string): string[] {
  const identity = ANONYMOUS;
  return Array.from({ length: KNOWN_REVISIONS + 1 }).flatMap((_, signedRevision) =>
    Object.keys(SERIES).map((kind) =>
      uidOf({ requestId, identity, signedRevision }, `series-${kind}`),
    ),
  );
}

/** Returns the Content Label (0070,0080) of an object. A viewer lists objects by their labels. */
export const contentLabel = ({ draft }: Pick<Result, 'draft'>) => (draft ? 'AI_DRAFT' : 'SIGNED');

/**
 * Returns the Study Instance UID of the source images, or a UID derived from the request if the
 * identity is not known.
 */
export function studyUidOf(subject: Subject): string {
  return subject.identity?.StudyInstanceUID || uidOf({ ...subject, signedRevision: 0 }, 'study');
}

/**
 * Builds the Patient and General Study modules (PS3.3 C.7.1.1, C.7.2.1). For an anonymous subject
 * the type 2 attributes are empty.
 */
function patientAndStudy(subject: Subject): NaturalDataset {
  const identity = subject.identity ?? ANONYMOUS;
  return {
    PatientName: identity.PatientName,
    PatientID: identity.PatientID,
    ...(identity.IssuerOfPatientID && { IssuerOfPatientID: identity.IssuerOfPatientID }),
    ...(identity.IssuerOfPatientIDQualifiers && {
      IssuerOfPatientIDQualifiersSequence: [{ ...identity.IssuerOfPatientIDQualifiers }],
    }),
    PatientBirthDate: identity.PatientBirthDate,
    PatientSex: identity.PatientSex,
    StudyInstanceUID: studyUidOf(subject),
    StudyDate: identity.StudyDate,
    StudyTime: identity.StudyTime,
    StudyID: identity.StudyID,
    ...(identity.StudyDescription && { StudyDescription: identity.StudyDescription }),
    AccessionNumber: identity.AccessionNumber,
    ReferringPhysicianName: identity.ReferringPhysicianName,
  };
}

/** Lists each model that contributed to the result (PS3.3 C.12.1.1.5). */
function contributingEquipment(result: Result): NaturalDataset[] {
  return result.models.map((model) => ({
    Manufacturer: MANUFACTURER,
    ManufacturerModelName: model.id.slice(0, 64),
    SoftwareVersions: model.version.slice(0, 64),
    // Different models must have different UIDs (IHE AI Results 6.5.3.1).
    DeviceUID: derivedUid('model', model.sha256),
    ContributionDescription: `ONNX model, sha256 ${model.sha256}, licence ${model.licence}`,
    PurposeOfReferenceCodeSequence: codeSequence(SR.processingEquipment),
  }));
}

interface ObjectKind {
  sopClassUid: string;
  series: SeriesKind;
  /**
   * The SOP Instance UID is derived from the role, so objects with different content need different
   * roles.
   */
  role: string;
  /** Instance Number within the series. */
  number: number;
}

/**
 * Returns the Series Description. It states the research setting, because some objects (TID 5200,
 * TID 5300, SEG) have no place for a notice.
 */
function seriesDescription(result: Result): string {
  const state = result.draft ? 'AI draft' : 'Verified';
  const setting = researchNotice(result) ? ', research setting' : '';
  return `${state}${setting}: ${result.endpoint} ${result.version}`.slice(0, 64);
}

/**
 * Builds the modules that all our objects share: Patient, General Study, series, (Enhanced) General
 * Equipment and SOP Common. The times come from the result, so rebuilding an object yields an
 * identical one.
 */
export function commonModules(result: Result, subject: Subject, kind: ObjectKind): NaturalDataset {
  const time = contentTime(result.generated_at, subject.identity);
  const equipment = contributingEquipment(result);
  const { modality, number } = SERIES[kind.series];
  return {
    SpecificCharacterSet: 'ISO_IR 192',
    InstanceCreationDate: time.date,
    InstanceCreationTime: time.time,
    SOPClassUID: kind.sopClassUid,
    SOPInstanceUID: uidOf(subject, kind.role),
    TimezoneOffsetFromUTC: time.offset,
    ...(equipment.length > 0 && { ContributingEquipmentSequence: equipment }),
    ...patientAndStudy(subject),
    Modality: modality,
    SeriesInstanceUID: uidOf(subject, `series-${kind.series}`),
    SeriesNumber: number,
    SeriesDescription: seriesDescription(result),
    Manufacturer: MANUFACTURER,
    ManufacturerModelName: result.endpoint.slice(0, 64),
    DeviceSerialNumber: result.version,
    SoftwareVersions: result.version,
    InstanceNumber: String(kind.number),
  };
}

/** Returns Content Date and Content Time, both set to the time at which the result was created. */
export function contentDateTime(result: Result, subject: Subject): NaturalDataset {
  const { date, time } = contentTime(result.generated_at, subject.identity);
  return { ContentDate: date, ContentTime: time };
}

/**
 * Builds the Lossy Image Compression attributes. Lossy compression must stay on record, even in
 * derived objects (PS3.3 C.7.6.1.1.5).
 */
export function lossyHistory(sources: readonly SourceInstance[]): NaturalDataset {
  const [lossy] = sources.flatMap((source) => source.lossy ?? []);
  if (!lossy) return { LossyImageCompression: '00' };
  const { ratios, methods } = lossy;
  return {
    LossyImageCompression: '01',
    ...(ratios.length > 0 && { LossyImageCompressionRatio: [...ratios] }),
    ...(methods.length > 0 && { LossyImageCompressionMethod: [...methods] }),
  };
}

/** Builds the SOP Instance Reference Macro (PS3.3 Table 10-11). */
export function sopReference(instance: Pick<SourceInstance, 'sopClassUid' | 'sopInstanceUid'>) {
  return {
    ReferencedSOPClassUID: instance.sopClassUid,
    ReferencedSOPInstanceUID: instance.sopInstanceUid,
  };
}

type Referenced = Pick<SourceInstance, 'sopClassUid' | 'sopInstanceUid' | 'seriesInstanceUid'>;

/**
 * Groups instances by series; `item` builds the item for one instance (Series and Instance
 * Reference Macro, Table 10-4).
 */
export function bySeries<Instance extends Referenced>(
  instances: readonly Instance[],
  name: 'ReferencedSOPSequence' | 'ReferencedInstanceSequence' | 'ReferencedImageSequence',
  item: (instance: Instance) => NaturalDataset = sopReference,
): NaturalDataset[] {
  const series = Map.groupBy(instances, (instance) => instance.seriesInstanceUid);
  return Array.from(series, ([uid, members]) => ({
    SeriesInstanceUID: uid,
    [name]: members.map(item),
  }));
}

/**
 * Builds the Hierarchical SOP Instance Reference Macro (PS3.3 C.17.2.1); empty if there are no
 * instances.
 */
export function hierarchicalReferences(
  studyUid: string,
  instances: readonly Referenced[],
): NaturalDataset[] {
  if (instances.length === 0) return [];
  return [
    {
      StudyInstanceUID: studyUid,
      ReferencedSeriesSequence: bySeries(instances, 'ReferencedSOPSequence'),
    },
  ];
}
