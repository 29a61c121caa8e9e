import type { NaturalDataset } from 'dcmjs';
import { contentTime } from '../../dicom/dates.ts';
import { MANUFACTURER } from '../../dicom/implementation.ts';
import { encodePart10 } from '../../dicom/part10.ts';
import { STORAGE_CLASS } from '../../dicom/sop-classes.ts';
import type { SourceInstance, Subject } from '../../dicom/subject.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { isShown, noticeOf } from '../../result/render/statement.ts';
import { shortText } from '../../result/render/value-text.ts';
import { withoutComparisons } from '../../result/standing.ts';
import { bySeries, commonModules, contentLabel, sopReference } from '../modules.ts';
import type { Graphic } from '../sr/content-item.ts';
import { measuredOn } from '../sr/measured-value.ts';
import { instanceOf } from '../sr/references.ts';

interface Drawn {
  measurement: Measurement;
  frame: number;
  graphics: readonly Graphic[];
}

/**
 * Returns the calipers of the values that are shown on an image, in the same coordinates as in the
 * SR.
 */
function drawnOn(source: SourceInstance, result: Result, subject: Subject): Drawn[] {
  return withoutComparisons(result.measurements).flatMap((measurement) => {
    if (!isShown(measurement)) return [];
    if (instanceOf(measurement, subject) !== source) return [];
    const graphics = measuredOn(measurement, subject)?.graphics ?? [];
    const frame = measurement.source.frame ?? 1;
    return graphics.length > 0 ? [{ measurement, frame, graphics }] : [];
  });
}

function graphicObject({ shape, data }: Graphic): NaturalDataset {
  const closed = data[0] === data.at(-2) && data[1] === data.at(-1);
  return {
    GraphicAnnotationUnits: 'PIXEL',
    GraphicDimensions: 2,
    NumberOfGraphicPoints: data.length / 2,
    GraphicData: [...data],
    GraphicType: shape,
    ...((shape === 'ELLIPSE' || closed) && { GraphicFilled: 'N' }),
  };
}

/**
 * Returns the values, each at the first point of its caliper. Values at the same point, such as HC
 * and OFD, are the lines of one text (PS3.3 C.10.5.1.1), because viewers draw separate texts over
 * each other.
 */
function textObjects(on: readonly Drawn[]): NaturalDataset[] {
  const anchorOf = ({ graphics: [first] }: Drawn) => first?.data.slice(0, 2) ?? [];
  const byAnchor = Map.groupBy(on, (one) => anchorOf(one).join());
  return Array.from(byAnchor.values(), (values) => ({
    UnformattedTextValue: values.map(({ measurement }) => shortText(measurement)).join('\r\n'),
    AnchorPointAnnotationUnits: 'PIXEL',
    AnchorPoint: values[0] ? anchorOf(values[0]) : [],
    AnchorPointVisibility: 'N',
  }));
}

/** Builds an image reference, with frame numbers for a multi-frame image (PS3.3 Table 10-3). */
function imageReference(source: SourceInstance, frames: readonly number[]): NaturalDataset {
  return {
    ...sopReference(source),
    ...(source.numberOfFrames > 1 && { ReferencedFrameNumber: frames.map(String) }),
  };
}

function presentationState(
  result: Result,
  subject: Subject,
  { source, drawn, number }: { source: SourceInstance; drawn: readonly Drawn[]; number: number },
): Buffer {
  const time = contentTime(result.generated_at, subject.identity);
  const label = contentLabel(result);
  const byFrame = Map.groupBy(drawn, ({ frame }) => frame);
  const frames = [...byFrame.keys()].sort((a, b) => a - b);
  return encodePart10({
    ...commonModules(result, subject, {
      sopClassUid: STORAGE_CLASS.presentationState,
      series: 'pr',
      role: `presentation-state ${source.sopInstanceUid}`,
      number,
    }),
    Laterality: '',
    ContentLabel: label,
    ContentDescription: noticeOf(result).slice(0, 64),
    PresentationCreationDate: time.date,
    PresentationCreationTime: time.time,
    ContentCreatorName: `${MANUFACTURER}^Gateway`,
    ReferencedSeriesSequence: bySeries([source], 'ReferencedImageSequence', () =>
      imageReference(source, frames),
    ),
    DisplayedAreaSelectionSequence: [
      {
        DisplayedAreaTopLeftHandCorner: [1, 1],
        DisplayedAreaBottomRightHandCorner: [source.columns, source.rows],
        PresentationSizeMode: 'SCALE TO FIT',
        PresentationPixelAspectRatio: ['1', '1'],
      },
    ],
    GraphicLayerSequence: [
      {
        GraphicLayer: label,
        GraphicLayerOrder: '1',
        GraphicLayerDescription: noticeOf(result).slice(0, 64),
      },
    ],
    GraphicAnnotationSequence: Array.from(byFrame, ([frame, on]) => ({
      ReferencedImageSequence: [imageReference(source, [frame])],
      GraphicLayer: label,
      TextObjectSequence: textObjects(on),
      GraphicObjectSequence: on.flatMap(({ graphics }) => graphics.map(graphicObject)),
    })),
    PresentationLUTShape: 'IDENTITY',
  });
}

/**
 * Writes the calipers of each source image as a Grayscale Softcopy Presentation State (PS3.3
 * A.33.1). The image is not changed; a viewer draws the calipers over it.
 * @returns DICOM Part 10 files, one for each image with a caliper of a value that was accepted or
 * needs review.
 */
export function buildPresentationStates(result: Result, subject: Subject): Buffer[] {
  return subject.instances
    .map((source) => ({ source, drawn: drawnOn(source, result, subject) }))
    .filter(({ drawn }) => drawn.length > 0)
    .map((image, index) => presentationState(result, subject, { ...image, number: index + 1 }));
}
