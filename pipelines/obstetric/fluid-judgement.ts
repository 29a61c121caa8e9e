import type { Measurement } from '../result/envelope.ts';
import {
  AFI_FROM_DAYS,
  deepestPocketCategory,
  type FluidCategory,
  fluidIndexCategory,
} from './charts/amniotic-fluid.ts';
import { MM_PER_CM, QUADRANT_COUNT } from './fluid-pockets.ts';
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
}

/** The categories that the values stand for; by the index only at an age at which it is used. */
export function judgeFluid(
  pocket: Measurement | null,
  index: Measurement | null,
  gaDays: number | undefined,
): Judged[] {
  return [
    ...(pocket
      ? [
          {
            id: FLUID_BY.pocket,
            by: 'deepest-vertical-pocket' as const,
            mm: pocket.value,
            category: deepestPocketCategory(pocket.value / MM_PER_CM),
          },
        ]
      : []),
    ...(index && gaDays !== undefined && gaDays >= AFI_FROM_DAYS
      ? [
          {
            id: FLUID_BY.index,
            by: 'amniotic-fluid-index' as const,
            mm: index.value,
            category: fluidIndexCategory(index.value / MM_PER_CM),
          },
        ]
      : []),
  ];
}

/** Sums of whole pixels differ by less than this from what they would be without rounding, mm. */
const ROUNDING_MM = 1e-6;

/** The index holds the deepest pocket once, and no other is deeper (obstetric reference 0.6). */
export const isConsistent = (pocket: Measurement | null, index: Measurement | null) =>
  !pocket ||
  !index ||
  (pocket.value <= index.value + ROUNDING_MM &&
    index.value <= QUADRANT_COUNT * pocket.value + ROUNDING_MM);

/** What the values say against each other, a sentence each. */
export function contradictions(
  judged: readonly Judged[],
  values: readonly Measurement[],
): (string | null)[] {
  const [one, other] = judged;
  const machine = values.filter(
    ({ id, quality }) => id.startsWith('cart-') && quality === 'accepted',
  );
  return [
    one && other && one.category !== other.category
      ? 'The deepest pocket and the index disagree; the deepest pocket is preferred, which calls fewer healthy pregnancies abnormal (Nabhan 2008).'
      : null,
    ...machine.map((value) => {
      const own = judged.find(({ by }) => by === value.concept.key);
      const categoryOf = CATEGORY_BY[value.concept.key as FluidKey];
      const category = categoryOf(value.value / MM_PER_CM);
      return own && own.category !== category
        ? `By the value of the ultrasound machine, ${format(own.by, value.value)}, it would be ${CATEGORY_TEXT[category]}: measure by hand.`
        : null;
    }),
  ];
}
