import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext } from './shared.ts';
import {
  anyOf,
  type Nothing,
  SEVERAL_FETUSES,
  type SeveralFetusesSource,
  spanned,
  whose,
} from './shared.ts';

const LIMIT = {
  high: (mm: number) => `${mm} mm or more`,
  increased: () => 'at or above the 95th centile',
} as const;

const WINDOW = {
  crl: 'CRL 45 to 84 mm',
  weeks: '11 to 14 weeks',
} as const;
type Window = keyof typeof WINDOW;

const limitOf = (limit: number | null): readonly number[] => (limit === null ? [] : [limit]);

/**
 * Categories on either side of a cut-off. Without a CRL, a value below the category `high` can be
 * normal or increased; its category is then null.
 */
const SIDE = { normal: 'normal', increased: 'increased', high: 'high' } as const;

type Side = keyof typeof SIDE | null;

const sides = ([low = null, high = null]: readonly Side[]): readonly Side[] =>
  spanned<Side>(['normal', 'increased', 'high'], [low, high]);

export const NT_SENTENCES = {
  /** `limit` is the 95th centile for the CRL, mm. */
  'nt.value': ({ limit }: { limit: number | null }, { about: [nt], text }: SentenceContext) =>
    nt ? `Nuchal translucency ${text.value(nt, limitOf(limit))}${whose(nt)}.` : '',
  'nt.category': ({ name, value }: { name: string; value: string }) =>
    `${name}: ${value.replaceAll('-', ' ')}.`,
  'nt.outside-window': ({ window }: { window: Window }) =>
    `NT was not assessed: outside the window in which NT is interpreted (${WINDOW[window]}).`,
  'nt.value-outside-window': (
    { window }: { window: Window },
    { about: [nt], text }: SentenceContext,
  ) =>
    nt
      ? `Nuchal translucency ${text.value(nt)} (ultrasound machine) is not categorised: outside the window in which NT is interpreted (${WINDOW[window]}).`
      : '',
  /** `about` contains a value that was not accepted; its remarks give the reason. */
  'nt.not-judged': (_: Nothing, { about: [nt], text }: SentenceContext) =>
    nt
      ? `Nuchal translucency ${text.value(nt)} was not interpreted: ${text.note(nt)}. Measure again on an adequate plane.`
      : '',
  'nt.no-scale': () => 'NT was not measured: no physical scale was available.',
  'nt.lines-not-seen': () => 'NT was not measured: the nuchal lines were not seen clearly enough.',
  'nt.no-crl': ({ mm }: { mm: number }) =>
    `There is no CRL that counts: it is not measured on the view for NT, which does not show the rump, but taken from the ultrasound machine's report or from an image of the embryo in its sac. Below ${mm} mm, NT is given without a category.`,
  'nt.plane-open': ({ criteria }: { criteria: readonly string[] }) =>
    `Not assessed on the plane: ${criteria.join(', ')}; no Herman score is given.`,
  'nt.plane-not-assessed': () => 'The plane in which NT was measured was not assessed.',
  'nt.no-model': () => 'No model for the mid-sagittal view is permitted by the configuration.',
  'nt.no-view': () => 'NT was not assessed: no first-trimester mid-sagittal view was found.',
  'nt.apart': ({ source }: { source: SeveralFetusesSource }, { about, text }: SentenceContext) =>
    `Nuchal translucency ${about.map((one) => `${one.fetus === null ? '' : `fetus ${one.fetus} `}${text.value(one)}${whose(one)}`).join(', ')}, each reported separately without a category: ${SEVERAL_FETUSES[source]}.`,
  'nt.high-of-several': ({ cutOff }: { cutOff: number }, { about: [nt], text }: SentenceContext) =>
    nt
      ? `Nuchal translucency ${text.value(nt)}, ${LIMIT.high(cutOff)}, ${nt.fetus === null ? 'on an image of one of several fetuses' : `fetus ${nt.fetus}${whose(nt)}`}.`
      : '',
  'nt.increased': (
    of: {
      category: keyof typeof LIMIT;
      cutOff: number;
      limit: number | null;
    },
    { about: [nt], text }: SentenceContext,
  ) =>
    nt
      ? `Nuchal translucency ${text.value(nt, limitOf(of.limit))}, ${LIMIT[of.category](of.cutOff)}.`
      : '',
  'nt.at-cut-off': (
    { between, high }: { between: readonly (keyof typeof SIDE | null)[]; high: number },
    { about: [nt], text }: SentenceContext,
  ) =>
    nt
      ? `Nuchal translucency ${text.value(nt)}, at a cut-off: ${anyOf(sides(between).map((one) => (one === null ? `below ${high} mm` : SIDE[one])))}; measure by hand.`
      : '',
  'nt.differs': (
    { ofCategory, limit }: { ofCategory: boolean; limit: number | null },
    { about: [machine, own], text }: SentenceContext,
  ) => {
    if (!machine || !own) return '';
    const shown = (one: typeof own) => text.value(one, limitOf(limit));
    const values = `Nuchal translucency ${shown(machine)} by the ultrasound machine, ${shown(own)} as measured here`;
    return ofCategory
      ? `${values}: in different categories, so none is given; measure by hand.`
      : `${values}: measure by hand.`;
  },
  'nt.advice-high': ({ mm }: { mm: number }) =>
    `NT of ${LIMIT.high(mm)}: diagnostic testing, detailed anatomy and fetal echocardiography are usually offered.`,
} as const satisfies SentenceTable;

export const say = statementsOf<typeof NT_SENTENCES>();

export const NT_REMARKS = {
  'nt.coarse-scale': ({ mmPerPixel }: { mmPerPixel: number }) =>
    `the image calibration is coarser than ${mmPerPixel} mm per pixel`,
  'nt.criteria-not-met': ({ criteria }: { criteria: readonly string[] }) =>
    `not met: ${criteria.join(', ')}`,
} as const satisfies SentenceTable;

export const remarkOfNt = remarksOf<typeof NT_REMARKS>();
