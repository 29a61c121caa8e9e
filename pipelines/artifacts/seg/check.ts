import type { NaturalDataset } from 'dcmjs';

/** Attributes that a dimension may point to, and their functional groups. */
const DIMENSIONS = {
  SegmentIdentificationSequence: 0x0062000a,
  ReferencedSegmentNumber: 0x0062000b,
  FrameContentSequence: 0x00209111,
  TemporalPositionIndex: 0x00209128,
} as const;

/** Segment Algorithm Type (0062,0008), PS3.3 C.8.20.2. */
const ALGORITHM_TYPES: ReadonlySet<unknown> = new Set(['AUTOMATIC', 'SEMIAUTOMATIC', 'MANUAL']);

const items = (value: unknown): NaturalDataset[] => (Array.isArray(value) ? value : []);
const first = (value: unknown): NaturalDataset => items(value)[0] ?? {};

function bytesOf(value: unknown): number | null {
  const fragments = Array.isArray(value) ? value : [value];
  const sizes = fragments.map((part) => (part instanceof ArrayBuffer ? part.byteLength : null));
  return sizes.reduce<number | null>(
    (sum, size) => (sum === null || size === null ? null : sum + size),
    0,
  );
}

/**
 * Returns the expected length of Pixel Data in bytes. Frames are not padded; the whole value is
 * padded to an even length.
 */
function expectedBytes({ Rows, Columns, NumberOfFrames, BitsAllocated }: NaturalDataset): number {
  const bits = Number(Rows) * Number(Columns) * Number(NumberOfFrames) * Number(BitsAllocated);
  const bytes = Math.ceil(bits / 8);
  return bytes + (bytes % 2);
}

function segmentFaults(segments: readonly NaturalDataset[], firstNumber: number): string[] {
  return segments.flatMap((segment, index) => {
    const name = `segment ${String(segment.SegmentNumber)}`;
    const background = segment.SegmentNumber === 0;
    return [
      segment.SegmentNumber === index + firstNumber ? null : `${name}: numbers have a gap`,
      segment.SegmentLabel ? null : `${name} has no label`,
      ALGORITHM_TYPES.has(segment.SegmentAlgorithmType)
        ? null
        : `${name} does not say how it was made`,
      segment.SegmentAlgorithmName || segment.SegmentAlgorithmType === 'MANUAL'
        ? null
        : `${name} names no algorithm`,
      items(segment.SegmentedPropertyTypeCodeSequence).length === 1 ? null : `${name} has no type`,
      background || items(segment.SegmentationAlgorithmIdentificationSequence).length === 1
        ? null
        : `${name} does not identify its algorithm`,
      Boolean(segment.TrackingID) === Boolean(segment.TrackingUID)
        ? null
        : `${name} has a tracking id or UID without the other`,
    ].filter((fault) => fault !== null);
  });
}

function frameFaults(frame: NaturalDataset, index: number, numbers: ReadonlySet<unknown>) {
  const name = `frame ${index + 1}`;
  const identified = items(frame.SegmentIdentificationSequence);
  const source = first(first(frame.DerivationImageSequence).SourceImageSequence);
  return [
    identified.every(({ ReferencedSegmentNumber: number }) => numbers.has(number))
      ? null
      : `${name} refers to a segment that is not described`,
    source.ReferencedSOPInstanceUID ? null : `${name} does not say which image it was drawn on`,
    items(frame.FrameContentSequence).length === 1 ? null : `${name} has no dimension indices`,
  ].filter((fault) => fault !== null);
}

const keywordOf = (pointer: unknown) =>
  Object.entries(DIMENSIONS).find(([, tag]) => tag === pointer)?.[0] ?? '';

/**
 * Checks that the attribute of each dimension is present directly inside its functional group in
 * every frame (PS3.3 C.7.6.17).
 */
function dimensionFaults(dataset: NaturalDataset, frames: readonly NaturalDataset[]): string[] {
  return items(dataset.DimensionIndexSequence).flatMap((index) => {
    const group = keywordOf(index.FunctionalGroupPointer);
    const attribute = keywordOf(index.DimensionIndexPointer);
    const missing = frames.findIndex((frame) => first(frame[group])[attribute] === undefined);
    const label = String(index.DimensionDescriptionLabel);
    return missing < 0 ? [] : [`frame ${missing + 1} lacks the attribute of dimension ${label}`];
  });
}

/**
 * Checks that a Segmentation conforms to exchange 3.1 to 3.3: segments are numbered and have an
 * algorithm and tracking, frames reference their source, and the size of the pixel data agrees with
 * the header.
 * @param dataset the Segmentation by DICOM keyword.
 * @returns the faults found; empty for a conforming object.
 */
export function checkSegmentation(dataset: NaturalDataset): string[] {
  const labelmap = dataset.SegmentationType === 'LABELMAP';
  const segments = items(dataset.SegmentSequence);
  const frames = items(dataset.PerFrameFunctionalGroupsSequence);
  const numbers = new Set(segments.map(({ SegmentNumber }) => SegmentNumber));
  const bytes = bytesOf(dataset.PixelData);
  return [
    ...(segments.length > 0 ? [] : ['there is no segment']),
    ...segmentFaults(segments, labelmap ? 0 : 1),
    ...(frames.length === Number(dataset.NumberOfFrames)
      ? []
      : [`${frames.length} functional groups for ${String(dataset.NumberOfFrames)} frames`]),
    ...frames.flatMap((frame, index) => frameFaults(frame, index, numbers)),
    ...dimensionFaults(dataset, frames),
    ...(Number(dataset.BitsAllocated) === 1 || labelmap ? [] : ['BINARY has one bit a pixel']),
    ...(bytes === null || bytes === expectedBytes(dataset)
      ? []
      : [`pixel data has ${bytes} bytes instead of ${expectedBytes(dataset)}`]),
  ];
}
