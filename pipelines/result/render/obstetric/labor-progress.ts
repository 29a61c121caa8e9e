import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import {
  allOf,
  capital,
  inSentence,
  type Nothing,
  type SentenceContext,
  spanned,
} from './shared.ts';

/** Bands of the descent of the head, highest first; a result of an earlier version has the words. */
const DESCENT: readonly string[] = ['high', 'intermediate', 'low or mid', 'deeply engaged'];
const bandText = (band: string) => band.replaceAll('-', ' ');

export const LABOR_SENTENCES = {
  'labor.values': (_: Nothing, { about, text }: SentenceContext) =>
    `${capital(about.map((one) => `${inSentence(one.label)} ${text.value(one)}`).join(', '))}.`,
  'labor.at-cut-off': (
    { between: [low, high] }: { between: readonly string[] },
    { about: [angle], text }: SentenceContext,
  ) =>
    angle && low && high
      ? `${angle.label} ${text.value(angle)}, at the cut-off between ${allOf(spanned(DESCENT, [bandText(low), bandText(high)]).map((one) => `"${one}"`))}; measure by hand.`
      : '',
  'labor.line-misses-skull': () =>
    'Head-symphysis distance was not measured: the infrapubic line does not meet the skull.',
  'labor.no-scale': () =>
    'Head-symphysis distance was not measured: no physical scale was available.',
  'labor.no-direction': () =>
    'Head direction was not assessable: the long axis of the head could not be determined.',
  'labor.limits': () =>
    'Head-perineum distance and midline angle need a transverse image; contractions, caput and occiput position, which shifts the station, are unknown.',
  'labor.no-model': () =>
    'No model for symphysis and fetal head is permitted by the configuration.',
  'labor.no-view': () =>
    'Progress of labor was not assessed: no transperineal mid-sagittal image was found.',
  'labor.not-clear': () =>
    'Angle of progression not assessable: symphysis ends or skull outline are not clearly visible.',
  'labor.side-unknown': () =>
    'Angle of progression not assessable: the symphysis is near the middle of the image, and whether the image is mirrored cannot be determined.',
} as const satisfies SentenceTable;

export const say = statementsOf<typeof LABOR_SENTENCES>();

export const LABOR_REMARKS = {
  'labor.implausible-angle': ({ from, to }: { from: number; to: number }) =>
    `implausible: angle outside ${from}° to ${to}°; not used, measure again`,
  'labor.may-be-mirrored': () =>
    'not used: the value depends on whether the image is mirrored, which is unknown',
} as const satisfies SentenceTable;

export const remarkOfLabor = remarksOf<typeof LABOR_REMARKS>();
