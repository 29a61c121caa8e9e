import { findingConcept } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import {
  AFI_FROM_DAYS,
  AFI_HIGH,
  AFI_LOW,
  DVP_HIGH,
  DVP_LOW,
  deepestPocketCategory,
  type FluidCategory,
  fluidIndexCategory,
  MM_PER_CM,
} from './guideline.ts';
import { QUADRANT_COUNT } from './measure.ts';

export const CATEGORY_TEXT: Readonly<Record<FluidCategory, string>> = {
  anhydramnios: 'anhydramnios',
  oligohydramnios: 'oligohydramnios',
  normal: 'normal amniotic fluid',
  'polyhydramnios-mild': 'mild polyhydramnios',
  'polyhydramnios-moderate': 'moderate polyhydramnios',
  'polyhydramnios-severe': 'severe polyhydramnios',
};

/** Ids of the classifications of fluid, that which is preferred first. */
export const FLUID_BY = { pocket: 'fluid-by-deepest-pocket', index: 'fluid-by-index' } as const;

export const FLUID_KEYS = ['deepest-vertical-pocket', 'amniotic-fluid-index'] as const;
export type FluidKey = (typeof FLUID_KEYS)[number];

/** Each takes centimetres. */
const CATEGORY_BY = {
  'deepest-vertical-pocket': deepestPocketCategory,
  'amniotic-fluid-index': fluidIndexCategory,
} as const;

/** A category and the quantity that it was drawn from. */
export interface Judged {
  id: string;
  by: FluidKey;
  mm: number;
  category: FluidCategory;
  ofMachine: boolean;
}

/** The values that stand for the amount of fluid. */
export interface FluidValues {
  pocket: Measurement | null;
  index: Measurement | null;
  /** Deeper than `pocket`, and only so deep at least, since it runs out of the picture. */
  deeper: Measurement | null;
}

function judgedBy(id: string, by: FluidKey, value: Measurement | null): Judged[] {
  if (!value) return [];
  const category = CATEGORY_BY[by](value.value / MM_PER_CM);
  return [{ id, by, mm: value.value, category, ofMachine: isOfMachine(value) }];
}

/** The categories that the values stand for; by the index only at an age at which it is used. */
export function judgeFluid(
  { pocket, index, deeper }: FluidValues,
  gaDays: number | undefined,
): Judged[] {
  const indexUsed = gaDays !== undefined && gaDays >= AFI_FROM_DAYS;
  return [
    ...judgedBy(FLUID_BY.pocket, 'deepest-vertical-pocket', deeper ? null : pocket),
    ...judgedBy(FLUID_BY.index, 'amniotic-fluid-index', indexUsed ? index : null),
  ];
}

/** Sums of whole pixels differ by less than this from what they would be without rounding, mm. */
const ROUNDING_MM = 1e-6;

/** The index holds the deepest pocket once, and no other is deeper (obstetric 0.6). */
function isConsistent({ pocket, index, deeper }: FluidValues): boolean {
  const least = deeper ?? pocket;
  if (!least || !index) return true;
  // How deep a pocket that runs out of the picture is at most is not known.
  const most = deeper ? Number.POSITIVE_INFINITY : QUADRANT_COUNT * least.value;
  return least.value <= index.value + ROUNDING_MM && index.value <= most + ROUNDING_MM;
}

/** That the pocket and the index are of different categories; null where they are not. */
export function disagreement([one, other]: readonly Judged[]): string | null {
  return one && other && one.category !== other.category
    ? 'The deepest pocket and the index disagree; the deepest pocket is preferred, which calls fewer healthy pregnancies abnormal (Nabhan 2008).'
    : null;
}

/** Of a machine's value beside ours that falls into another category. */
function otherCategory(judged: readonly Judged[], value: Measurement): string[] {
  const own = judged.find(({ by }) => by === value.concept.key);
  if (!own) return [];
  const category = CATEGORY_BY[own.by](value.value / MM_PER_CM);
  return own.category === category
    ? []
    : [
        `${value.label} ${formatValue(own.by, own.mm)} as measured here (${CATEGORY_TEXT[own.category]}), ${formatValue(own.by, value.value)} by the ultrasound machine (${CATEGORY_TEXT[category]}): measure by hand.`,
      ];
}

