import type { Caliper, Measurement, Result } from '../../result/envelope.ts';
import { LOCATED_STRUCTURES, type StructureName } from '../../result/located-structure.ts';
import { withoutComparisons } from '../../result/standing-values.ts';
import type { Code } from '../sr/content-item.ts';
import { siteOf } from '../sr/echo-sites.ts';
import { instanceOf } from '../sr/references.ts';
import { trackingIdentifiers, trackingUid } from '../sr/tracking.ts';
import {
  closedOutline,
  type ListedStructure,
  structuresInSections,
} from '../structures-in-sections.ts';
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

const HEAD: Code = { scheme: 'SCT', code: '69536005', meaning: 'Head' };
const ABDOMEN: Code = { scheme: 'SCT', code: '113345001', meaning: 'Abdomen' };
const SYMPHYSIS: Code = { scheme: 'SCT', code: '82561000', meaning: 'Symphysis pubis' };

/** What the inside of an outline is, where that is not the finding site of its circumference. */
const INSIDE: Readonly<Record<string, { label: string; type: Code }>> = {
  hc: { label: LOCATED_STRUCTURES['fetal-head'], type: HEAD },
  ac: { label: LOCATED_STRUCTURES['fetal-abdomen'], type: ABDOMEN },
};

/** Structures that sections list by their outline. */
const LISTED: Readonly<Partial<Record<StructureName, Code>>> = {
  symphysis: SYMPHYSIS,
  'fetal-head': HEAD,
  'fetal-abdomen': ABDOMEN,
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

type Size = Pick<SourceInstance, 'columns' | 'rows'>;

/**
 * The structure that an accepted measurement outlines, filled; null where it outlines none, or none
 * within a frame of that size. Of a heart the label is that of the measurement, which says view and
 * phase: one chamber is outlined several times.
 */
export function outlinedStructure(
  measurement: Measurement,
  { columns, rows }: Size,
): OutlinedStructure | null {
  if (measurement.quality !== 'accepted') return null;
  const { key } = measurement.concept;
  const site = siteOf(measurement);
  const inside = INSIDE[key] ?? (site && { label: measurement.label, type: site });
  const [outline, ...more] = measurement.source.calipers;
  const fill = outline && FILL[outline.type];
  if (!inside || !fill || more.length > 0) return null;
  const pixels = fill(outline.points, columns, rows);
  if (!pixels.includes(1)) return null;
  const label = measurement.fetus ? `Fetus ${measurement.fetus}: ${inside.label}` : inside.label;
  return { label, type: inside.type, pixels };
}

/** The same of a structure that a section lists without a measurement. */
export function listedOutline(
  { structure, accepted, place }: ListedStructure,
  { columns, rows }: Size,
): OutlinedStructure | null {
  const type = LISTED[structure];
  const outline = closedOutline(place);
  if (!accepted || !type || !outline) return null;
  const pixels = filledPolygon(outline, columns, rows);
  return pixels.includes(1) ? { label: LOCATED_STRUCTURES[structure], type, pixels } : null;
}

/** A segment and the image it belongs to. */
interface Placed {
  source: SourceInstance;
  segment: Segment;
}

function placed(
  source: SourceInstance,
  frame: number,
  { label, type, pixels }: OutlinedStructure,
  description: string,
  tracking: Segment['tracking'],
): Placed {
  const where = source.numberOfFrames > 1 ? `, frame ${frame}` : '';
  const segment: Segment = {
    label: `${label}${where}`,
    description,
    category: ANATOMICAL_STRUCTURE,
    type,
    tracking,
    frames: [{ frame, pixels }],
  };
  return { source, segment };
}

function ofMeasurements(result: Result, subject: Subject): Placed[] {
  const measurements = withoutComparisons(result.measurements);
  const tracking = trackingIdentifiers(measurements);
  return measurements.flatMap((measurement) => {
    const source = instanceOf(measurement, subject);
    const inside = source && outlinedStructure(measurement, source);
    if (!inside) return [];
    const identifier = tracking.get(measurement.id) ?? measurement.id;
    const description = `Outline of ${measurement.label}, filled`;
    const uid = trackingUid(subject, identifier);
    const frame = measurement.source.frame ?? 1;
    return [placed(source, frame, inside, description, { identifier, uid })];
  });
}

function ofSections(result: Result, subject: Subject): Placed[] {
  const counts = new Map<string, number>();
  return structuresInSections(result).flatMap((listed) => {
    const source = instanceOf({ source: listed }, subject);
    const inside = source && listedOutline(listed, source);
    if (!inside) return [];
    const { label } = inside;
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    const identifier = `${label} #${count}`;
    const tracking = { identifier, uid: trackingUid(subject, identifier) };
    return [placed(source, listed.frame, inside, `Border of ${label}, filled`, tracking)];
  });
}

/** Segments of one object are told apart by their labels: a second one of a name gets a number. */
function distinct(segments: readonly Segment[]): Segment[] {
  const counts = new Map<string, number>();
  return segments.map((segment) => {
    const count = (counts.get(segment.label) ?? 0) + 1;
    counts.set(segment.label, count);
    return count === 1 ? segment : { ...segment, label: `${segment.label} (${count})` };
  });
}

/**
 * The accepted outlines of a result as filled masks, by source image in the order of the subject:
 * those that were measured, then those that a section lists. An outline on no DICOM image, or wholly
 * outside of it, gives none.
 */
export function outlinedStructures(result: Result, subject: Subject): SegmentedImage[] {
  const found = [...ofMeasurements(result, subject), ...ofSections(result, subject)];
  return subject.instances.flatMap((source) => {
    const segments = found.filter((one) => one.source === source).map(({ segment }) => segment);
    return segments.length > 0 ? [{ source, segments: distinct(segments) }] : [];
  });
}
