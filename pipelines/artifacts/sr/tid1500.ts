import type { Subject } from '../../dicom/subject.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { categoryText } from '../../result/render/categories.ts';
import { conclusionTexts } from '../../result/render/conclusion.ts';
import {
  doubtOf,
  isOurs,
  noMeasurementStatement,
  notAcceptedStatement,
  originStatement,
  ownSections,
  researchNotice,
  sectionStatement,
} from '../../result/render/statement.ts';
import { withoutComparisons } from '../../result/standing.ts';
import { trackingIdentifiers, trackingUid } from '../tracking-uid.ts';
import { type ContentItem, code, container, root, scoord, text, uidref } from './content-item.ts';
import { siteOf, wholeOf } from './echo-sites.ts';
import { encode } from './encode.ts';
import {
  algorithmItems,
  fetusesNamed,
  fetusItems,
  languageItem,
  observerItems,
  type SrClass,
  srHeader,
} from './header.ts';
import {
  confidenceItem,
  inputItem,
  type MeasuredOn,
  measuredOn,
  measurementItem,
  sourceItems,
} from './measured-value.ts';
import { libraryImages } from './references.ts';
import { reportCode, SR } from './vocabulary.ts';

/**
 * Returns the image library (TID 1600) with every image that was read, even those without a
 * finding.
 */
function imageLibrary(subject: Subject): ContentItem[] {
  const images = libraryImages(subject);
  if (images.length === 0) return [];
  const modality = code('HAS ACQ CONTEXT', SR.modality, SR.ultrasound);
  const group = container(SR.imageLibraryGroup, [modality, ...images]);
  return [container(SR.imageLibrary, [group], '1600')];
}

/**
 * Returns the finding and the finding site of a measurement. IHE AI Results requires a finding code
 * in every group (exchange 2.9), even for a value such as a ratio or an age, which does not belong
 * to a single structure.
 */
function findingItems(measurement: Measurement): ContentItem[] {
  const site = siteOf(measurement);
  if (!site) return [code('CONTAINS', SR.finding, wholeOf(measurement))];
  const { laterality } = measurement;
  const side = laterality && code('HAS CONCEPT MOD', SR.laterality, SR[laterality]);
  return [
    code('CONTAINS', SR.finding, site),
    code('HAS CONCEPT MOD', SR.findingSite, site, side ? [side] : []),
  ];
}

/**
 * Returns true if a measurement is a region. An outline becomes an Image Region (TID 1410); any
 * other caliper becomes a child of its NUM item (TID 1501).
 */
function isRegion(measurement: Measurement, on: MeasuredOn | null): on is MeasuredOn {
  const [caliper, ...more] = measurement.source.calipers;
  const closed = caliper?.type === 'ellipse' || caliper?.type === 'polygon';
  return closed && more.length === 0 && on?.graphics.length === 1;
}

function measurementGroup(
  measurement: Measurement,
  tracking: string,
  result: Result,
  subject: Subject,
): ContentItem {
  const on = measuredOn(measurement, subject);
  const region = isRegion(measurement, on);
  const inputs = result.measurements.filter(
    ({ id, quality }) => measurement.inputs.includes(id) && quality === 'accepted',
  );
  const sources = [...inputs.map(inputItem), ...(on && !region ? sourceItems(on) : [])];
  const remarks = [
    originStatement(measurement),
    // `notAcceptedStatement` already contains the doubt, so a note that only repeats it is left
    // out.
    measurement.note === doubtOf(measurement) ? null : measurement.note,
    measurement.quality === 'accepted' ? null : notAcceptedStatement(measurement),
  ].filter((remark) => remark !== null);
  const items = [
    text('HAS OBS CONTEXT', SR.trackingIdentifier, tracking),
    uidref('HAS OBS CONTEXT', SR.trackingUid, trackingUid(subject, tracking)),
    ...(measurement.fetus ? fetusItems(measurement.fetus, fetusesNamed(result.measurements)) : []),
    ...findingItems(measurement),
    ...(isOurs(measurement) ? algorithmItems(result) : []),
    ...(region
      ? on.graphics.map((graphic) => scoord('CONTAINS', SR.imageRegion, graphic, on.image))
      : []),
    measurementItem(measurement, { sources, proposals: true }),
    ...(measurement.confidence === null ? [] : [confidenceItem(measurement.confidence)]),
    ...(measurement.quality === 'review' ? [code('CONTAINS', SR.valueStatus, SR.needsReview)] : []),
    ...remarks.map((remark) => text('CONTAINS', SR.comment, remark)),
  ];
  return container(SR.measurementGroup, items, region ? '1410' : '1501');
}

/**
 * Builds the qualitative evaluations: the impression, notices, categories, findings, advice and,
 * for each section, its outcome or why it was not assessed.
 */
function qualitativeEvaluations(result: Result): ContentItem {
  const statements = [
    researchNotice(result),
    noMeasurementStatement(result),
    ...result.classifications.map(
      ({ name, concept, value }) => `${name}: ${categoryText(concept?.key ?? null, value)}`,
    ),
    ...result.findings.map((finding) => finding.text),
    ...result.guidance.map(({ text: advice, source }) => `${advice} (${source})`),
    ...ownSections(result).map(
      (section) => `${section.title}: ${sectionStatement(section, result)}`,
    ),
  ].filter((statement) => statement !== null);
  return container(SR.qualitativeEvaluations, [
    ...conclusionTexts(result).map((line) => text('CONTAINS', SR.impression, line)),
    ...statements.map((statement) => text('CONTAINS', SR.finding, statement)),
  ]);
}

/** Builds the content tree of TID 1500 (PS3.16; exchange 2.8). */
function tid1500Tree(result: Result, subject: Subject): ContentItem {
  const measurements = withoutComparisons(result.measurements);
  const tracking = trackingIdentifiers(measurements);
  const groups = measurements.map((measurement) =>
    measurementGroup(measurement, tracking.get(measurement.id) ?? measurement.id, result, subject),
  );
  return root(SR.imagingMeasurementReport, '1500', [
    languageItem(),
    ...observerItems(result),
    code('HAS CONCEPT MOD', SR.procedureReported, reportCode(result)),
    ...imageLibrary(subject),
    ...(groups.length > 0 ? [container(SR.imagingMeasurements, groups)] : []),
    qualitativeEvaluations(result),
  ]);
}

/**
 * Writes the measurements with their evidence as TID 1500. IHE AI Results uses Comprehensive 3D SR;
 * other classes are for peers that do not accept it.
 * @returns a DICOM Part 10 file; the same result, subject and class give the same bytes.
 */
export function buildTid1500(
  result: Result,
  subject: Subject,
  sopClass: Exclude<SrClass, 'simplifiedAdultEcho'> = 'comprehensive3d',
): Buffer {
  const tree = tid1500Tree(result, subject);
  return encode(srHeader(result, subject, { sopClass, role: 'sr-tid1500', number: 1, tree }), tree);
}
