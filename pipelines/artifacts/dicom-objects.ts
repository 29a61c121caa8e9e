import type { DicomDestination, Paper } from '../../config/schema.ts';
import type { Subject } from '../dicom/subject.ts';
import type { Result } from '../result/envelope.ts';
import type { GrowthCurve } from './drawing/growth-curve.ts';
import { buildKeyObjects } from './ko/key-objects.ts';
import type { SeriesKind } from './modules.ts';
import { buildEncapsulatedPdf } from './pdf/encapsulated-pdf.ts';
import { rebuildReportPdf } from './pdf/report.ts';
import { buildPresentationStates } from './presentation-state/presentation-state.ts';
import { storedPreviews } from './previews/overlays.ts';
import { buildSecondaryCapture } from './previews/secondary-capture.ts';
import { buildSegmentations } from './seg/segmentation.ts';
import { buildTid1500 } from './sr/tid1500.ts';
import { buildTid5000 } from './sr/tid5000.ts';
import { buildTid5200 } from './sr/tid5200.ts';
import { buildTid5300 } from './sr/tid5300.ts';

export interface ObjectSource {
  result: Result;
  subject: Subject;
  destination: Pick<DicomDestination, 'measurementSopClass' | 'segmentation'>;
  paper?: Paper;
  /** Null if there is no artifact with this name. */
  artifactPath(name: string): Promise<string | null>;
}

/**
 * The alternative encodings of one object as DICOM files, most preferred first. The first one that
 * the peer accepts in the association is sent.
 */
export type ObjectForms = readonly Buffer[];

/** Builds all objects of one kind; returns an empty list if the result has no content for it. */
export type ObjectBuilder = (source: ObjectSource) => ObjectForms[] | Promise<ObjectForms[]>;

/**
 * SOP classes in the order in which they are offered: first the one that IHE AI Results requires,
 * last the oldest. The same content tree is valid in all of them (exchange 2.1).
 */
const MEASUREMENT_CLASSES = ['comprehensive3d', 'comprehensive', 'enhanced'] as const;

function measurements({ result, subject, destination }: ObjectSource): ObjectForms[] {
  const { measurementSopClass: chosen } = destination;
  const classes = chosen === 'auto' ? MEASUREMENT_CLASSES : [chosen];
  return [classes.map((sopClass) => buildTid1500(result, subject, sopClass))];
}

function segmentations({ result, subject, destination }: ObjectSource): ObjectForms[] {
  const binary = buildSegmentations(result, subject, 'binary');
  if (destination.segmentation === 'binary') return binary.map((bytes) => [bytes]);
  const labelmap = buildSegmentations(result, subject, 'labelmap');
  return binary.map((bytes, index) => {
    const preferred = labelmap[index];
    return preferred ? [preferred, bytes] : [bytes];
  });
}

async function secondaryCaptures({ result, subject, artifactPath }: ObjectSource) {
  const captures: ObjectForms[] = [];
  const previews = await storedPreviews(result, artifactPath);
  for (const [index, preview] of previews.entries()) {
    const png = await preview.png();
    if (!png) continue;
    captures.push([await buildSecondaryCapture(result, subject, preview, png, index + 1)]);
  }
  return captures;
}

export const OBJECT_SERIES = {
  'sr-tid1500': 'sr',
  'sr-tid5000': 'sr',
  'sr-echo': 'sr',
  seg: 'seg',
  'key-objects': 'ko',
  pdf: 'doc',
  'secondary-capture': 'sc',
  'presentation-state': 'pr',
} as const satisfies Record<DicomDestination['objects'][number], SeriesKind>;

/**
 * Returns a builder for each kind of object that a destination can request (`objects` in its
 * settings).
 * @param curves the growth charts of the PDF report.
 */
export const dicomObjects = (curves: readonly GrowthCurve[]) =>
  ({
    'sr-tid1500': measurements,
    'sr-tid5000': ({ result, subject }) => [[buildTid5000(result, subject)]],
    // Two encodings of the echo report: the Simplified Adult Echo SR (TID 5300) and, for older
    // receivers, the Comprehensive SR that carts send (TID 5200).
    'sr-echo': ({ result, subject }) => [
      [buildTid5300(result, subject), buildTid5200(result, subject)],
    ],
    seg: segmentations,
    'key-objects': ({ result, subject }) => {
      const selection = buildKeyObjects(result, subject);
      return selection ? [[selection]] : [];
    },
    pdf: async ({ result, subject, artifactPath, paper }) => {
      const pdf = await rebuildReportPdf(result, subject, curves, artifactPath, paper);
      return [[buildEncapsulatedPdf(result, subject, pdf)]];
    },
    'secondary-capture': secondaryCaptures,
    'presentation-state': ({ result, subject }) =>
      buildPresentationStates(result, subject).map((bytes) => [bytes]),
  }) as const satisfies Record<DicomDestination['objects'][number], ObjectBuilder>;
