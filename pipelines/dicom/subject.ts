/**
 * Subject of a result: the patient, the study and the images from which it came. It is the second
 * argument of every builder (SR, PDF, FHIR). In the pipeline the subject is anonymous; a delivery
 * builds a separate copy with the identity of the source images ("identity is joined last").
 */
/** Ratios and methods of Lossy Image Compression (0028,2110) `01`, as in the header. */
export interface LossyHistory {
  ratios: readonly string[];
  methods: readonly string[];
}

export interface SourceInstance {
  sopClassUid: string;
  sopInstanceUid: string;
  seriesInstanceUid: string;
  /** Modality (0008,0060) of its series; absent if the source does not state it. */
  modality?: string;
  /** Name of the file in the request, to which `measurement.source.file` refers. */
  file: string;
  numberOfFrames: number;
  /**
   * Rows of the image; 0 for an object without pixels, such as a structured report of the machine.
   */
  rows: number;
  columns: number;
  /** Null or absent if the header states no lossy compression. */
  lossy?: LossyHistory | null;
}

/** Attributes copied verbatim from the source images, by DICOM keyword; values as in the header. */
export interface DicomIdentity {
  SpecificCharacterSet: string | null;
  PatientName: string;
  PatientID: string;
  IssuerOfPatientID: string;
  /** Value of Issuer of Patient ID Qualifiers (0010,0024); absent if the images have none. */
  IssuerOfPatientIDQualifiers?: { UniversalEntityID: string; UniversalEntityIDType: string };
  PatientBirthDate: string;
  PatientSex: string;
  StudyInstanceUID: string;
  StudyDate: string;
  StudyTime: string;
  StudyID: string;
  StudyDescription: string;
  AccessionNumber: string;
  ReferringPhysicianName: string;
  /** Time of acquisition as a DICOM DT, with its offset if the header has one; '' if not known. */
  AcquisitionDateTime: string;
  TimezoneOffsetFromUTC: string;
}

/** Ultrasound machine as the images name it; '' for what they do not state (PS3.3 C.7.5.1). */
export interface Equipment {
  manufacturer: string;
  model: string;
  station: string;
}

/** Values that the order of the study adds, if a worklist has it (docs/orders.md). */
export interface SubjectOrder {
  accessionNumber: string;
  placerOrderNumber: string;
  requestedProcedureId: string;
  requestedProcedure: string;
  referringPhysicianName: string;
  /**
   * Names of the values of this subject and its result that come from the order, because the images
   * lack them: `indication`, `dating`, `accessionNumber` and others.
   */
  joined: readonly string[];
}

export interface Subject {
  /** Request id. Every UID and FHIR identifier of the result is derived from it. */
  requestId: string;
  identity: DicomIdentity | null;
  /**
   * All objects that came with the study, including those that are not images (`imagesOf` in
   * sr/references.ts).
   */
  instances: readonly SourceInstance[];
  /** Request of the previous result of the same study, whose documents these replace. */
  supersedes?: string | null;
  /**
   * Signed revision of the result; 0 or absent for the draft. A signed document is a new object.
   */
  signedRevision?: number;
  /** Set if the receiver gets no drafts, so that its first signed document replaces nothing. */
  draftsWithheld?: boolean;
  /** Equipment of the first image that states it; absent if none does. */
  equipment?: Equipment | null;
  /** Reason for the examination, for the head of the report; never with identifiers. */
  indication?: string | null;
  order?: SubjectOrder | null;
  /** Gestational age on the day of the scan and how it was dated, if it was given. */
  dating: { gaDays: number; basis: string } | null;
}
