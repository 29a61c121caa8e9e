import type { Caliper, Measurement, Result } from '../../result/envelope.ts';
import { withoutComparisons } from '../../result/standing-values.ts';
import type { Code } from '../sr/content-item.ts';
import { siteOf } from '../sr/echo-sites.ts';
import { instanceOf } from '../sr/references.ts';
import { trackingIdentifiers, trackingUid } from '../sr/tracking.ts';
import type { SourceInstance, Subject } from '../subject.ts';
import { filledEllipse } from './filled-ellipse.ts';
import { filledPolygon } from './filled-polygon.ts';
import type { Segment, SegmentedImage } from './mask.ts';

/** CID 7150. "Fetal" is in no code of it (interop reference 3.4), so the label says it. */
const ANATOMICAL_STRUCTURE: Code = {
  scheme: 'SCT',
  code: '123037004',
  meaning: 'Anatomical Structure',
};

/** What the inside of an outline is, where that is not the finding site of its circumference. */
const INSIDE: Readonly<Record<string, { label: string; type: Code }>> = {
  hc: { label: 'Fetal head', type: { scheme: 'SCT', code: '69536005', meaning: 'Head' } },
  ac: { label: 'Fetal abdomen', type: { scheme: 'SCT', code: '113345001', meaning: 'Abdomen' } },
};

/** Calipers that enclose something. */
const FILL: Readonly<Partial<Record<Caliper['type'], typeof filledEllipse>>> = {
  ellipse: filledEllipse,
  polygon: filledPolygon,
};

/** The inside of one outline on its frame. */
export interface OutlinedStructure {
  label: string;
  type: Code;
  /** 1 inside, 0 outside, row by row. */
  pixels: Uint8Array;
}

/**
 * The structure that an accepted measurement outlines, filled; null where it outlines none, or none
 * within a frame of that size.
 */
export function outlinedStructure(
  measurement: Measurement,
  { columns, rows }: Pick<SourceInstance, 'columns' | 'rows'>,
): OutlinedStructure | null {
  if (measurement.quality !== 'accepted') return null;
  const { key } = measurement.concept;
  const site = siteOf(measurement);
  const inside = INSIDE[key] ?? (site && { label: site.meaning, type: site });
  const [outline, ...more] = measurement.source.calipers;
  const fill = outline && FILL[outline.type];
  if (!inside || !fill || more.length > 0) return null;
  const pixels = fill(outline.points, columns, rows);
  if (!pixels.includes(1)) return null;
  const label = measurement.fetus ? `Fetus ${measurement.fetus}: ${inside.label}` : inside.label;
  return { label, type: inside.type, pixels };
}

function segmentOf(
  measurement: Measurement,
  source: SourceInstance,
  identifier: string,
  subject: Subject,
): Segment | null {
  const inside = outlinedStructure(measurement, source);
  if (!inside) return null;
  const { label, type, pixels } = inside;
  return {
    label,
    description: `Outline of ${measurement.label}, filled`,
    category: ANATOMICAL_STRUCTURE,
    type,
    tracking: { identifier, uid: trackingUid(subject, identifier) },
    frames: [{ frame: measurement.source.frame ?? 1, pixels }],
  };
}

/**
 * The accepted outlines of a result as filled masks, by source image in the order of the subject.
 * An outline on no DICOM image, or wholly outside of it, gives none.
 */
export function outlinedStructures(result: Result, subject: Subject): SegmentedImage[] {
  const measurements = withoutComparisons(result.measurements);
  const tracking = trackingIdentifiers(measurements);
  const found = measurements.flatMap((measurement) => {
    const source = instanceOf(measurement, subject);
    if (!source) return [];
    const identifier = tracking.get(measurement.id) ?? measurement.id;
    const segment = segmentOf(measurement, source, identifier, subject);
    return segment ? [{ source, segment }] : [];
  });
  return subject.instances.flatMap((source) => {
    const segments = found.filter((one) => one.source === source).map(({ segment }) => segment);
    return segments.length > 0 ? [{ source, segments }] : [];
  });
}
