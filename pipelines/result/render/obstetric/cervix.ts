import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import { anyOf, type Nothing, type SentenceContext, spanned } from './shared.ts';

/** Categories of the length, shortest first. */
const CATEGORY = {
  'extremely-short': 'extremely short',
  'very-short': 'very short',
  short: 'short',
  normal: 'normal length',
  long: 'long',
} as const;
export type CervixCategory = keyof typeof CATEGORY;
export const CERVIX_CATEGORIES = Object.keys(CATEGORY) as CervixCategory[];

/** Recommendation for a length not measured on a transvaginal image (obstetric 10). */
const NEEDS_TRANSVAGINAL = 'cervical length needs a transvaginal measurement';

export const CERVIX_SENTENCES = {
  'cervix.length': (
    { category }: { category: CervixCategory | null },
    { about: [length], text }: SentenceContext,
  ) => {
    const shown = length ? text.value(length) : '';
    return `Cervical length ${shown}${category ? `, ${CATEGORY[category]}` : ''}.`;
  },
  'cervix.at-cut-off': (
    { between: [low, high] }: { between: readonly CervixCategory[] },
    { about: [length], text }: SentenceContext,
  ) =>
    length && low && high
      ? `${text.value(length)}, at the cut-off: ${anyOf(spanned(CERVIX_CATEGORIES, [low, high]).map((one) => CATEGORY[one]))}; measure by hand.`
      : '',
  'cervix.funnel': ({ shape }: { shape: string }) =>
    `Funnelling of the internal os, shape ${shape}.`,
  'cervix.no-funnel': () => 'No funnelling of the internal os was seen, which does not exclude it.',
  'cervix.no-age': () => 'Gestational age was not given, so the length was not categorised.',
  'cervix.outside-weeks': ({ from, to }: { from: number; to: number }, { text }: SentenceContext) =>
    `The length is categorised between ${text.weeks(from)} and ${text.weeks(to)} weeks only.`,
  'cervix.several-fetuses': ({ cutOff }: { cutOff: number }) =>
    `With several fetuses, only the cut-off of ${cutOff} mm applies; the other categories are those of one fetus, so the length was not categorised.`,
  'cervix.route-of-machine': () =>
    'The length is from the ultrasound machine only, with no route stated: a category needs a transvaginal measurement.',
  'cervix.route-not-named': () =>
    `The images do not state the scanning route; ${NEEDS_TRANSVAGINAL}.`,
  'cervix.length-transabdominal': () =>
    `The length was measured on a transabdominal image; ${NEEDS_TRANSVAGINAL}.`,
  'cervix.transabdominal': () =>
    `The cervix was shown on transabdominal images only; ${NEEDS_TRANSVAGINAL}.`,
  'cervix.machine-differs': (
    { category }: { category: CervixCategory },
    { about: [machine], text }: SentenceContext,
  ) =>
    `By the ultrasound machine value, ${machine ? text.value(machine) : ''}, the length is ${CATEGORY[category]}: measure by hand.`,
  'cervix.machine-implausible': (_: Nothing, { about: [machine], text }: SentenceContext) =>
    `A length from the ultrasound machine is ${text.implausible(machine?.concept.key ?? '')}.`,
  'cervix.fewer-repeats': ({ used, wanted }: { used: number; wanted: number }) =>
    used === 1
      ? `Measured once instead of ${wanted} times.`
      : `The shortest of ${used} instead of ${wanted} measurements.`,
  'cervix.same-clip': () =>
    'Measured on frames of the same clip, which do not count as repeated measurements.',
  'cervix.bladder': () =>
    'The bladder is not empty, which lengthens the cervix and hides funnelling.',
  'cervix.no-model': () => 'No model of the cervix is permitted by the configuration.',
  'cervix.no-view': () => `The cervix was not assessed: ${NEEDS_TRANSVAGINAL}.`,
  'cervix.no-scale': () => 'Cervical length was not measured: no physical scale was available.',
  'cervix.not-clear': () =>
    'Cervical length was not measured: the canal from the external to the internal os is not clearly seen.',
  'cervix.short': ({ cutOff }: { cutOff: number }, { about: [length], text }: SentenceContext) =>
    `Short cervix: ${length ? text.value(length) : ''} (cut-off ${cutOff} mm).`,
  'cervix.advice-short': () =>
    'Consider the local protocol for a short cervix; the risk of preterm birth rises as the length falls.',
} as const satisfies SentenceTable;

export const say = statementsOf<typeof CERVIX_SENTENCES>();

export const CERVIX_REMARKS = {
  'cervix.on-transabdominal-image': () => `on a transabdominal image; ${NEEDS_TRANSVAGINAL}`,
  'cervix.unusually-long': () => 'unusually long: the lower segment may be included',
} as const satisfies SentenceTable;

export const remarkOfCervix = remarksOf<typeof CERVIX_REMARKS>();