/** Why the values give no category although there are some, a sentence each; none: they fit. */
export function contradictions(
  standing: FluidValues,
  judged: readonly Judged[],
  values: readonly Measurement[],
): string[] {
  const { pocket, deeper } = standing;
  const key = 'deepest-vertical-pocket';
  const beside = values.filter(
    ({ id, quality }) => id.startsWith('cart-') && quality === 'accepted',
  );
  return [
    ...(deeper && pocket && isOfMachine(pocket)
      ? [
          `${pocket.label} ${formatValue(key, pocket.value)} by the ultrasound machine, but a pocket of the images is at least ${formatValue(key, deeper.value)} deep and runs out of the picture: measure by hand.`,
        ]
      : []),
    ...(isConsistent(standing)
      ? []
      : [
          'The index and the deepest pocket contradict each other: the index lies outside one to four times the pocket; measure again.',
        ]),
    ...beside.flatMap((value) => otherCategory(judged, value)),
  ];
}

export const FLUID_SECTION = 'amniotic-fluid';

const CUT_OFFS = {
  'deepest-vertical-pocket': {
    low: `below ${DVP_LOW * MM_PER_CM} mm`,
    isLow: (cm: number) => cm < DVP_LOW,
    high: DVP_HIGH.mild,
    scheme: 'deepest vertical pocket: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
  'amniotic-fluid-index': {
    low: `at most ${AFI_LOW * MM_PER_CM} mm`,
    isLow: (cm: number) => cm <= AFI_LOW,
    high: AFI_HIGH.mild,
    scheme: 'amniotic fluid index: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
} as const;

/** A category with the cut-offs that it was drawn by. */
export function fluidClassification({
  id,
  by,
  mm,
  category,
}: Judged): Result['classifications'][number] {
  const { low, isLow, high, scheme } = CUT_OFFS[by];
  const value = formatValue(by, mm);
  const cm = mm / MM_PER_CM;
  return {
    id,
    section: FLUID_SECTION,
    concept: findingConcept('amniotic-fluid-volume'),
    name: 'Amniotic fluid volume',
    value: category,
    scheme,
    criteria: [
      { name: `oligohydramnios: ${low}`, value, met: isLow(cm) },
      {
        name: `polyhydramnios: ${high * MM_PER_CM} mm or more`,
        value,
        met: cm >= high,
      },
    ],
  };
}

/** Too little or too much fluid, with the cut-off and whose value it was. */
export function fluidFinding({ id, by, mm, category, ofMachine }: Judged): FindingDraft[] {
  if (category === 'normal') return [];
  const low = category === 'oligohydramnios' || category === 'anhydramnios';
  const { low: cutOff, high } = CUT_OFFS[by];
  const words = CATEGORY_TEXT[category];
  const rule = low ? cutOff : `${high * MM_PER_CM} mm or more`;
  const whose = ofMachine ? 'by the ultrasound machine' : 'on the images supplied';
  return [
    {
      id,
      section: FLUID_SECTION,
      concept: findingConcept(low ? 'oligohydramnios' : 'polyhydramnios'),
      text: `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${formatValue(by, mm)} (cut-off ${rule}), ${whose}.`,
      severity: category === 'anhydramnios' ? 'critical' : 'abnormal',
      confidence: null,
      evidence: [by],
    },
  ];
}

/** Values of the fluid that contradict each other: one of them may be abnormal, so it is told. */
export function contradictionFinding(
  sentences: readonly string[],
  values: readonly Measurement[],
): FindingDraft[] {
  if (sentences.length === 0) return [];
  return [
    {
      id: 'fluid-contradiction',
      section: FLUID_SECTION,
      concept: findingConcept('repeatability'),
      text: `The amount of amniotic fluid was not categorised. ${sentences.join(' ')}`,
      severity: 'abnormal',
      confidence: null,
      evidence: values.map(({ id }) => id),
    },
  ];
}
