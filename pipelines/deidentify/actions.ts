/**
 * Action for each attribute (PS3.15 Table E.1-1, edition 2024e, Basic Application Level
 * Confidentiality Profile with the options of `methodCodes` in `object.ts`). The rows cover the modules of
 * Ultrasound, Ultrasound Multi-frame, Secondary Capture and structured reports (PS3.3 A.6, A.7,
 * A.8, A.35). They apply to the data set and to all items within it.
 *
 * An unlisted attribute is removed even if the standard allows it: private attributes, overlays,
 * curves, and everything that may contain text and is not needed to read an image or a measurement.
 * Attributes that the standard removes anyway (action X) therefore need no line.
 */

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** K: technical attributes, kept after a check of their values (`attributes.ts`). */
const KEEP = words(`
  ImageType SOPClassUID Modality ConversionType
  Manufacturer ManufacturerModelName SoftwareVersions
  SeriesNumber AcquisitionNumber InstanceNumber ImagesInAcquisition PatientOrientation
  Laterality ImageLaterality BodyPartExamined ContentQualification

  SamplesPerPixel PhotometricInterpretation PlanarConfiguration NumberOfFrames
  FrameIncrementPointer Rows Columns BitsAllocated BitsStored HighBit PixelRepresentation
  UltrasoundColorDataPresent PixelSpacing NominalScannedPixelSpacing PixelAspectRatio
  WindowCenter WindowWidth VOILUTFunction RescaleIntercept RescaleSlope
  LossyImageCompression LossyImageCompressionRatio LossyImageCompressionMethod
  RepresentativeFrameNumber FrameNumbersOfInterest FrameOfInterestType PresentationLUTShape

  FrameTime FrameTimeVector FrameDelay ImageTriggerDelay CineRate EffectiveDuration
  RecommendedDisplayFrameRate PreferredPlaybackSequencing ActualFrameDuration StartTrim StopTrim
  HeartRate RWaveTimeVector TriggerTime NominalInterval BeatRejectionFlag LowRRValue HighRRValue
  StageNumber NumberOfStages ViewNumber NumberOfViewsInStage NumberOfEventTimers
  EventElapsedTimes

  TransducerType TransducerData DepthOfScanField FocusDepth MechanicalIndex BoneThermalIndex
  CranialThermalIndex SoftTissueThermalIndex SoftTissueFocusThermalIndex
  SoftTissueSurfaceThermalIndex

  SequenceOfUltrasoundRegions RegionSpatialFormat RegionDataType RegionFlags
  RegionLocationMinX0 RegionLocationMinY0 RegionLocationMaxX1 RegionLocationMaxY1
  ReferencePixelX0 ReferencePixelY0 PhysicalUnitsXDirection PhysicalUnitsYDirection
  ReferencePixelPhysicalValueX ReferencePixelPhysicalValueY PhysicalDeltaX PhysicalDeltaY
  TransducerFrequency PulseRepetitionFrequency DopplerCorrectionAngle SteeringAngle
  DopplerSampleVolumeXPosition DopplerSampleVolumeYPosition
  TMLinePositionX0 TMLinePositionY0 TMLinePositionX1 TMLinePositionY1
  PixelComponentOrganization PixelComponentMask PixelComponentRangeStart PixelComponentRangeStop
  PixelComponentPhysicalUnits PixelComponentDataType NumberOfTableBreakPoints
  TableOfXBreakPoints TableOfYBreakPoints NumberOfTableEntries TableOfPixelValues
  TableOfParameterValues

  CodingSchemeDesignator CodingSchemeVersion MappingResource ContextIdentifier
  ProcedureCodeSequence SeriesDescriptionCodeSequence PerformedProcedureCodeSequence
  PerformedProtocolCodeSequence StageCodeSequence ViewCodeSequence ViewModifierCodeSequence
  AnatomicRegionSequence AnatomicRegionModifierSequence PrimaryAnatomicStructureSequence
  PrimaryAnatomicStructureModifierSequence DerivationCodeSequence PurposeOfReferenceCodeSequence

  ReferencedImageSequence SourceImageSequence ReferencedSeriesSequence
  ReferencedInstanceSequence ReferencedSOPSequence ReferencedSOPClassUID ReferencedFrameNumber
  SpatialLocationsPreserved CurrentRequestedProcedureEvidenceSequence
  PertinentOtherEvidenceSequence PredecessorDocumentsSequence IdenticalDocumentsSequence

  ValueType RelationshipType ConceptNameCodeSequence ConceptCodeSequence ContinuityOfContent
  MeasuredValueSequence MeasurementUnitsCodeSequence NumericValue FloatingPointValue
  RationalNumeratorValue RationalDenominatorValue NumericValueQualifierCodeSequence
  ContentTemplateSequence TemplateIdentifier CompletionFlag PreliminaryFlag
  GraphicType GraphicData TemporalRangeType ReferencedSamplePositions ReferencedTimeOffsets
`);

