import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measured.ts';
import { type FluidCategory, say } from '../../result/render/obstetric/amniotic-fluid.ts';
import {
  type CategoryWithin,
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { finding } from '../shared/section.ts';
import {
  AFI_FROM_DAYS,
  AFI_HIGH,
  AFI_LOW,
  DVP_HIGH,
  DVP_LOW,
  deepestPocketCategory,
  fluidIndexCategory,
  MM_PER_CM,
} from './guideline.ts';
import { QUADRANT_COUNT } from './measure.ts';

export const FLUID_SECTION = 'amniotic-fluid';

/** Ids of the two classifications of the amount of fluid; the preferred one comes first. */
const FLUID_BY = { pocket: 'fluid-by-deepest-pocket', index: 'fluid-by-index' } as const;

export const FLUID_KEYS = ['deepest-vertical-pocket', 'amniotic-fluid-index'] as const;
export type FluidKey = (typeof FLUID_KEYS)[number];

/** Classification rule for each quantity; cut-offs are in centimetres. */
const RULES = {
  'deepest-vertical-pocket': {
    category: deepestPocketCategory,
    low: DVP_LOW,
    lowRule: 'below',
    isLow: (cm: number) => cm < DVP_LOW,
    high: DVP_HIGH.mild,
    scheme: 'deepest vertical pocket: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
  'amniotic-fluid-index': {
    category: fluidIndexCategory,
    low: AFI_LOW,
    lowRule: 'at-most',
    isLow: (cm: number) => cm <= AFI_LOW,
    high: AFI_HIGH.mild,
    scheme: 'amniotic fluid index: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
} as const;

interface Judged {
  id: string;
  by: FluidKey;
  value: Measurement;
  category: FluidCategory;
}

export interface FluidValues {
  pocket: Measurement | null;
  index: Measurement | null;
  /**
   * A pocket that is deeper than `pocket` but ends at the edge of the picture, so its true depth
   * may be even greater.
   */
  deeper: Measurement | null;
}

/**
 * Returns the values to classify. The pocket is left out if a pocket that ends at the edge of the
 * picture is deeper. The index is included only at ages at which it is used.
 */
function judgedValues(
  { pocket, index, deeper }: FluidValues,
  gaDays: number | undefined,
): (Omit<Judged, 'category'> & CategoryWithin<FluidCategory>)[] {
  const indexUsed = gaDays !== undefined && gaDays >= AFI_FROM_DAYS;
  const judged = (id: string, by: FluidKey, value: Measurement) => {
    const categoryOf = (mm: number) => RULES[by].category(Math.max(0, mm) / MM_PER_CM);
    return { id, by, value, ...categoryWithin(value, categoryOf) };
  };
  return [
    ...(pocket && !deeper ? [judged(FLUID_BY.pocket, 'deepest-vertical-pocket', pocket)] : []),
    ...(index && indexUsed ? [judged(FLUID_BY.index, 'amniotic-fluid-index', index)] : []),
  ];
}

/**
 * Returns a category for each value whose interval contains no cut-off. Other values are left out.
 */
export function judgeFluid(values: FluidValues, gaDays: number | undefined): Judged[] {
  return judgedValues(values, gaDays).flatMap(({ category, ...one }) =>
    category === null ? [] : [{ ...one, category }],
  );
}

/** Reports each value whose interval contains a cut-off, with the categories on both sides. */
export function fluidAtCutOff(values: FluidValues, gaDays: number | undefined): Statement[] {
  return judgedValues(values, gaDays).flatMap(({ value, between }) =>
    between ? [say.gap('fluid.at-cut-off', { between: [...between] }, [value])] : [],
  );
}

/** Upper bound of the rounding errors in sums of pixel lengths, mm. */
const ROUNDING_MM = 1e-6;

/**
 * Returns true if the index and the deepest pocket are consistent (obstetric 0.6). The deepest
 * pocket is one of the four terms of the index, so the index must be at least as large as the
 * pocket and at most four times as large.
 */
function isConsistent({ pocket, index, deeper }: FluidValues): boolean {
  const least = deeper ?? pocket;
  if (!least || !index) return true;
  // If a pocket reaches the edge of the picture, its true depth is unknown and the index has no
  // upper limit.
  const most = deeper ? Number.POSITIVE_INFINITY : QUADRANT_COUNT * least.value;
  return least.value <= index.value + ROUNDING_MM && index.value <= most + ROUNDING_MM;
}

/** Reports that the pocket and the index fall into different categories; null if they agree. */
export function disagreement([one, other]: readonly Judged[]): Statement | null {
  return one && other && one.category !== other.category
    ? say.gap('fluid.pocket-and-index-differ', {})
    : null;
}

function otherCategory(judged: readonly Judged[], value: Measurement): Statement[] {
  const own = judged.find(({ by }) => by === value.concept.key);
  if (!own) return [];
  const category = RULES[own.by].category(value.value / MM_PER_CM);
  return own.category === category
    ? []
    : [
        say.gap('fluid.machine-differs', { own: own.category, machine: category }, [
          own.value,
          value,
        ]),
      ];
}

/**
 * Returns the contradictions between the values; empty if the values agree. While there is a
 * contradiction, no value gets a category.
 */
export function contradictions(
  counting: FluidValues,
  judged: readonly Judged[],
  values: readonly Measurement[],
): Statement[] {
  const { pocket, index, deeper } = counting;
  const beside = values.filter(
    (one) => isOfMachine(one) && one.quality === 'accepted' && one !== pocket && one !== index,
  );
  return [
    ...(deeper && pocket && isOfMachine(pocket)
      ? [say.gap('fluid.cut-pocket-contradicts', {}, [pocket, deeper])]
      : []),
    ...(isConsistent(counting) ? [] : [say.gap('fluid.index-contradicts', {})]),
    ...beside.flatMap((value) => otherCategory(judged, value)),
  ];
}

/** Builds the classification for a category, including the cut-offs. */
export function fluidClassification({ id, by, value, category }: Judged): ClassificationDraft {
  const { low, lowRule, isLow, high, scheme } = RULES[by];
  const shown = { of: by, value: value.value };
  const cm = value.value / MM_PER_CM;
  const rule = lowRule === 'below' ? 'below' : 'at most';
  return {
    id,
    concept: findingConcept('amniotic-fluid-volume'),
    name: 'Amniotic fluid volume',
    value: category,
    scheme,
    criteria: [
      criterion(`oligohydramnios: ${rule} ${low * MM_PER_CM} mm`, shown, isLow(cm)),
      criterion(`polyhydramnios: ${high * MM_PER_CM} mm or more`, shown, cm >= high),
    ],
  };
}

const LITTLE: ReadonlySet<FluidCategory> = new Set(['anhydramnios', 'oligohydramnios']);

/**
 * Returns a finding for each value whose interval contains a cut-off, if the categories at both
 * ends of the interval are abnormal.
 */
export function findingsAtCutOff(values: FluidValues, gaDays: number | undefined): FindingDraft[] {
  return judgedValues(values, gaDays).flatMap(({ id, value, between }) => {
    if (!between || between.includes('normal')) return [];
    const concept = LITTLE.has(between[0]) ? 'oligohydramnios' : 'polyhydramnios';
    const said = say.gap('fluid.at-cut-off', { between: [...between] }, [value]);
    return [finding(id, concept, said, 'abnormal')];
  });
}

/**
 * Returns the finding of too little or too much fluid, with the cut-off; empty for a normal amount.
 */
export function fluidFinding({ id, by, value, category }: Judged): FindingDraft[] {
  if (category === 'normal') return [];
  const low = LITTLE.has(category);
  const { low: lowCm, lowRule, high } = RULES[by];
  const rule = low ? lowRule : 'at-least';
  const cutOff = (low ? lowCm : high) * MM_PER_CM;
  const said = say.conclusion('fluid.abnormal', { category, rule, cutOff }, [value]);
  const severity = category === 'anhydramnios' ? 'critical' : 'abnormal';
  return [finding(id, low ? 'oligohydramnios' : 'polyhydramnios', said, severity)];
}

/**
 * Builds the finding that values contradict each other. One of them may be abnormal, so this must
 * not go unnoticed.
 */
export function contradictionFinding(
  against: readonly Statement[],
  values: readonly Measurement[],
): FindingDraft[] {
  if (against.length === 0) return [];
  const said = [say.gap('fluid.not-categorised', {}), ...against];
  const evidence = values.map(({ id }) => id);
  return [finding('fluid-contradiction', 'repeatability', said, 'abnormal', { evidence })];
}
