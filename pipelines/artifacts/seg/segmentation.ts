import type { NaturalDataset } from 'dcmjs';
import { MANUFACTURER } from '../../dicom/implementation.ts';
import { encodePart10, evenBytes } from '../../dicom/part10.ts';
import { STORAGE_CLASS } from '../../dicom/sop-classes.ts';
import type { SourceInstance, Subject } from '../../dicom/subject.ts';
import type { Result } from '../../result/envelope.ts';
import { noticeOf } from '../../result/render/statement.ts';
import {
  bySeries,
  commonModules,
  contentDateTime,
  contentLabel,
  lossyHistory,
  sopReference,
  uidOf,
} from '../modules.ts';
import { codeSequence } from '../sr/encode.ts';
import { SR } from '../sr/vocabulary.ts';
import {
  type FrameMask,
  outlinedStructures,
  type Segment,
  type SegmentedImage,
} from './outlined-structures.ts';

/**
 * Packs masks into 1-bit Pixel Data (PS3.5 8.1.1). Each byte is filled from the least significant
 * bit. Frames are not padded, so a frame may begin inside a byte.
 * @param frames one byte per pixel, 0 or 1.
 */
export function packBits(frames: readonly Uint8Array[]): Uint8Array {
  const bits = frames.reduce((sum, { length }) => sum + length, 0);
  const packed = new Uint8Array(Math.ceil(bits / 8));
  let at = 0;
  for (const frame of frames) {
    for (const pixel of frame) {
      if (pixel) packed[at >> 3] = (packed[at >> 3] ?? 0) | (1 << (at & 7));
      at += 1;
    }
  }
  return packed;
}

export const SEGMENTATION_CLASSES = {
  binary: STORAGE_CLASS.segmentation,
  labelmap: STORAGE_CLASS.labelMapSegmentation,
} as const;

/**
 * Form of a Segmentation. `binary`: one bit plane per segment; `labelmap`: each pixel holds the
 * number of its segment.
 */
export type SegmentationForm = keyof typeof SEGMENTATION_CLASSES;

const SEGMENTATION = { scheme: 'DCM', code: '113076', meaning: 'Segmentation' };
const BACKGROUND = { scheme: 'DCM', code: '125040', meaning: 'Background' };

/**
 * Colours that stand out on grey, as 16-bit CIELab values (PS3.3 C.10.7.1.1). Segments use them in
 * turn.
 */
const COLOURS = [
  [48_000, 22_000, 18_000],
  [54_000, 36_000, 54_000],
  [52_000, 18_000, 50_000],
  [46_000, 52_000, 26_000],
];

/** One frame of the Segmentation. `segment` is 1-based; it is null in a labelmap. */
interface SegmentationFrame {
  segment: number | null;
  source: number;
  pixels: Uint8Array;
}

/**
 * Returns one frame for each segment and source frame. They are ordered by segment, then by source
 * frame.
 */
function binaryFrames(segments: readonly Segment[]): SegmentationFrame[] {
  return segments.flatMap(({ frames }, index) =>
    frames.map(({ frame, pixels }) => ({ segment: index + 1, source: frame, pixels })),
  );
}

/** Returns true if two segments share a pixel of a frame. */
function overlapping(segments: readonly Segment[]): boolean {
  const covered = new Map<number, Uint8Array>();
  const covers = ({ frame, pixels }: FrameMask): boolean => {
    const before = covered.get(frame) ?? new Uint8Array(pixels.length);
    covered.set(frame, before);
    return pixels.some((inside, at) => {
      const shared = inside === 1 && before[at] === 1;
      if (inside) before[at] = 1;
      return shared;
    });
  };
  return segments.some(({ frames }) => frames.some(covers));
}

/** Number of segments that the pixels of an 8-bit LABELMAP can distinguish from the background. */
const MOST_LABELS = 255;

/**
 * Returns one frame for each source frame. Null if two segments overlap or there are too many of
 * them, because such masks cannot be written as a LABELMAP.
 */
function labelmapFrames(segments: readonly Segment[]): SegmentationFrame[] | null {
  if (segments.length > MOST_LABELS || overlapping(segments)) return null;
  const labels = new Map<number, Uint8Array>();
  segments.forEach(({ frames }, index) => {
    for (const { frame, pixels } of frames) {
      const labelled = labels.get(frame) ?? new Uint8Array(pixels.length);
      labels.set(frame, labelled);
      pixels.forEach((inside, at) => {
        if (inside) labelled[at] = index + 1;
      });
    }
  });
  return [...labels]
    .toSorted(([a], [b]) => a - b)
    .map(([source, pixels]) => ({ segment: null, source, pixels }));
}

