/**
 * Attributes that a pipeline may read: those needed to decode and calibrate images and to order the
 * clips. The rest of the header is skipped and never becomes a value, so that no person's name,
 * date or identifier can reach a result, a log or a crash dump.
 */
export const ATTRIBUTES = {
  '00020010': 'TransferSyntaxUID',
  '00080008': 'ImageType',
  '00080016': 'SOPClassUID',
  '00080018': 'SOPInstanceUID',
  '00082120': 'StageName',
  '00082122': 'StageNumber',
  '00082127': 'ViewName',
  '00082144': 'RecommendedDisplayFrameRate',
  '00180040': 'CineRate',
  '00181063': 'FrameTime',
  '00181065': 'FrameTimeVector',
  '00181088': 'HeartRate',
  '00181164': 'ImagerPixelSpacing',
  '00186060': 'RWaveTimeVector',
  // Used only to count the studies. Only this count leaves the reader.
  '0020000D': 'StudyInstanceUID',
  '0020000E': 'SeriesInstanceUID',
  '00200060': 'Laterality',
  '00200062': 'ImageLaterality',
  '00280002': 'SamplesPerPixel',
  '00280004': 'PhotometricInterpretation',
  '00280006': 'PlanarConfiguration',
  '00280008': 'NumberOfFrames',
  '00280009': 'FrameIncrementPointer',
  '00280010': 'Rows',
  '00280011': 'Columns',
  '00280014': 'UltrasoundColorDataPresent',
  '00280030': 'PixelSpacing',
  '00280100': 'BitsAllocated',
  '00280101': 'BitsStored',
  '00280102': 'HighBit',
  '00280103': 'PixelRepresentation',
  '00280301': 'BurnedInAnnotation',
  '00280A02': 'PixelSpacingCalibrationType',
  '00281101': 'RedPaletteColorLookupTableDescriptor',
  '00281102': 'GreenPaletteColorLookupTableDescriptor',
  '00281103': 'BluePaletteColorLookupTableDescriptor',
  '00281201': 'RedPaletteColorLookupTableData',
  '00281202': 'GreenPaletteColorLookupTableData',
  '00281203': 'BluePaletteColorLookupTableData',
  '00281221': 'SegmentedRedPaletteColorLookupTableData',
  '00281222': 'SegmentedGreenPaletteColorLookupTableData',
  '00281223': 'SegmentedBluePaletteColorLookupTableData',
  '7FE00001': 'ExtendedOffsetTable',
  '7FE00002': 'ExtendedOffsetTableLengths',
} as const;

/** Attributes of an item in the Sequence of Ultrasound Regions (PS3.3 C.8.5.5). */
const REGION_ATTRIBUTES = {
  '00186012': 'RegionSpatialFormat',
  '00186014': 'RegionDataType',
  '00186016': 'RegionFlags',
  '00186018': 'RegionLocationMinX0',
  '0018601A': 'RegionLocationMinY0',
  '0018601C': 'RegionLocationMaxX1',
  '0018601E': 'RegionLocationMaxY1',
  '00186020': 'ReferencePixelX0',
  '00186022': 'ReferencePixelY0',
  '00186024': 'PhysicalUnitsXDirection',
  '00186026': 'PhysicalUnitsYDirection',
  '00186028': 'ReferencePixelPhysicalValueX',
  '0018602A': 'ReferencePixelPhysicalValueY',
  '0018602C': 'PhysicalDeltaX',
  '0018602E': 'PhysicalDeltaY',
  '00186030': 'TransducerFrequency',
  '00186034': 'DopplerCorrectionAngle',
} as const;

/** Attributes of an item in the View Code Sequence (PS3.3 C.8.5.6 and 8.8). */
const CODE_ATTRIBUTES = {
  '00080100': 'CodeValue',
  '00080102': 'CodingSchemeDesignator',
} as const;

export const SEQUENCES = {
  '00082218': { name: 'anatomicRegions', attributes: CODE_ATTRIBUTES },
  '00186011': { name: 'regions', attributes: REGION_ATTRIBUTES },
  '00540220': { name: 'views', attributes: CODE_ATTRIBUTES },
} as const;

export const PIXEL_DATA = 0x7fe00010;

/** Study Date and Study Time. */
export const STUDY_TIME = [0x00080020, 0x00080030] as const;

/**
 * Dates and times of acquisition, most precise first: either a date and a time, or one combined
 * value. They are reduced to numbers that order the clips (acquisition-time.ts); the text is not
 * stored.
 */
export const ACQUISITION_TIMES = [
  [0x0008002a],
  [0x00080022, 0x00080032],
  [0x00080023, 0x00080033],
  [0x00080021, 0x00080031],
  STUDY_TIME,
] as const;

/** Converts a table keyed by tags in hexadecimal to a map keyed by the tags as numbers. */
export function byTag<Value>(table: Readonly<Record<string, Value>>): ReadonlyMap<number, Value> {
  return new Map(Object.entries(table).map(([tag, value]) => [Number.parseInt(tag, 16), value]));
}

export type AttributeName = (typeof ATTRIBUTES)[keyof typeof ATTRIBUTES];
type RegionAttributeName = (typeof REGION_ATTRIBUTES)[keyof typeof REGION_ATTRIBUTES];
export type ItemAttributeName =
  | RegionAttributeName
  | (typeof CODE_ATTRIBUTES)[keyof typeof CODE_ATTRIBUTES];
export type SequenceName = (typeof SEQUENCES)[keyof typeof SEQUENCES]['name'];
