import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isRejected } from '../../result/measured.ts';
import { type PlacentaCategory, say } from '../../result/render/obstetric/placenta.ts';
import {
  type CategoryWithin,
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
  type GuidanceDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue, atCutOff } from '../shared/measurement.ts';
import { finding } from '../shared/section.ts';
import type { EdgeReading } from './evidence.ts';
import { coversOs, isNearOs, LOW_EDGE_WEEKS, LOW_LYING_MM, placentaCategory } from './guideline.ts';
import { edgesDisagree } from './measure.ts';

export const PLACENTA_SECTION = 'placenta';

/**
 * Lower edge of the placenta with its category, which is null without a gestational age. If the
 * interval includes a cut-off, the category is null too, and `between` contains the categories on
 * both sides of the cut-off.
 */
type LowerEdge = (CategoryWithin<PlacentaCategory> | { category: null; between: null }) & {
  measurement: Measurement;
  /** True if every image from which the distance comes is labelled as transvaginal. */
  transvaginal: boolean;
  /** Distances on other images, if the images do not all show the same category. */
  others: readonly Measurement[];
};

/**
 * Returns the distance to use, selected from the results of `measureEdges`, with its category; null
 * if there is no such distance.
 */
export function lowerEdge(
  edges: readonly EdgeReading[],
  distances: readonly Measurement[],
  gaDays: number | undefined,
): LowerEdge | null {
  const measurement = acceptedValue(distances, 'placenta-to-os');
  if (!measurement) return null;
  const routeOf = (file: string | null) => edges.find(({ clip }) => clip.file === file)?.route;
  const accepted = distances.filter(
    ({ quality, source }) => quality === 'accepted' && routeOf(source.file) !== 'transabdominal',
  );
  const shown = accepted.filter(
    (one) => one === measurement || measurement.inputs.includes(one.id),
  );
  return {
    transvaginal: shown.every(
      ({ source }) => source.file === null || routeOf(source.file) === 'transvaginal',
    ),
    measurement,
    ...(gaDays === undefined
      ? { category: null, between: null }
      : categoryWithin(measurement, (mm) => placentaCategory(mm, gaDays / 7))),
    others: edgesDisagree(accepted) ? accepted.filter((one) => one !== measurement) : [],
  };
}

/** Returns the classification of the edge with its cut-offs; empty without a category. */
export function edgeClassification({ measurement, category }: LowerEdge): ClassificationDraft[] {
  if (!category) return [];
  const value = { of: 'placenta-to-os', value: measurement.value };
  return [
    {
      id: 'placental-position',
      concept: findingConcept('placental-location'),
      name: 'Lower placental edge',
      value: category,
      scheme: 'Reddy 2014; AIUM 2018; RCOG Green-top Guideline 27a (2018)',
      criteria: [
        criterion('covers or reaches the internal os', value, coversOs(measurement.value)),
        criterion(
          `less than ${LOW_LYING_MM} mm from the internal os`,
          value,
          isNearOs(measurement.value),
        ),
      ],
    },
  ];
}

const isLowCategory = (category: PlacentaCategory | null) =>
  category === 'praevia' || category === 'low-lying';

/** Returns true if the edge certainly covers the os or is too close to it. */
export const isLow = (edge: LowerEdge | null) =>
  edge !== null && (edge.between ?? [edge.category]).every(isLowCategory);

/**
 * Returns the finding for an edge that covers the os or is too close to it, with the distances on
 * other images.
 */
export function edgeFindings(edge: LowerEdge): FindingDraft[] {
  const { measurement, category, transvaginal, others } = edge;
  if (!isLow(edge)) return [];
  const { confidence } = measurement;
  const low = (
    concept: 'low-lying-placenta' | 'placenta-praevia',
    said: Statement,
    severity: FindingDraft['severity'],
  ) => finding('low-placenta', concept, said, severity, { confidence });
  if (!category) {
    // The interval includes only praevia and low-lying, so the edge is too close to the os in
    // either case.
    return atCutOff(measurement, edge).map((doubt) => low('low-lying-placenta', doubt, 'abnormal'));
  }
  const given = { category, disagree: others.length > 0, transvaginal };
  const said = say.conclusion('placenta.low', given, [measurement, ...others]);
  return category === 'praevia'
    ? [low('placenta-praevia', said, 'critical')]
    : [low('low-lying-placenta', said, 'abnormal')];
}

/** Returns which of the follow-up scans are still to come at this age (obstetric 9.2). */
function laterScans(gaDays: number): 'both' | 'second' | 'none' {
  const [first, second] = LOW_EDGE_WEEKS;
  if (gaDays < first * 7) return 'both';
  return gaDays < second * 7 ? 'second' : 'none';
}

/** Returns guidance on the follow-up scans for a low edge. */
export function edgeGuidance(edge: LowerEdge | null, gaDays: number): GuidanceDraft[] {
  if (!isLow(edge)) return [];
  const [first, second] = LOW_EDGE_WEEKS;
  return [
    {
      id: 'low-placenta',
      statement: say.advice('placenta.advice-low', { scans: laterScans(gaDays), first, second }),
      source:
        'Reddy et al. 2014, Obstet Gynecol 123:1070-1082; RCOG Green-top Guidelines 27a and 27b (2018)',
    },
  ];
}

/** Returns the gaps about the edge: missing data, and reasons why its category is uncertain. */
export function edgeGaps(
  edges: readonly EdgeReading[],
  distances: readonly Measurement[],
  edge: LowerEdge | null,
): Statement[] {
  if (edge) {
    const { measurement, category, between, others } = edge;
    return [
      ...(category || between ? [] : [say.gap('placenta.no-age', {})]),
      ...(others.length > 0
        ? [say.gap('placenta.edges-disagree', {}, [measurement, ...others])]
        : []),
      ...atCutOff(measurement, edge),
    ];
  }
  const [abdominal] = distances.filter(
    ({ quality }) => quality === 'low' || quality === 'accepted',
  );
  if (abdominal) return [say.gap('placenta.transabdominal-edge', {}, [abdominal])];
  const inadequate = distances.filter(({ quality }) => quality === 'inadequate');
  if (inadequate.length > 0) {
    return inadequate.every(isRejected)
      ? [say.gap('placenta.edge-rejected', {})]
      : [say.gap('placenta.edge-implausible', {})];
  }
  return edges.some(({ located }) => located?.accepted)
    ? [say.gap('placenta.edge-without-scale', {})]
    : [say.gap('placenta.edge-not-shown', {})];
}
