/** Verification SOP Class (PS3.4 A.4). */
export const VERIFICATION = '1.2.840.10008.1.1';

/** Modality Performed Procedure Step (PS3.4 F.7). */
export const PERFORMED_PROCEDURE_STEP = '1.2.840.10008.3.1.2.3.3';

/** Instance Availability Notification (PS3.4 R). */
export const INSTANCE_AVAILABILITY = '1.2.840.10008.5.1.4.33';

/** Storage Commitment Push Model, and its one well-known instance (PS3.4 J). */
export const STORAGE_COMMITMENT = '1.2.840.10008.1.20.1';
export const STORAGE_COMMITMENT_INSTANCE = '1.2.840.10008.1.20.1.1';

/** Query/Retrieve (PS3.4 C.3): which information model holds the level that is asked for. */
export const QUERY_RETRIEVE = {
  patientRootFind: '1.2.840.10008.5.1.4.1.2.1.1',
  studyRootFind: '1.2.840.10008.5.1.4.1.2.2.1',
  studyRootMove: '1.2.840.10008.5.1.4.1.2.2.2',
  studyRootGet: '1.2.840.10008.5.1.4.1.2.2.3',
} as const;

const STORAGE = '1.2.840.10008.5.1.4.1.1';

/** Storage SOP classes of the objects that we make of a result. */
export const RESULT_STORAGE = {
  enhancedSr: `${STORAGE}.88.22`,
  comprehensiveSr: `${STORAGE}.88.33`,
  comprehensive3dSr: `${STORAGE}.88.34`,
  adultEchoSr: `${STORAGE}.88.72`,
  segmentation: `${STORAGE}.66.4`,
  keyObjects: `${STORAGE}.88.59`,
  encapsulatedPdf: `${STORAGE}.104.1`,
  secondaryCapture: `${STORAGE}.7`,
  presentationState: `${STORAGE}.11.1`,
} as const;

/** Storage SOP classes that are taken in (PS3.4 B.5); carts in the field still send retired ones. */
export const ACCEPTED_STORAGE: ReadonlyMap<string, string> = new Map([
  [`${STORAGE}.6.1`, 'Ultrasound Image'],
  [`${STORAGE}.3.1`, 'Ultrasound Multi-frame Image'],
  [`${STORAGE}.6.2`, 'Enhanced US Volume'],
  [`${STORAGE}.6`, 'Ultrasound Image (retired)'],
  [`${STORAGE}.3`, 'Ultrasound Multi-frame Image (retired)'],
  [`${STORAGE}.7`, 'Secondary Capture Image'],
  [`${STORAGE}.7.1`, 'Multi-frame Single Bit Secondary Capture Image'],
  [`${STORAGE}.7.2`, 'Multi-frame Grayscale Byte Secondary Capture Image'],
  [`${STORAGE}.7.3`, 'Multi-frame Grayscale Word Secondary Capture Image'],
  [`${STORAGE}.7.4`, 'Multi-frame True Color Secondary Capture Image'],
  [`${STORAGE}.88.11`, 'Basic Text SR'],
  [`${STORAGE}.88.22`, 'Enhanced SR'],
  [`${STORAGE}.88.33`, 'Comprehensive SR'],
  [`${STORAGE}.88.34`, 'Comprehensive 3D SR'],
  [`${STORAGE}.88.72`, 'Simplified Adult Echo SR'],
  [`${STORAGE}.104.1`, 'Encapsulated PDF'],
]);

/** Those of them that are structured reports. */
export const ACCEPTED_REPORTS: ReadonlySet<string> = new Set(
  [...ACCEPTED_STORAGE.keys()].filter((uid) => uid.startsWith(`${STORAGE}.88.`)),
);

/** The one transfer syntax every DICOM peer knows (PS3.5 10.1). */
export const IMPLICIT_VR_LITTLE_ENDIAN = '1.2.840.10008.1.2';
export const EXPLICIT_VR_LITTLE_ENDIAN = '1.2.840.10008.1.2.1';

export const NATIVE_TRANSFER_SYNTAXES: readonly string[] = [
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
  '1.2.840.10008.1.2.2', // Explicit VR Big Endian (retired)
  '1.2.840.10008.1.2.1.99', // Deflated Explicit VR Little Endian
];

/** Compressed images of which every sample comes back. */
const LOSSLESS_COMPRESSED: readonly string[] = [
  '1.2.840.10008.1.2.5', // RLE Lossless
  '1.2.840.10008.1.2.4.57', // JPEG Lossless, process 14
  '1.2.840.10008.1.2.4.70', // JPEG Lossless, first-order prediction
  '1.2.840.10008.1.2.4.80', // JPEG-LS Lossless
  '1.2.840.10008.1.2.4.90', // JPEG 2000 Lossless Only
  '1.2.840.10008.1.2.4.110', // JPEG XL Lossless
  '1.2.840.10008.1.2.4.201', // High-Throughput JPEG 2000 Lossless Only
  '1.2.840.10008.1.2.4.202', // High-Throughput JPEG 2000 with RPCL, Lossless Only
];

/** Those that lose something, or may. */
export const LOSSY_TRANSFER_SYNTAXES: readonly string[] = [
  '1.2.840.10008.1.2.4.50', // JPEG Baseline
  '1.2.840.10008.1.2.4.51', // JPEG Extended
  '1.2.840.10008.1.2.4.81', // JPEG-LS Near-Lossless
  '1.2.840.10008.1.2.4.91', // JPEG 2000
  '1.2.840.10008.1.2.4.203', // High-Throughput JPEG 2000
  '1.2.840.10008.1.2.4.111', // JPEG XL, JPEG recompression: whole, of a JPEG that is not
  '1.2.840.10008.1.2.4.112', // JPEG XL
  '1.2.840.10008.1.2.4.100', // MPEG-2 Main Profile, Main Level
  '1.2.840.10008.1.2.4.100.1', // the same, fragmentable
  '1.2.840.10008.1.2.4.101', // MPEG-2 Main Profile, High Level
  '1.2.840.10008.1.2.4.101.1',
  '1.2.840.10008.1.2.4.102', // MPEG-4 AVC/H.264 High Profile, Level 4.1
  '1.2.840.10008.1.2.4.102.1',
  '1.2.840.10008.1.2.4.103', // MPEG-4 AVC/H.264 BD-compatible High Profile, Level 4.1
  '1.2.840.10008.1.2.4.103.1',
  '1.2.840.10008.1.2.4.104', // MPEG-4 AVC/H.264 High Profile, Level 4.2, 2D video
  '1.2.840.10008.1.2.4.104.1',
  '1.2.840.10008.1.2.4.105', // MPEG-4 AVC/H.264 High Profile, Level 4.2, 3D video
  '1.2.840.10008.1.2.4.105.1',
  '1.2.840.10008.1.2.4.106', // MPEG-4 AVC/H.264 Stereo High Profile, Level 4.2
  '1.2.840.10008.1.2.4.106.1',
  '1.2.840.10008.1.2.4.107', // HEVC/H.265 Main Profile, Level 5.1
  '1.2.840.10008.1.2.4.108', // HEVC/H.265 Main 10 Profile, Level 5.1
];

export const COMPRESSED_TRANSFER_SYNTAXES: readonly string[] = [
  ...LOSSLESS_COMPRESSED,
  ...LOSSY_TRANSFER_SYNTAXES,
];

export const LOSSLESS_TRANSFER_SYNTAXES: readonly string[] = [
  ...NATIVE_TRANSFER_SYNTAXES,
  ...LOSSLESS_COMPRESSED,
];
