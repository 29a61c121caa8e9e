import type { Measurement } from '../result/envelope.ts';
import { isOfMachine } from '../result/of-machine.ts';
import {
  AFI_FROM_DAYS,
  deepestPocketCategory,
  type FluidCategory,
  fluidIndexCategory,
  MM_PER_CM,
} from './charts/amniotic-fluid.ts';
import { QUADRANT_COUNT } from './fluid-pockets.ts';
import { format } from './measurement.ts';

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

/** The index holds the deepest pocket once, and no other is deeper (obstetric reference 0.6). */
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
        `${value.label} ${format(own.by, own.mm)} as measured here (${CATEGORY_TEXT[own.category]}), ${format(own.by, value.value)} by the ultrasound machine (${CATEGORY_TEXT[category]}): measure by hand.`,
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
          `${pocket.label} ${format(key, pocket.value)} by the ultrasound machine, but a pocket of the images is at least ${format(key, deeper.value)} deep and runs out of the picture: measure by hand.`,
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
