import type { Measurement } from '../../envelope.ts';
import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext, ValueTexts } from './shared.ts';
import { allOf, capital, type Nothing } from './shared.ts';

const CATEGORY = {
  praevia: 'placenta praevia',
  'low-lying': 'low-lying placenta',
  normal: 'not low-lying',
  'too-early': 'too early to classify',
} as const;
export type PlacentaCategory = keyof typeof CATEGORY;

/**
 * Wall of the uterus to which the placenta is attached. On a transabdominal image, anterior is at
 * the top and posterior at the bottom.
 */
const SIDE = {
  anterior: 'anterior',
  posterior: 'posterior',
  'lateral-or-fundal': 'at the side of the image (lateral or fundal)',
} as const;
export type PlacentalSide = keyof typeof SIDE;

/**
 * Beginning of the recommendation, by the follow-up scans that are still to come (obstetric 9.2).
 */
const LATER_SCANS = {
  both: (first: number, second: number) =>
    `Consider a repeat transvaginal scan at ${first} weeks and, if the edge is still low, at ${second} weeks; after`,
  second: (first: number, second: number) =>
    `The edge is still low at or after ${first} weeks: consider a repeat transvaginal scan at ${second} weeks; after`,
  none: (_: number, second: number) =>
    `The edge is still low at or after ${second} weeks: consider the local protocol for birth with a low placenta. After`,
} as const;

/** Renders distances to the internal os. An edge beyond the os has a negative distance. */
export function fromOs(edges: readonly Measurement[], text: ValueTexts): string {
  const of = (some: readonly Measurement[]) => allOf(some.map((one) => text.value(one)));
  const short = edges.filter(({ value }) => value >= 0);
  const beyond = edges.filter(({ value }) => value < 0);
  return [
    ...(short.length > 0 ? [`${of(short)} from the internal os`] : []),
    ...(beyond.length > 0 ? [`overlapping the internal os (${of(beyond)})`] : []),
  ].join(' and ');
}

const disagreement = ({ about: [, ...others], text }: SentenceContext) =>
  `The images disagree: on ${others.length > 1 ? 'other images' : 'another image'} it is ${fromOs(others, text)}. Measure by hand.`;

export const PLACENTA_SENTENCES = {
  'placenta.location': ({ sides }: { sides: readonly PlacentalSide[] }) =>
    `Placenta ${allOf(sides.map((side) => SIDE[side]))}, with the probe on the maternal abdomen.`,
  'placenta.edge': (
    { category }: { category: PlacentaCategory | null },
    { about: [edge], text }: SentenceContext,
  ) =>
    `Lower edge ${edge ? fromOs([edge], text) : ''}${category ? `: ${CATEGORY[category]}` : ''}.`,
  'placenta.no-location': () => 'The location of the placenta was not assessed.',
  /** `several` is absent in results of earlier versions. */
  'placenta.on-opposite-walls': ({ several = false }: { several?: boolean }) =>
    `The images show the placenta on opposite walls, anterior and posterior: an image may be misread, or there is a second ${several ? 'placenta or lobe' : 'lobe'}. Its location was not determined.`,
  'placenta.no-age': () =>
    'Gestational age was not given, so the distance to the internal os was not categorised.',
  /** `about` contains the distance that is used, followed by those on the other images. */
  'placenta.edges-disagree': (_: Nothing, context: SentenceContext) => disagreement(context),
  'placenta.transabdominal-edge': (_: Nothing, { about: [edge], text }: SentenceContext) =>
    `Lower edge ${edge ? fromOs([edge], text) : ''} on a transabdominal image, which is not categorised: a transvaginal scan is needed.`,
  'placenta.edge-implausible': () =>
    'The distance to the internal os was not accepted: it is implausible. Measure again.',
  'placenta.edge-rejected': () =>
    'The distance to the internal os was not used: rejected by the reader.',
  'placenta.edge-without-scale': () =>
    'The distance to the internal os was not measured: no physical scale was available.',
  'placenta.edge-not-shown': () =>
    'Placental edge not shown; the distance to the internal os was not assessed and needs a transvaginal scan.',
  'placenta.low': (
    of: { category: PlacentaCategory; disagree: boolean; transvaginal: boolean },
    context: SentenceContext,
  ) => {
    const { about, text } = context;
    const edge = about[0] ? fromOs([about[0]], text) : '';
    const route = of.transvaginal ? 'transvaginal' : 'on an image not named transvaginal';
    const low = `${capital(CATEGORY[of.category])}: lower edge ${edge}, ${route}.`;
    return of.disagree ? `${low} ${disagreement(context)}` : low;
  },
  'placenta.advice-low': ({
    scans,
    first,
    second,
  }: {
    scans: keyof typeof LATER_SCANS;
    first: number;
    second: number;
  }) =>
    `${LATER_SCANS[scans](first, second)} it has moved away, look for vasa praevia with colour Doppler.`,
  'placenta.accreta-low': () =>
    'Suspected placenta accreta spectrum: refer. Sign seen: abnormal lacunae; the placenta is low.',
  'placenta.lacunae-held': () =>
    'More lacunae than usual were counted in the placenta; what the image shows needs review.',
  'placenta.lacunae': () =>
    'Abnormal lacunae seen. Whether they raise suspicion of placenta accreta spectrum depends on previous uterine surgery and a low placenta, which are not known here.',
  'placenta.no-model': () => 'No model of the placenta is permitted by the configuration.',
  'placenta.no-view': () =>
    'The placenta was not assessed: no image of it was found. Placental edge not shown; the distance to the internal os was not assessed.',
  'placenta.not-clear': () =>
    'The placenta was not assessed: its outline is not clear on the images.',
} as const satisfies SentenceTable;

export const say = statementsOf<typeof PLACENTA_SENTENCES>();

export const PLACENTA_REMARKS = {
  'placenta.not-transvaginal': () => 'not on a transvaginal image: not used for a category',
  'placenta.thickness': () => 'descriptive, no cut-off; an oblique plane overestimates it',
} as const satisfies SentenceTable;

export const remarkOfPlacenta = remarksOf<typeof PLACENTA_REMARKS>();
