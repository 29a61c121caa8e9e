/** SOP classes (PS3.4, PS3.6 Annex A). Their UIDs appear in this file only. */

/** Verification (PS3.4 A.4). */
export const VERIFICATION = '1.2.840.10008.1.1';

/** Modality Performed Procedure Step (PS3.4 F.7). */
export const PERFORMED_PROCEDURE_STEP = '1.2.840.10008.3.1.2.3.3';

/** Instance Availability Notification (PS3.4 R). */
export const INSTANCE_AVAILABILITY = '1.2.840.10008.5.1.4.33';

/** Storage Commitment Push Model, and its single well-known instance (PS3.4 J). */
export const STORAGE_COMMITMENT = '1.2.840.10008.1.20.1';
export const STORAGE_COMMITMENT_INSTANCE = '1.2.840.10008.1.20.1.1';

/** Query/Retrieve (PS3.4 C.3), by information model and operation. */
export const QUERY_RETRIEVE = {
  patientRootFind: '1.2.840.10008.5.1.4.1.2.1.1',
  studyRootFind: '1.2.840.10008.5.1.4.1.2.2.1',
  studyRootMove: '1.2.840.10008.5.1.4.1.2.2.2',
  studyRootGet: '1.2.840.10008.5.1.4.1.2.2.3',
} as const;

/** Modality Worklist Information Model – FIND (PS3.4 K.6.1). */
export const MODALITY_WORKLIST_FIND = '1.2.840.10008.5.1.4.31';

/** Unified Procedure Step – Push (PS3.4 CC.3.1), the class under which every step is stored. */
export const UNIFIED_PROCEDURE_STEP = '1.2.840.10008.5.1.4.34.6.1';

const STORAGE = '1.2.840.10008.5.1.4.1.1';

/**
 * Storage SOP classes (PS3.4 B.5) that the gateway reads, writes, or mentions when it refuses an
 * object.
 */
export const STORAGE_CLASS = {
  ultrasound: `${STORAGE}.6.1`,
  ultrasoundMultiframe: `${STORAGE}.3.1`,
  ultrasoundRetired: `${STORAGE}.6`,
  ultrasoundMultiframeRetired: `${STORAGE}.3`,
  enhancedUltrasoundVolume: `${STORAGE}.6.2`,
  photoacoustic: `${STORAGE}.6.3`,
  secondaryCapture: `${STORAGE}.7`,
  multiframeSingleBit: `${STORAGE}.7.1`,
  multiframeGrayscaleByte: `${STORAGE}.7.2`,
  multiframeGrayscaleWord: `${STORAGE}.7.3`,
  multiframeTrueColor: `${STORAGE}.7.4`,
  presentationState: `${STORAGE}.11.1`,
  rawData: `${STORAGE}.66`,
  segmentation: `${STORAGE}.66.4`,
  labelMapSegmentation: `${STORAGE}.66.7`,
  basicTextSr: `${STORAGE}.88.11`,
  enhancedSr: `${STORAGE}.88.22`,
  comprehensiveSr: `${STORAGE}.88.33`,
  comprehensive3dSr: `${STORAGE}.88.34`,
  extensibleSr: `${STORAGE}.88.35`,
  keyObjects: `${STORAGE}.88.59`,
  simplifiedAdultEchoSr: `${STORAGE}.88.72`,
  encapsulatedPdf: `${STORAGE}.104.1`,
} as const;

/**
 * Storage SOP classes that the gateway accepts, including retired classes that carts in the field
 * still send. The list includes every class that the gateway produces, so that a PACS can send back
 * a whole study together with the delivered objects.
 */
export const ACCEPTED_STORAGE: ReadonlyMap<string, string> = new Map([
  [STORAGE_CLASS.ultrasound, 'Ultrasound Image'],
  [STORAGE_CLASS.ultrasoundMultiframe, 'Ultrasound Multi-frame Image'],
  [STORAGE_CLASS.enhancedUltrasoundVolume, 'Enhanced US Volume'],
  [STORAGE_CLASS.ultrasoundRetired, 'Ultrasound Image (retired)'],
  [STORAGE_CLASS.ultrasoundMultiframeRetired, 'Ultrasound Multi-frame Image (retired)'],
  [STORAGE_CLASS.secondaryCapture, 'Secondary Capture Image'],
  [STORAGE_CLASS.multiframeSingleBit, 'Multi-frame Single Bit Secondary Capture Image'],
  [STORAGE_CLASS.multiframeGrayscaleByte, 'Multi-frame Grayscale Byte Secondary Capture Image'],
  [STORAGE_CLASS.multiframeGrayscaleWord, 'Multi-frame Grayscale Word Secondary Capture Image'],
  [STORAGE_CLASS.multiframeTrueColor, 'Multi-frame True Color Secondary Capture Image'],
  [STORAGE_CLASS.basicTextSr, 'Basic Text SR'],
  [STORAGE_CLASS.enhancedSr, 'Enhanced SR'],
  [STORAGE_CLASS.comprehensiveSr, 'Comprehensive SR'],
  [STORAGE_CLASS.comprehensive3dSr, 'Comprehensive 3D SR'],
  [STORAGE_CLASS.simplifiedAdultEchoSr, 'Simplified Adult Echo SR'],
  [STORAGE_CLASS.encapsulatedPdf, 'Encapsulated PDF'],
  [STORAGE_CLASS.keyObjects, 'Key Object Selection Document'],
  [STORAGE_CLASS.presentationState, 'Grayscale Softcopy Presentation State'],
  [STORAGE_CLASS.segmentation, 'Segmentation'],
  [STORAGE_CLASS.labelMapSegmentation, 'Label Map Segmentation'],
]);

/**
 * Classes that the gateway produces but no pipeline reads. They are accepted so that a PACS can
 * send them back.
 */
const STORED_ONLY: ReadonlySet<string> = new Set([
  STORAGE_CLASS.keyObjects,
  STORAGE_CLASS.presentationState,
  STORAGE_CLASS.segmentation,
  STORAGE_CLASS.labelMapSegmentation,
]);

/** Classes of objects that may be fetched from an archive. */
export const RETRIEVED_STORAGE: ReadonlyMap<string, string> = new Map(
  [...ACCEPTED_STORAGE].filter(([uid]) => !STORED_ONLY.has(uid)),
);

export const ACCEPTED_REPORTS: ReadonlySet<string> = new Set([
  STORAGE_CLASS.basicTextSr,
  STORAGE_CLASS.enhancedSr,
  STORAGE_CLASS.comprehensiveSr,
  STORAGE_CLASS.comprehensive3dSr,
  STORAGE_CLASS.simplifiedAdultEchoSr,
]);

export const ULTRASOUND_IMAGES: ReadonlySet<string> = new Set([
  STORAGE_CLASS.ultrasound,
  STORAGE_CLASS.ultrasoundMultiframe,
  STORAGE_CLASS.ultrasoundRetired,
  STORAGE_CLASS.ultrasoundMultiframeRetired,
]);

/** Screenshots stored by other programs, with one or several frames and any bit depth. */
export const SECONDARY_CAPTURES: ReadonlySet<string> = new Set([
  STORAGE_CLASS.secondaryCapture,
  STORAGE_CLASS.multiframeSingleBit,
  STORAGE_CLASS.multiframeGrayscaleByte,
  STORAGE_CLASS.multiframeGrayscaleWord,
  STORAGE_CLASS.multiframeTrueColor,
]);
