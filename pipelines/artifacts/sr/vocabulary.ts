import { dcm, ln, sct } from '../../concepts/coding.ts';
import { specialtyOf } from '../../concepts/specialty.ts';
import type { Result } from '../../result/envelope.ts';
import type { Code } from './content-item.ts';

/**
 * Codes for the structure of a report: titles, headings, observation context and measurement
 * modifiers (PS3.16 TID 300, 1001, 1204, 1500, 4019, 5000; Annex D). Codes of measured quantities
 * are in the concept table (pipelines/concepts/concepts.ts).
 */
export const SR = {
  imagingMeasurementReport: dcm('126000', 'Imaging Measurement Report'),
  obGynReport: dcm('125000', 'OB-GYN Ultrasound Procedure Report'),

  language: dcm('121049', 'Language of Content Item and Descendants'),
  english: { scheme: 'RFC5646', code: 'en', meaning: 'English' },
  procedureReported: dcm('121058', 'Procedure reported'),
  obstetricUltrasound: ln('11525-3', 'Ultrasound Obstetric and Gyn Report'),
  echocardiography: ln('11522-0', 'Echocardiography Report'),

  observerType: dcm('121005', 'Observer Type'),
  device: dcm('121007', 'Device'),
  person: dcm('121006', 'Person'),
  personName: dcm('121008', 'Person Observer Name'),
  personOrganization: dcm('121009', "Person Observer's Organization Name"),
  deviceUid: dcm('121012', 'Device Observer UID'),
  deviceName: dcm('121013', 'Device Observer Name'),
  deviceManufacturer: dcm('121014', 'Device Observer Manufacturer'),
  deviceModel: dcm('121015', 'Device Observer Model Name'),
  deviceSerial: dcm('121016', 'Device Observer Serial Number'),

  subjectClass: dcm('121024', 'Subject Class'),
  fetus: dcm('121026', 'Fetus'),
  subjectId: dcm('121030', 'Subject ID'),

  algorithmName: dcm('111001', 'Algorithm Name'),
  algorithmFamily: dcm('111000', 'Algorithm Family'),
  artificialIntelligence: dcm('123110', 'Artificial Intelligence'),
  algorithmVersion: dcm('111003', 'Algorithm Version'),
  algorithmParameters: dcm('111002', 'Algorithm Parameters'),

  imageLibrary: dcm('111028', 'Image Library'),
  imageLibraryGroup: dcm('126200', 'Image Library Group'),
  modality: dcm('121139', 'Modality'),
  ultrasound: dcm('US', 'Ultrasound'),

  imagingMeasurements: dcm('126010', 'Imaging Measurements'),
  qualitativeEvaluations: {
    scheme: 'UMLS',
    code: 'C0034375',
    meaning: 'Qualitative Evaluations',
  },
  measurementGroup: dcm('125007', 'Measurement Group'),
  trackingIdentifier: dcm('112039', 'Tracking Identifier'),
  trackingUid: dcm('112040', 'Tracking Unique Identifier'),
  finding: dcm('121071', 'Finding'),
  impression: dcm('121073', 'Impression'),
  findingSite: sct('363698007', 'Finding Site'),
  laterality: sct('272741003', 'Laterality'),
  left: sct('7771000', 'Left'),
  right: sct('24028007', 'Right'),
  imageRegion: dcm('111030', 'Image Region'),
  sourceOfMeasurement: dcm('121112', 'Source of Measurement'),
  comment: dcm('121106', 'Comment'),
  /** Concept for whether a value may be used. No standard scheme has a code for this. */
  valueStatus: { scheme: '99USINT', code: 'value-status', meaning: 'Value status' },
  needsReview: {
    scheme: '99USINT',
    code: 'needs-review',
    meaning: 'Proposal, needs review before use',
  },
  probability: dcm('122157', 'Probability'),

  measurementMethod: sct('370129005', 'Measurement Method'),
  derivation: dcm('121401', 'Derivation'),
  measured: sct('258104002', 'Measured'),
  calculated: sct('258090004', 'Calculated'),
  mean: sct('373098007', 'Mean'),
  median: sct('373099004', 'Median'),
  lowerLimit: sct('385524004', 'Normal Range Lower Limit'),
  upperLimit: sct('371933006', 'Normal Range Upper Limit'),
  rangeAuthority: dcm('121408', 'Normal Range Authority'),
  percentile: dcm('121415', 'Percentile Ranking of measurement'),
  zScore: dcm('121416', 'Z-Score of measurement'),
  uncertainty: sct('371884006', '+/-, range of measurement uncertainty'),
  equation: dcm('121420', 'Equation'),
  equationCitation: dcm('121421', 'Equation Citation'),
  tableCitation: dcm('121422', 'Table of Values Citation'),
  measurementFailure: dcm('114006', 'Measurement failure'),
  valueUnknown: dcm('114010', 'Value unknown'),

  summary: dcm('121111', 'Summary'),
  fetusSummary: dcm('125008', 'Fetus Summary'),
  dueDate: ln('11778-8', 'EDD'),
  gestationalAge: ln('18185-9', 'Gestational Age'),
  weightPercentile: ln('11767-1', 'EFW percentile rank'),
  fetalBiometryRatios: dcm('125001', 'Fetal Biometry Ratios'),
  fetalBiometry: dcm('125002', 'Fetal Biometry'),
  fetalCranium: dcm('125004', 'Fetal Cranium'),
  earlyGestation: dcm('125009', 'Early Gestation'),
  pelvisAndUterus: dcm('125011', 'Pelvis and Uterus'),
  amnioticSac: sct('70847004', 'Amniotic Sac'),
  embryonicVessels: sct('51852003', 'Embryonic Vascular Structure'),
  pelvicVessels: sct('281496003', 'Pelvic Vascular Structure'),
  biometryGroup: dcm('125005', 'Biometry Group'),
  growthPercentile: dcm('125012', 'Growth Percentile Rank'),

  adultEchoReport: dcm('125200', 'Adult Echocardiography Procedure Report'),
  patientCharacteristics: dcm('121118', 'Patient Characteristics'),
  findings: dcm('121070', 'Findings'),
  preCoordinatedMeasurements: dcm('125301', 'Pre-coordinated Measurements'),
  postCoordinatedMeasurements: dcm('125302', 'Post-coordinated Measurements'),
  shortLabel: dcm('125309', 'Short Label'),
  selectionStatus: dcm('121404', 'Selection Status'),
  mostRecentChosen: dcm('121411', 'Most recent value chosen'),
  measurementType: dcm('125306', 'Measurement Type'),
  findingObservationType: dcm('125305', 'Finding Observation Type'),
  measuredProperty: dcm('125307', 'Measured Property'),
  measurementDivisor: dcm('125308', 'Measurement Divisor'),
  cardiacCyclePoint: sct('272518008', 'Cardiac Cycle Point'),
  bodySurfaceArea: ln('8277-6', 'Body Surface Area'),

  fetusNumber: dcm('121037', 'Fetus Number'),
  numberOfFetuses: dcm('121038', 'Number of Fetuses'),

  ofInterest: dcm('113000', 'Of Interest'),
  rejectedForQuality: dcm('113001', 'Rejected for Quality Reasons'),
  rejectedForSafety: dcm('113037', 'Rejected for Patient Safety Reasons'),
  incorrectWorklistEntry: dcm('113038', 'Incorrect Modality Worklist Entry'),
  keyObjectDescription: dcm('113012', 'Key Object Description'),
  sourceImage: dcm('121322', 'Source image for image processing operation'),
  processingEquipment: dcm('109102', 'Processing Equipment'),
} as const satisfies Record<string, Code>;

/** Returns the title of a report: the code of the procedure (PS3.16 CID 7000). */
export function reportCode({ endpoint }: Pick<Result, 'endpoint'>): Code {
  return specialtyOf(endpoint) === 'echo' ? SR.echocardiography : SR.obstetricUltrasound;
}
