/**
 * Subject of a result: the patient, the study and the images from which the result was made. It is
 * the second argument of every builder (SR, PDF, FHIR). In the pipeline the subject is anonymous. A
 * delivery builds a separate copy with the identity of the source images ("identity is joined
 * last").
 */
/**
 * Ratios and methods of the lossy compression, as in the header. Lossy Image Compression
 * (0028,2110) is `01`.
 */
export interface LossyHistory {
  ratios: readonly string[];
  methods: readonly string[];
}

export interface SourceInstance {
  sopClassUid: string;
  sopInstanceUid: string;
  seriesInstanceUid: string;
  /** Modality (0008,0060) of the series; absent if the source does not give it. */
  modality?: string;
  /** Name of the file in the request, to which `measurement.source.file` refers. */
  file: string;
  numberOfFrames: number;
  /**
   * Rows of the image; 0 for an object without pixels, such as a structured report of the machine.
   */
  rows: number;
  columns: number;
  /** Null or absent if the header does not report lossy compression. */
  lossy?: LossyHistory | null;
}

/** Attributes of the source images, by DICOM keyword, with the values of the header unchanged. */
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

/**
 * Ultrasound machine that made the images (PS3.3 C.7.5.1). Attributes that the images lack are ''.
 */
export interface Equipment {
  manufacturer: string;
  model: string;
  station: string;
}

/** Values from the order of the study, if a worklist has an order (docs/orders.md). */
export interface SubjectOrder {
  accessionNumber: string;
  placerOrderNumber: string;
  requestedProcedureId: string;
  requestedProcedure: string;
  referringPhysicianName: string;
  /**
   * Names of the values that come from the order because the images lack them: `indication`,
   * `dating`, `accessionNumber` and others.
   */
  joined: readonly string[];
}

export interface Subject {
  /** Request id. All UIDs and FHIR identifiers of the result are derived from it. */
  requestId: string;
  identity: DicomIdentity | null;
  /**
   * All objects that arrived with the study, including those that are not images (`imagesOf` in
   * sr/references.ts).
   */
  instances: readonly SourceInstance[];
  /**
   * Request id of the previous result of the study. Its documents are replaced by those of this
   * result.
   */
  supersedes?: string | null;
  /**
   * Revision of the signed result; 0 or absent for the draft. Each signed document is a new object.
   */
  signedRevision?: number;
  /**
   * True if the receiver gets no drafts; its first signed document then replaces no earlier one.
   */
  draftsWithheld?: boolean;
  /** Equipment of the first image whose header names it; absent if no image does. */
  equipment?: Equipment | null;
  /**
   * Reason for the examination, printed at the head of the report. It never contains identifiers.
   */
  indication?: string | null;
  order?: SubjectOrder | null;
  /** Gestational age on the day of the scan and the method of dating; null if it was not given. */
  dating: { gaDays: number; basis: string } | null;
}