/**
 * Builds the Algorithm Identification Macro (PS3.3 10.16), which identifies the pipeline and its
 * models.
 */
function algorithm(result: Result): NaturalDataset {
  const models = result.models.map(
    ({ id, version, sha256 }) => `${id} ${version} sha256 ${sha256}`,
  );
  return {
    AlgorithmFamilyCodeSequence: codeSequence(SR.artificialIntelligence),
    AlgorithmName: `${MANUFACTURER} ${result.endpoint}`,
    AlgorithmVersion: result.version,
    ...(models.length > 0 && { AlgorithmParameters: models.join('\r\n') }),
    AlgorithmSource: MANUFACTURER,
  };
}

function segmentItem(segment: Segment, index: number, result: Result): NaturalDataset {
  return {
    SegmentNumber: index + 1,
    SegmentLabel: segment.label.slice(0, 64),
    SegmentDescription: segment.description,
    SegmentAlgorithmType: segment.edited ? 'SEMIAUTOMATIC' : 'AUTOMATIC',
    SegmentAlgorithmName: `${MANUFACTURER} ${result.endpoint}`.slice(0, 64),
    SegmentationAlgorithmIdentificationSequence: [algorithm(result)],
    SegmentedPropertyCategoryCodeSequence: codeSequence(segment.category),
    SegmentedPropertyTypeCodeSequence: codeSequence(segment.type),
    TrackingID: segment.tracking.identifier,
    TrackingUID: segment.tracking.uid,
    RecommendedDisplayCIELabValue: COLOURS[index % COLOURS.length],
  };
}

/** Segment 0 of a LABELMAP, the background (PS3.3 C.8.20.2). */
const BACKGROUND_SEGMENT: NaturalDataset = {
  SegmentNumber: 0,
  SegmentLabel: 'Background',
  SegmentAlgorithmType: 'AUTOMATIC',
  SegmentAlgorithmName: MANUFACTURER,
  SegmentedPropertyCategoryCodeSequence: codeSequence(BACKGROUND),
  SegmentedPropertyTypeCodeSequence: codeSequence(BACKGROUND),
};

const TAGS = {
  segmentIdentificationSequence: 0x0062000a,
  referencedSegmentNumber: 0x0062000b,
  frameContentSequence: 0x00209111,
  temporalPositionIndex: 0x00209128,
} as const;

/**
 * Builds the dimensions. Each dimension points to an attribute directly inside its functional
 * group, and every frame has that attribute (PS3.3 C.7.6.17). Referenced Frame Number cannot be
 * used, because it is nested one sequence deeper and is absent for a single-frame source.
 */
function dimensions(form: SegmentationForm, organization: string): NaturalDataset {
  const index = (pointer: number, group: number, label: string) => ({
    DimensionOrganizationUID: organization,
    DimensionIndexPointer: pointer,
    FunctionalGroupPointer: group,
    DimensionDescriptionLabel: label,
  });
  const { referencedSegmentNumber, segmentIdentificationSequence } = TAGS;
  const bySegment = index(referencedSegmentNumber, segmentIdentificationSequence, 'Segment');
  const byFrame = index(TAGS.temporalPositionIndex, TAGS.frameContentSequence, 'Source frame');
  return {
    DimensionOrganizationSequence: [{ DimensionOrganizationUID: organization }],
    DimensionIndexSequence: form === 'binary' ? [bySegment, byFrame] : [byFrame],
  };
}

/**
 * Builds Frame Content, Segment Identification and Derivation Image for one frame (PS3.3 A.51.4).
 */
function functionalGroups(
  frame: SegmentationFrame,
  position: number,
  source: SourceInstance,
): NaturalDataset {
  const reference = {
    ...sopReference(source),
    ...(source.numberOfFrames > 1 && { ReferencedFrameNumber: String(frame.source) }),
    SpatialLocationsPreserved: 'YES',
    PurposeOfReferenceCodeSequence: codeSequence(SR.sourceImage),
  };
  const { segment } = frame;
  return {
    FrameContentSequence: [
      {
        DimensionIndexValues: segment === null ? [position] : [segment, position],
        TemporalPositionIndex: position,
        FrameLabel: `Frame ${frame.source}`,
      },
    ],
    ...(segment !== null && {
      SegmentIdentificationSequence: [{ ReferencedSegmentNumber: segment }],
    }),
    DerivationImageSequence: [
      { DerivationCodeSequence: codeSequence(SEGMENTATION), SourceImageSequence: [reference] },
    ],
  };
}

