/**
 * The attributes that a pipeline may see: what is needed to decode and to calibrate. Everything
 * else in the header is walked over and never becomes a value, so that no name, date or identifier
 * of a person can reach a result, a log or a crash dump.
 */
export const ATTRIBUTES = {
  '00020010': 'TransferSyntaxUID',
  '00080016': 'SOPClassUID',
  '00080018': 'SOPInstanceUID',
  '0020000E': 'SeriesInstanceUID',
  '00181063': 'FrameTime',
  '00181065': 'FrameTimeVector',
  '00280002': 'SamplesPerPixel',
  '00280004': 'PhotometricInterpretation',
  '00280006': 'PlanarConfiguration',
  '00280008': 'NumberOfFrames',
  '00280010': 'Rows',
  '00280011': 'Columns',
  '00280030': 'PixelSpacing',
  '00280A02': 'PixelSpacingCalibrationType',
  '00280100': 'BitsAllocated',
  '00280101': 'BitsStored',
  '00280103': 'PixelRepresentation',
  '00281101': 'RedPaletteColorLookupTableDescriptor',
  '00281102': 'GreenPaletteColorLookupTableDescriptor',
  '00281103': 'BluePaletteColorLookupTableDescriptor',
  '00281201': 'RedPaletteColorLookupTableData',
  '00281202': 'GreenPaletteColorLookupTableData',
  '00281203': 'BluePaletteColorLookupTableData',
  '00281221': 'SegmentedRedPaletteColorLookupTableData',
  '00281222': 'SegmentedGreenPaletteColorLookupTableData',
  '00281223': 'SegmentedBluePaletteColorLookupTableData',
} as const;

/** Attributes of one item of the Sequence of Ultrasound Regions (PS3.3 C.8.5.5). */
export const REGION_ATTRIBUTES = {
  '00186012': 'RegionSpatialFormat',
  '00186014': 'RegionDataType',
  '00186018': 'RegionLocationMinX0',
  '0018601A': 'RegionLocationMinY0',
  '0018601C': 'RegionLocationMaxX1',
  '0018601E': 'RegionLocationMaxY1',
  '00186024': 'PhysicalUnitsXDirection',
  '00186026': 'PhysicalUnitsYDirection',
  '0018602C': 'PhysicalDeltaX',
  '0018602E': 'PhysicalDeltaY',
} as const;

export const REGION_SEQUENCE = '00186011';
export const PIXEL_DATA = '7FE00010';

export type AttributeName = (typeof ATTRIBUTES)[keyof typeof ATTRIBUTES];
export type RegionAttributeName = (typeof REGION_ATTRIBUTES)[keyof typeof REGION_ATTRIBUTES];

/** How the bytes of a kept value are read; implicit VR files do not say it (PS3.6). */
export type ValueKind = 'text' | 'us' | 'ul' | 'fd' | 'bytes';

const UNSIGNED_SHORT: ReadonlySet<string> = new Set([
  'SamplesPerPixel',
  'PlanarConfiguration',
  'Rows',
  'Columns',
  'BitsAllocated',
  'BitsStored',
  'PixelRepresentation',
  'RedPaletteColorLookupTableDescriptor',
  'GreenPaletteColorLookupTableDescriptor',
  'BluePaletteColorLookupTableDescriptor',
  'RegionSpatialFormat',
  'RegionDataType',
  'PhysicalUnitsXDirection',
  'PhysicalUnitsYDirection',
]);

/** The value kind of an attribute, by PS3.6 and PS3.3 C.8.5.5. */
export function valueKind(name: AttributeName | RegionAttributeName): ValueKind {
  if (UNSIGNED_SHORT.has(name)) return 'us';
  if (name.startsWith('RegionLocation')) return 'ul';
  if (name.startsWith('PhysicalDelta')) return 'fd';
  if (name.endsWith('LookupTableData')) return 'bytes';
  return 'text';
}