/** U: replaced by another UID, which is always the same for the same original. */
const UID = words(`
  SOPInstanceUID StudyInstanceUID SeriesInstanceUID FrameOfReferenceUID
  SynchronizationFrameOfReferenceUID ReferencedSOPInstanceUID ReferencedFrameOfReferenceUID
  MultiFrameSourceSOPInstanceUID IrradiationEventUID ObservationUID UID
`);

/** Z: emptied, because the attribute must be present (type 2). */
const EMPTY = words(`
  AccessionNumber ReferringPhysicianName PatientBirthDate StudyID
  ReferencedPerformedProcedureStepSequence ReferencedRequestSequence
`);

/**
 * Retain Longitudinal Temporal Information with Modified Dates: with this option, the date is
 * shifted. Without it, the date is removed or, if the attribute must be present, emptied (Z) or
 * replaced by a dummy (D).
 */
const DATE = words(`
  InstanceCreationDate InstanceCreationTime SeriesDate SeriesTime AcquisitionDate AcquisitionTime
  AcquisitionDateTime PerformedProcedureStepStartDate PerformedProcedureStepStartTime
  PerformedProcedureStepEndDate PerformedProcedureStepEndTime LastMenstrualDate
  DateOfSecondaryCapture TimeOfSecondaryCapture ObservationDateTime Date Time DateTime
`);
const DATE_OR_EMPTY = words('StudyDate StudyTime');
const DATE_OR_DUMMY = words('ContentDate ContentTime');

/** Retain Patient Characteristics: kept with this option, removed without it. */
const CHARACTERISTIC = words(`
  PatientAge PatientSize PatientWeight PatientBodyMassIndex SmokingStatus PregnancyStatus
`);
/** Retain Patient Characteristics: kept with this option, emptied without it. */
const CHARACTERISTIC_OR_EMPTY = words('PatientSex');

/** Clean Descriptors: only words from a list remain (`descriptors.ts`). */
const DESCRIPTOR = words(`
  StudyDescription SeriesDescription ProtocolName PerformedProcedureStepDescription StageName
  ViewName
`);

export type Action =
  | 'keep'
  | 'uid'
  | 'empty'
  | 'date'
  | 'date-or-empty'
  | 'date-or-dummy'
  | 'characteristic'
  | 'characteristic-or-empty'
  | 'descriptor'
  | 'pseudonym'
  /**
   * Kept if the scheme is published, or if no word in the code is a name that occurs in the object.
   */
  | 'code-value'
  /**
   * The code meaning is kept if the scheme is published. Otherwise it is cleaned like a descriptor.
   */
  | 'code-meaning'
  /** D: replaced by a meaningless dummy text. */
  | 'dummy'
  /** Clean Structured Content (`content-tree.ts`). */
  | 'content';

/** Action for each PS3.6 keyword. Attributes that are not in this table are removed. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map(
  (
    [
      ['keep', KEEP],
      ['uid', UID],
      ['empty', EMPTY],
      ['date', DATE],
      ['date-or-empty', DATE_OR_EMPTY],
      ['date-or-dummy', DATE_OR_DUMMY],
      ['characteristic', CHARACTERISTIC],
      ['characteristic-or-empty', CHARACTERISTIC_OR_EMPTY],
      ['descriptor', DESCRIPTOR],
      ['pseudonym', ['PatientName', 'PatientID']],
      ['code-value', ['CodeValue', 'LongCodeValue']],
      ['code-meaning', ['CodeMeaning']],
      ['dummy', ['DeviceSerialNumber']],
      ['content', ['ContentSequence']],
    ] as const
  ).flatMap(([action, keywords]) => keywords.map((keyword) => [keyword, action])),
);