function pixelModule(
  frames: readonly SegmentationFrame[],
  { rows, columns }: SourceInstance,
  form: SegmentationForm,
): NaturalDataset {
  const bits = form === 'binary' ? 1 : 8;
  const bytes =
    form === 'binary'
      ? packBits(frames.map(({ pixels }) => pixels))
      : Buffer.concat(frames.map(({ pixels }) => pixels));
  return {
    SamplesPerPixel: 1,
    PhotometricInterpretation: 'MONOCHROME2',
    NumberOfFrames: String(frames.length),
    Rows: rows,
    Columns: columns,
    BitsAllocated: bits,
    BitsStored: bits,
    HighBit: bits - 1,
    PixelRepresentation: 0,
    ...(form === 'labelmap' && { PixelPaddingValue: 0 }),
    PixelData: evenBytes(bytes),
    _vrMap: { PixelData: 'OB', PixelPaddingValue: 'US' },
  };
}

/**
 * Writes the masks of one image as a Segmentation (PS3.3 A.51) with the frame size of the image.
 * Ultrasound has no Frame of Reference, so each frame references its source frame in Derivation
 * Image, and no position or spacing is invented. Masks that cannot be written as LABELMAP
 * (`labelmapFrames`) are written as BINARY.
 * @param number the number of this image among the images with masks, from 1.
 * @returns a DICOM Part 10 file; the same arguments give the same bytes.
 * @throws RangeError if a mask does not have the size of the image.
 */
export function buildSegmentation(
  result: Result,
  subject: Subject,
  { source, segments }: SegmentedImage,
  { form: wanted, number }: { form: SegmentationForm; number: number },
): Buffer {
  const size = source.rows * source.columns;
  if (segments.some(({ frames }) => frames.some(({ pixels }) => pixels.length !== size))) {
    throw new RangeError(`a mask does not have ${source.columns} by ${source.rows} pixels`);
  }
  const labelled = wanted === 'labelmap' ? labelmapFrames(segments) : null;
  const form = labelled ? 'labelmap' : 'binary';
  const frames = labelled ?? binaryFrames(segments);
  const positions = [...new Set(frames.map((frame) => frame.source))].sort((a, b) => a - b);
  const role = `seg ${form} ${source.sopInstanceUid}`;
  const items = segments.map((segment, index) => segmentItem(segment, index, result));
  return encodePart10({
    ...commonModules(result, subject, {
      sopClassUid: SEGMENTATION_CLASSES[form],
      series: 'seg',
      role,
      number,
    }),
    ImageType: ['DERIVED', 'PRIMARY'],
    PatientOrientation: '',
    ...contentDateTime(result, subject),
    ContentLabel: contentLabel(result),
    ContentDescription: noticeOf(result).slice(0, 64),
    ContentCreatorName: `${MANUFACTURER}^Gateway`,
    SegmentationType: form === 'binary' ? 'BINARY' : 'LABELMAP',
    ...(form === 'binary' && { SegmentsOverlap: overlapping(segments) ? 'YES' : 'NO' }),
    SegmentSequence: form === 'binary' ? items : [BACKGROUND_SEGMENT, ...items],
    ReferencedSeriesSequence: bySeries([source], 'ReferencedInstanceSequence'),
    ...dimensions(form, uidOf(subject, `${role} dimensions`)),
    SharedFunctionalGroupsSequence: [{}],
    PerFrameFunctionalGroupsSequence: frames.map((frame) =>
      functionalGroups(frame, positions.indexOf(frame.source) + 1, source),
    ),
    ...lossyHistory([source]),
    ...pixelModule(frames, source, form),
  });
}

/**
 * Writes a Segmentation for each source image that has an accepted outline.
 * @returns DICOM Part 10 files in the order of the subject's images; empty if no image has an
 * outline.
 */
export function buildSegmentations(
  result: Result,
  subject: Subject,
  form: SegmentationForm = 'binary',
): Buffer[] {
  return outlinedStructures(result, subject).map((image, index) =>
    buildSegmentation(result, subject, image, { form, number: index + 1 }),
  );
}
