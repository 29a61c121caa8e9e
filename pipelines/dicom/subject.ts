/**
 * Subject of a result: the patient, the study, and the images on which the result is based. It is
 * the second argument of every builder (SR, PDF, FHIR). In the pipeline, the subject is anonymous.
 * Each delivery builds a separate copy with the identity from the source images ("identity is
 * joined last").
 */
/**
 * Ratios and methods of lossy compression, as in the header. Such an image has the value `01` in
 * Lossy Image Compression (0028,2110).
 */
export interface LossyHistory {
  ratios: readonly string[];
  methods: readonly string[];
}

export interface SourceInstance {
  sopClassUid: string;
  sopInstanceUid: string;
  seriesInstanceUid: string;
  /** Modality (0008,0060) of the series; absent if the source does not state it. */
  modality?: string;
  /** Name of the file in the request, to which `measurement.source.file` refers. */
  file: string;
  numberOfFrames: number;
  /** 0 for an object without pixels, such as a structured report from the ultrasound machine. */
  rows: number;
  columns: number;
  /** Null or absent if the header states no lossy compression. */
  lossy?: LossyHistory | null;
}

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
  /** Acquisition time as a DICOM DT, with its offset if the header states one; '' if not known. */
  AcquisitionDateTime: string;
  TimezoneOffsetFromUTC: string;
}

/**
 * Ultrasound machine that acquired the images (PS3.3 C.7.5.1). An attribute that the images lack is
 * ''.
 */
export interface Equipment {
  manufacturer: string;
  model: string;
  station: string;
}

interface SubjectOrder {
  accessionNumber: string;
  placerOrderNumber: string;
  requestedProcedureId: string;
  requestedProcedure: string;
  referringPhysicianName: string;
  /**
   * Names of the values that were taken from the order because the images lack them: `indication`,
   * `dating`, `accessionNumber` and others.
   */
  joined: readonly string[];
}

export interface Subject {
  /** Request id. All UIDs and FHIR identifiers of the result are derived from it. */
  requestId: string;
  identity: DicomIdentity | null;
  /**
   * In the pipeline, the images of the study. For a delivery, all objects that arrived with it;
   * `imagesOf` in sr/references.ts selects the images.
   */
  instances: readonly SourceInstance[];
  /**
   * Request id of the study's previous result. This result's documents replace the documents of
   * that result.
   */
  supersedes?: string | null;
  /**
   * Revision of the signed result; 0 or absent for the draft. Each signed document is a new object.
   */
  signedRevision?: number;
  /**
   * True if the receiver gets no drafts. Its first signed document then replaces no earlier
   * document.
   */
  draftsWithheld?: boolean;
  /** Equipment according to the first image whose header states it; absent if no header does. */
  equipment?: Equipment | null;
  /**
   * Reason for the examination, printed at the top of the report. It never contains identifiers.
   */
  indication?: string | null;
  order?: SubjectOrder | null;
  /** Gestational age on the day of the scan, and the dating method. Null if not known. */
  dating: { gaDays: number; basis: string } | null;
}
