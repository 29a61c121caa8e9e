/**
 * Whose result it is and which images it came from: the second argument of every builder (SR, PDF,
 * FHIR). In the pipeline the subject is anonymous; a delivery builds its own copy with the identity
 * of the source images ("identity is joined last").
 */
/** Lossy Image Compression (0028,2110) `01` with its ratios and methods, as in the header. */
export interface LossyHistory {
  ratios: readonly string[];
  methods: readonly string[];
}

export interface SourceInstance {
  sopClassUid: string;
  sopInstanceUid: string;
  seriesInstanceUid: string;
  /** Modality (0008,0060) of its series; absent where the source does not state it. */
  modality?: string;
  /** Name of the file in the request, which `measurement.source.file` refers to. */
  file: string;
  numberOfFrames: number;
  /** 0 for an object without pixels, such as a structured report of the machine. */
  rows: number;
  columns: number;
  /** Null or absent: the header states no lossy compression. */
  lossy?: LossyHistory | null;
}

/** Attributes copied verbatim from the source images, by DICOM keyword; values as in the header. */
export interface DicomIdentity {
  SpecificCharacterSet: string | null;
  PatientName: string;
  PatientID: string;
  IssuerOfPatientID: string;
  /** From Issuer of Patient ID Qualifiers (0010,0024); absent where the images have none. */
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
  /** Acquisition as a DICOM DT, with its offset where the header has one; or ''. */
  AcquisitionDateTime: string;
  TimezoneOffsetFromUTC: string;
}

/** The ultrasound machine as the images name it; '' for what they do not state (PS3.3 C.7.5.1). */
export interface Equipment {
  manufacturer: string;
  model: string;
  station: string;
}

/** What the order of the study adds, where a worklist has it (docs/orders.md). */
export interface SubjectOrder {
  accessionNumber: string;
  placerOrderNumber: string;
  requestedProcedureId: string;
  requestedProcedure: string;
  referringPhysicianName: string;
  /**
   * The values of this subject and its result that are from the order, because the images lack
   * them: `indication`, `dating`, `accessionNumber` and others.
   */
  joined: readonly string[];
}

export interface Subject {
  /** The request id: every UID and FHIR identifier of the result is derived from it. */
  requestId: string;
  identity: DicomIdentity | null;
  /**
   * Everything that came with the study, including objects that are not images: see `imagesOf` in
   * sr/references.ts.
   */
  instances: readonly SourceInstance[];
  /** The request of the previous result of the same study, whose documents these replace. */
  supersedes?: string | null;
  /** Signed revision of the result; 0 or absent for the draft. A signed document is a new object. */
  signedRevision?: number;
  /** Set where the receiver gets no drafts: its first signed document replaces nothing. */
  draftsWithheld?: boolean;
  /** Of the first image that states it; absent where none does. */
  equipment?: Equipment | null;
  /** The reason for the examination, for the head of the report; never with identifiers. */
  indication?: string | null;
  order?: SubjectOrder | null;
  /** Gestational age on the day of the scan and how it was dated, where it was given. */
  dating: { gaDays: number; basis: string } | null;
}
