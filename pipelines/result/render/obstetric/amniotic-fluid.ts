import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext } from './shared.ts';
import {
  allOf,
  anyOf,
  capital,
  type Nothing,
  SEVERAL_FETUSES,
  type SeveralFetusesSource,
  spanned,
  whose,
} from './shared.ts';

/** Categories of the amount of amniotic fluid (obstetric 4). */
export const FLUID_TEXT = {
  anhydramnios: 'anhydramnios',
  oligohydramnios: 'oligohydramnios',
  normal: 'normal amniotic fluid',
  'polyhydramnios-mild': 'mild polyhydramnios',
  'polyhydramnios-moderate': 'moderate polyhydramnios',
  'polyhydramnios-severe': 'severe polyhydramnios',
} as const;
export type FluidCategory = keyof typeof FLUID_TEXT;

/** Renders all categories from one to another: "oligohydramnios or normal amniotic fluid". */
export const fluidBetween = (low: FluidCategory, high: FluidCategory): string =>
  anyOf(
    spanned(Object.keys(FLUID_TEXT) as FluidCategory[], [low, high]).map((one) => FLUID_TEXT[one]),
  );

/** Renders a cut-off: "below 20 mm", "at most 50 mm", "80 mm or more". */
const RULE = {
  below: (mm: number) => `below ${mm} mm`,
  'at-most': (mm: number) => `at most ${mm} mm`,
  'at-least': (mm: number) => `${mm} mm or more`,
} as const;

const QUADRANT: Readonly<Record<number, string>> = {
  1: 'the right upper quadrant',
  2: 'the right lower quadrant',
  3: 'the left upper quadrant',
  4: 'the left lower quadrant',
};

export const FLUID_SENTENCES = {
  'fluid.amount': (
    { categories }: { categories: readonly FluidCategory[] },
    { about, text }: SentenceContext,
  ) => {
    const values = about.map((one) => `${one.label} ${text.value(one)}${whose(one)}`).join(', ');
    const [first = '', other] = new Set(categories.map((one) => FLUID_TEXT[one]));
    const amount = other ? `${first} by the deepest pocket, ${other} by the index` : first;
    return `${[values, amount].filter(Boolean).join(': ')}.`;
  },
  'fluid.at-cut-off': (
    { between: [low, high] }: { between: readonly FluidCategory[] },
    { about: [value], text }: SentenceContext,
  ) =>
    value && low && high
      ? `${value.label} ${text.value(value)}, at the cut-off: ${fluidBetween(low, high)}; measure by hand.`
      : '',
  'fluid.deeper-pocket-cut': () =>
    'A deeper pocket extends beyond the image, so the amount of fluid was not categorised by the deepest pocket.',
  'fluid.no-pocket': () => 'The deepest vertical pocket was not measured.',
  'fluid.quadrants-not-named': () =>
    'The amniotic fluid index was not assessed: the image names do not distinguish the four quadrants, and a sweep does not show where a quadrant begins.',
  'fluid.quadrants-not-measured': ({ quadrants }: { quadrants: readonly number[] }) =>
    `The amniotic fluid index was not assessed: no complete pocket was found in ${allOf(quadrants.flatMap((one) => QUADRANT[one] ?? []))}.`,
  'fluid.index-too-early': ({ days }: { days: number }, { text }: SentenceContext) =>
    `The amniotic fluid index is not used before ${text.weeks(days)} weeks.`,
  'fluid.no-age': () =>
    'Gestational age was not given, so the amniotic fluid index was not categorised.',
  'fluid.pocket-and-index-differ': () =>
    'The deepest pocket and the index disagree; the deepest pocket is preferred, as it classifies fewer healthy pregnancies as abnormal (Nabhan 2008).',
  'fluid.not-categorised': () => 'The amount of amniotic fluid was not categorised.',
  'fluid.cut-pocket-contradicts': (
    _: Nothing,
    { about: [pocket, deeper], text }: SentenceContext,
  ) =>
    pocket && deeper
      ? `${pocket.label} ${text.value(pocket)} by the ultrasound machine, but a pocket on the images is at least ${text.value(deeper)} deep and extends beyond the image: measure by hand.`
      : '',
  'fluid.index-contradicts': () =>
    'The index and the deepest pocket contradict each other: the index is not between one and four times the pocket; measure again.',
  'fluid.machine-differs': (
    { own, machine }: { own: FluidCategory; machine: FluidCategory },
    { about: [ours, theirs], text }: SentenceContext,
  ) =>
    ours && theirs
      ? `${theirs.label} ${text.value(ours)} as measured here (${FLUID_TEXT[own]}), ${text.value(theirs)} by the ultrasound machine (${FLUID_TEXT[machine]}): measure by hand.`
      : '',
  'fluid.abnormal': (
    {
      category,
      rule,
      cutOff,
    }: { category: FluidCategory; rule: keyof typeof RULE; cutOff: number },
    { about: [value], text }: SentenceContext,
  ) => {
    const by = value?.origin === 'machine' ? 'by the ultrasound machine' : 'on the images supplied';
    return `${capital(FLUID_TEXT[category])}: ${value ? text.value(value) : ''} (cut-off ${RULE[rule](cutOff)}), ${by}.`;
  },
  'fluid.pockets-apart': ({ source }: { source: SeveralFetusesSource }) =>
    `Each pocket is reported separately, without an index or a category: ${SEVERAL_FETUSES[source]}. Twin-twin transfusion, for which the sacs are compared, was not assessed.`,
  'fluid.every-pocket-cut': () =>
    'The deepest pocket was not measured: every pocket extends beyond the image.',
  'fluid.no-model': () => 'No model of the uterus is permitted by the configuration.',
  'fluid.no-view': () => 'Amniotic fluid was not measured: no image of a pocket was found.',
  'fluid.no-scale': () => 'Amniotic fluid was not measured: no physical scale was available.',
  'fluid.no-clear-pocket': ({ mm }: { mm: number }) =>
    `Amniotic fluid was not measured: no clear pocket at least ${mm} mm wide is seen on the images. Anhydramnios is not concluded from images that may miss the deepest pocket.`,
} as const satisfies SentenceTable;

export const say = statementsOf<typeof FLUID_SENTENCES>();

export const FLUID_REMARKS = {
  'fluid.at-least': () => 'at least this deep: the pocket extends beyond the image',
  'fluid.quadrant': ({ number }: { number: number }) => `quadrant ${number}`,
  'fluid.index-without-age': () => 'gestational age was not given, so no chart was used',
} as const satisfies SentenceTable;

export const remarkOfFluid = remarksOf<typeof FLUID_REMARKS>();
