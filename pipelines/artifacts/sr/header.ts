import type { NaturalDataset } from 'dcmjs';
import { CODING_SYSTEMS } from '../../result/concepts.ts';
import type { Result } from '../../result/envelope.ts';
import type { DicomIdentity, SourceInstance, Subject } from '../subject.ts';
import { type ContentItem, walk } from './content-item.ts';
import { contentTime } from './content-time.ts';
import { codeSequence } from './encode.ts';
import { referencedInstances } from './references.ts';
import { derivedUid } from './uid.ts';
import { SR } from './vocabulary.ts';

export const MANUFACTURER = 'Sonogate';

/** Fixed and high, so that our series follow those of the cart. */
const SERIES_NUMBER = '9001';

export const SR_CLASSES = {
  comprehensive: '1.2.840.10008.5.1.4.1.1.88.33',
  comprehensive3d: '1.2.840.10008.5.1.4.1.1.88.34',
} as const;

export interface SrDocument {
  sopClassUid: string;
  /** What the object is among those of the request; its SOP Instance UID is derived from it. */
  role: 'sr-tid1500' | 'sr-tid5000';
  /** Instance Number: the documents of one run share a series. */
  number: number;
  tree: ContentItem;
}

/** Whose the private scheme is (PS3.3 C.12.1.1.1); only in a document that uses it. */
const OWN_CODES: NaturalDataset[] = [
  {
    CodingSchemeDesignator: '99USINT',
    CodingSchemeName: `Sonogate private codes (${CODING_SYSTEMS['99USINT']})`,
    CodingSchemeResponsibleOrganization: MANUFACTURER,
  },
];

function usesOwnCodes(tree: ContentItem): boolean {
  return walk(tree).some(({ name }) => name?.scheme === '99USINT');
}

const ANONYMOUS: DicomIdentity = {
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
 * UIDs of the anonymous copy differ from those of the copy with identity: two objects of different
 * content must never share a SOP Instance UID (PS3.5 9).
 */
function uidOf(subject: Subject, role: string): string {
  return derivedUid(subject.requestId, subject.identity ? role : `anonymous ${role}`);
}

/** The study of the source images; one derived from the request where no identity is known. */
export function studyUidOf(subject: Subject): string {
  return subject.identity?.StudyInstanceUID || uidOf(subject, 'study');
}

/** Fixed per pipeline version (TID 1004). */
export function deviceUid(result: Result): string {
  return derivedUid('device', result.endpoint, result.version);
}

/**
 * `COMPLETE` when every section that was asked for is complete; sections that were not assessed or
 * fell short leave the draft `PARTIAL` (PS3.3 C.17.2).
 */
function completion(result: Result): 'COMPLETE' | 'PARTIAL' {
  const done = ({ status }: { status: string }) =>
    status === 'complete' || status === 'not_requested';
  return result.sections.every(done) ? 'COMPLETE' : 'PARTIAL';
}

/** Hierarchical SOP Instance Reference Macro (PS3.3 C.17.2.1): exactly what the tree refers to. */
function evidence(studyUid: string, instances: readonly SourceInstance[]): NaturalDataset[] {
  if (instances.length === 0) return [];
  const series = Map.groupBy(instances, (instance) => instance.seriesInstanceUid);
  return [
    {
      StudyInstanceUID: studyUid,
      ReferencedSeriesSequence: Array.from(series, ([uid, members]) => ({
        SeriesInstanceUID: uid,
        ReferencedSOPSequence: members.map((instance) => ({
          ReferencedSOPClassUID: instance.sopClassUid,
          ReferencedSOPInstanceUID: instance.sopInstanceUid,
        })),
      })),
    },
  ];
}

/** The order the images were made for, as far as their header tells (PS3.3 C.17.2). */
function referencedRequest(identity: DicomIdentity, studyUid: string): NaturalDataset[] {
  if (!identity.AccessionNumber) return [];
  return [
    {
      StudyInstanceUID: studyUid,
      ReferencedStudySequence: [],
      AccessionNumber: identity.AccessionNumber,
      PlacerOrderNumberImagingServiceRequest: '',
      FillerOrderNumberImagingServiceRequest: '',
      RequestedProcedureID: '',
      RequestedProcedureDescription: '',
      RequestedProcedureCodeSequence: [],
    },
  ];
}

/** Each model that took part (PS3.3 C.12.1.1.5). */
function contributingEquipment(result: Result): NaturalDataset[] {
  return result.models.map((model) => ({
    Manufacturer: MANUFACTURER,
    ManufacturerModelName: model.id.slice(0, 64),
    SoftwareVersions: model.version.slice(0, 64),
    ContributionDescription: `ONNX model, sha256 ${model.sha256}, licence ${model.licence}`,
    PurposeOfReferenceCodeSequence: codeSequence(SR.processingEquipment),
  }));
}

/**
 * All modules of an SR document besides its content (PS3.3 A.35, interop reference 2.2). An
 * anonymous subject gives empty type 2 attributes and a study derived from the request. Times are
 * those of the result, so that building again gives the same object.
 */
export function srHeader(result: Result, subject: Subject, document: SrDocument): NaturalDataset {
  const identity = subject.identity ?? ANONYMOUS;
  const studyUid = studyUidOf(subject);
  const time = contentTime(result.generated_at, subject.identity);
  const sources = evidence(studyUid, referencedInstances(document.tree, subject));
  const request = referencedRequest(identity, studyUid);
  const equipment = contributingEquipment(result);
  return {
    SpecificCharacterSet: 'ISO_IR 192',
    InstanceCreationDate: time.date,
    InstanceCreationTime: time.time,
    SOPClassUID: document.sopClassUid,
    SOPInstanceUID: uidOf(subject, document.role),
    TimezoneOffsetFromUTC: time.offset,
    ...(usesOwnCodes(document.tree) && { CodingSchemeIdentificationSequence: OWN_CODES }),
    ...(equipment.length > 0 && { ContributingEquipmentSequence: equipment }),

    PatientName: identity.PatientName,
    PatientID: identity.PatientID,
    ...(identity.IssuerOfPatientID && { IssuerOfPatientID: identity.IssuerOfPatientID }),
    PatientBirthDate: identity.PatientBirthDate,
    PatientSex: identity.PatientSex,

    StudyInstanceUID: studyUid,
    StudyDate: identity.StudyDate,
    StudyTime: identity.StudyTime,
    StudyID: identity.StudyID,
    ...(identity.StudyDescription && { StudyDescription: identity.StudyDescription }),
    AccessionNumber: identity.AccessionNumber,
    ReferringPhysicianName: identity.ReferringPhysicianName,

    Modality: 'SR',
    SeriesInstanceUID: uidOf(subject, 'series-sr'),
    SeriesNumber: SERIES_NUMBER,
    SeriesDescription: `AI draft: ${result.endpoint} ${result.version}`.slice(0, 64),
    ReferencedPerformedProcedureStepSequence: [],

    Manufacturer: MANUFACTURER,
    ManufacturerModelName: result.endpoint.slice(0, 64),
    DeviceSerialNumber: result.version,
    SoftwareVersions: result.version,

    InstanceNumber: String(document.number),
    CompletionFlag: completion(result),
    VerificationFlag: 'UNVERIFIED',
    PreliminaryFlag: 'PRELIMINARY',
    ContentDate: time.date,
    ContentTime: time.time,
    PerformedProcedureCodeSequence: [],
    ...(sources.length > 0 && { CurrentRequestedProcedureEvidenceSequence: sources }),
    ...(request.length > 0 && { ReferencedRequestSequence: request }),
  };
}
