import { findingConcept } from '../../concepts/concepts.ts';
import { cutOffsOf } from '../../concepts/cut-offs.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import { acceptedValue, formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft, GuidanceDraft } from '../../result/section-outcome.ts';
import type { EdgeReading } from './evidence.ts';
import {
  COVERS_OS_MM,
  LOW_EDGE_WEEKS,
  LOW_LYING_MM,
  type PlacentaCategory,
  placentaCategory,
} from './guideline.ts';
import { edgesDisagree } from './measure.ts';

export const PLACENTA_SECTION = 'placenta';

const CATEGORY_TEXT: Readonly<Record<PlacentaCategory, string>> = {
  praevia: 'placenta praevia',
  'low-lying': 'low-lying placenta',
  normal: 'not low-lying',
  'too-early': 'too early to classify',
};

/** The lower edge of the placenta and where it lies; null: gestational age was not given. */
export interface LowerEdge {
  measurement: Measurement;
  category: PlacentaCategory | null;
  /** Distances of other images where these fall into another category. */
  others: readonly Measurement[];
}

const textOf = ({ value }: Measurement) => formatValue('placenta-to-os', value);

/** The distance that stands among those of `measureEdges`, with its category; null without one. */
export function lowerEdge(
  distances: readonly Measurement[],
  gaDays: number | undefined,
): LowerEdge | null {
  const measurement = acceptedValue(distances, 'placenta-to-os');
  if (!measurement) return null;
  const accepted = distances.filter(({ quality }) => quality === 'accepted');
  return {
    measurement,
    category: gaDays === undefined ? null : placentaCategory(measurement.value, gaDays / 7),
    others: edgesDisagree(accepted) ? accepted.filter((one) => one !== measurement) : [],
  };
}

/** Said where the images fall into different categories; null where they do not. */
function disagreement({ others }: LowerEdge): string | null {
  return others.length > 0
    ? `The images disagree: on ${others.length > 1 ? 'others' : 'another'} it is ${others.map(textOf).join(' and ')} from the internal os. Measure by hand.`
    : null;
}

/** What the summary says of the edge. */
export function edgeSentence(edge: LowerEdge): string {
  const category = edge.category ? `: ${CATEGORY_TEXT[edge.category]}` : '';
  return `Lower edge ${textOf(edge.measurement)} from the internal os${category}.`;
}

/** The category of the edge with its cut-offs; none without a gestational age. */
export function edgeClassification({
  measurement,
  category,
}: LowerEdge): Result['classifications'] {
  if (!category) return [];
  const value = textOf(measurement);
  return [
    {
      id: 'placental-position',
      section: PLACENTA_SECTION,
      concept: findingConcept('placental-location'),
      name: 'Lower placental edge',
      value: category,
      scheme: 'Reddy 2014; AIUM 2018; RCOG Green-top Guideline 27a (2018)',
      criteria: [
        {
          name: 'covers or reaches the internal os',
          value,
          met: measurement.value <= COVERS_OS_MM,
        },
        {
          name: `less than ${LOW_LYING_MM} mm from the internal os`,
          value,
          met: measurement.value < LOW_LYING_MM,
        },
      ],
    },
  ];
}

/** Whether the edge is over the os or too near it. */
export const isLow = (category: PlacentaCategory | null) =>
  category === 'praevia' || category === 'low-lying';

/** An edge that is over the os or too near it, and what other images say. */
export function edgeFindings(edge: LowerEdge): FindingDraft[] {
  const { measurement, category, others } = edge;
  if (!category || !isLow(category)) return [];
  const words = CATEGORY_TEXT[category];
  return [
    {
      id: 'low-placenta',
      section: PLACENTA_SECTION,
      concept: findingConcept(category === 'praevia' ? 'placenta-praevia' : 'low-lying-placenta'),
      text: [
        `${words.charAt(0).toUpperCase()}${words.slice(1)}: lower edge ${textOf(measurement)} from the internal os, transvaginal.`,
        disagreement(edge),
      ]
        .filter(Boolean)
        .join(' '),
      // Over the os is told at once.
      severity: category === 'praevia' ? 'critical' : 'abnormal',
      confidence: measurement.confidence,
      evidence: [measurement, ...others].map(({ id }) => id),
    },
  ];
}

/** Which later scans are still to come at this age (obstetric 9.2). */
function laterScans(gaDays: number): string {
  const [first, second] = LOW_EDGE_WEEKS;
  if (gaDays < first * 7) {
    return `Consider a repeat transvaginal scan at ${first} weeks and, if the edge is still low, at ${second} weeks; after`;
  }
  if (gaDays < second * 7) {
    return `The edge is still low at or after ${first} weeks: consider a repeat transvaginal scan at ${second} weeks; after`;
  }
  return `The edge is still low at or after ${second} weeks: consider the local protocol for birth with a low placenta. After`;
}

/** When an edge that is low is looked at again. */
export function edgeGuidance(category: PlacentaCategory | null, gaDays: number): GuidanceDraft[] {
  if (!isLow(category)) return [];
  return [
    {
      id: 'low-placenta',
      section: PLACENTA_SECTION,
      text: `${laterScans(gaDays)} it has moved away, look for vasa praevia with colour Doppler.`,
      source:
        'Reddy et al. 2014, Obstet Gynecol 123:1070-1082; RCOG Green-top Guidelines 27a and 27b (2018)',
    },
  ];
}

/** What the edge needs and lacks, and what makes its category unsure; a sentence each. */
export function edgeGaps(
  edges: readonly EdgeReading[],
  distances: readonly Measurement[],
  edge: LowerEdge | null,
): string[] {
  if (edge) {
    const { measurement, category } = edge;
    const near =
      category && category !== 'too-early'
        ? acrossCutOff(measurement.value, measurement.uncertainty, cutOffsOf('placenta-to-os'))
        : null;
    const undated = category
      ? null
      : 'Gestational age was not given, so the distance to the internal os was not categorised.';
    return [undated, disagreement(edge), near].filter((text) => text !== null);
  }
  const [abdominal] = distances.filter(({ quality }) => quality === 'low');
  if (abdominal) {
    return [
      `Lower edge ${textOf(abdominal)} from the internal os on a transabdominal image, which gives no category: a transvaginal scan is needed.`,
    ];
  }
  const implausible = distances.some(({ quality }) => quality === 'inadequate');
  if (implausible) {
    return ['The distance to the internal os was not accepted: it is implausible. Measure again.'];
  }
  return [
    edges.some(({ located }) => located?.accepted)
      ? 'The distance to the internal os was not measured: no physical scale was available.'
      : 'Placental edge not shown; the distance to the internal os was not assessed and needs a transvaginal scan.',
  ];
}
